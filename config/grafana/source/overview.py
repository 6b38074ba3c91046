# SPDX-License-Identifier: Apache-2.0
"""Which units wait, for what, and on which hosts."""

import variables as v
from panels import graph, logarithmic, row, stat, table, timeseries
from queries import (BLOCKED, FOR, HOST, IDLE, LOST, REASON, RUNQUEUE, SUBJECT, WAIT, highest, pairs,
                     quantile, rate, select, threads, total, waited_on)

UID = "offcpud-overview"
# Containers belong to no unit: whichever of the two there is names a line.
SUBJECT_OF, NAME = "instance, unit, container_id", "{{instance}} {{unit}}{{container_id}}"
BY_UNIT = {"links": [v.point_link("unit")]}
STALLED = total("", select("offcpud_stalls_in_progress", SUBJECT, FOR))
NOT_THROTTLED = 'cause!="throttled"'


def dashboard():
    chosen = [v.datasource(), v.job(), v.instance(), v.slices(), v.unit(), v.purpose(), v.reason(),
              v.quantile(), v.over(), v.like(), v.scheme()]
    return v.dashboard(
        UID, "offcpud / Overview",
        "What threads wait for, by unit, and their waits for a CPU. Waits for work or a timer are one "
        "number until the variable Waits for says otherwise; reasons are detail.", chosen,
        [*now(), *waits(), *on_whom(), *queued(), *disks(), *stalls(), *top(), *fleet(), *blocked()])


def now():
    lost = total("", "increase(" + select("offcpud_lost_events_total", HOST, LOST) + "[$__range])")
    oldest = f"max({select('offcpud_oldest_stall_seconds', SUBJECT, FOR)})"
    return [
        row("Now"),
        stat("Hosts", "Daemons that answer the last scrape.", "short",
             f"count({select('offcpud_build_info', HOST)})"),
        stat("Threads that wait", "How many threads wait on average for a lock, an answer, storage or "
             "memory, or for what Waits for selects: seconds of waits that ended, a second.", "short",
             threads("", WAIT, SUBJECT, FOR)),
        stat("Threads waiting for a CPU", "How many runnable threads wait on average.", "short",
             threads("", RUNQUEUE, SUBJECT)),
        stat("Stalls", "Threads that are stuck: their stacks say for certain what they wait for.",
             "short", STALLED, limits=[(1, "orange")]),
        stat("Longest stall", "Its age.", "s", oldest, limits=[(60, "orange")]),
        stat("Threads that idle", "They wait for work, or for a timer.", "short",
             threads("", WAIT, SUBJECT, IDLE)),
        stat("Events lost", "What could not be recorded within the time shown, by all hosts; the "
             "dashboard of the daemon says why.", "short", lost, limits=[(1, "orange")]),
    ]


def waits():
    return [
        row("What threads wait for"),
        timeseries("Threads that wait, by unit and what for",
                   "How many threads of a unit wait on average; the 15 highest.", "short",
                   [(highest(15, threads(f"{SUBJECT_OF}, for", WAIT, SUBJECT, FOR)), NAME + " {{for}}")],
                   **BY_UNIT),
        timeseries("Threads that wait, by what for", "Over all chosen units.", "short",
                   [(threads("for", WAIT, SUBJECT, FOR), "{{for}}")], stacked=True),
        logarithmic("Waits, quantile $quantile, by unit and what for",
                    "The 15 highest. Of waits that ended; those in progress are under Stalls.", "s",
                    [(highest(15, quantile("$quantile", f"{SUBJECT_OF}, for", WAIT, SUBJECT, FOR)),
                      NAME + " {{for}}")], **BY_UNIT),
        logarithmic("Waits by what for, quantile $quantile", "Over all chosen units.", "s",
                    [(quantile("$quantile", "for", WAIT, SUBJECT, FOR), "{{for}}")]),
    ]


def on_whom():
    somebody = (SUBJECT, FOR, 'on!="(nobody)"')
    return [
        row("Who waits for whom"),
        graph("Who waits for whom",
              "An arrow goes from a unit to the unit, remote address or device that its threads wait on; "
              "numbers are threads that wait on average. The 40 heaviest pairs, at the end of the time "
              "shown.", f"{highest(40, pairs(waited_on(*somebody)))} > 0", width=12),
        timeseries("Threads that wait, by unit and on whom or what", "The 15 heaviest pairs.", "short",
                   [(highest(15, total(f"{SUBJECT_OF}, for, on", waited_on(*somebody))),
                     NAME + " {{for}} on {{on}}")], **BY_UNIT),
    ]


def blocked():
    return [
        row("By reason: by which door threads left the CPU"),
        logarithmic("Blocked time, quantile $quantile, by unit and reason",
                    "The 15 highest. Of blocks that ended; those in progress are below.", "s",
                    [(highest(15, quantile("$quantile", f"{SUBJECT_OF}, reason", BLOCKED, SUBJECT,
                                           REASON)), NAME + " {{reason}}")], **BY_UNIT),
        timeseries("Threads blocked, by unit",
                   "How many threads of a unit wait on average; the 15 highest.", "short",
                   [(highest(15, threads(SUBJECT_OF, BLOCKED, SUBJECT, REASON)), NAME)], **BY_UNIT),
        logarithmic("Blocked time by reason, quantile $quantile", "Over all chosen units.", "s",
                    [(quantile("$quantile", "reason", BLOCKED, SUBJECT, REASON), "{{reason}}")]),
        timeseries("Threads blocked, by reason", "How many threads wait on average.", "short",
                   [(threads("reason", BLOCKED, SUBJECT, REASON), "{{reason}}")], stacked=True),
    ]


def queued():
    others = total(f"{SUBJECT_OF}, by_cgroup",
                   rate("offcpud_kept_off_seconds_total", SUBJECT,
                        'by_cgroup!~"[(](idle|throttled|unknown|removed)[)]"'))
    return [
        row("Run queue"),
        logarithmic("Run-queue wait, quantile $quantile, by unit",
                    "From wakeup or preemption to running, without throttling; the 15 highest.", "s",
                    [(highest(15, quantile("$quantile", SUBJECT_OF, RUNQUEUE, SUBJECT,
                                           NOT_THROTTLED)), NAME)], **BY_UNIT),
        timeseries("Threads waiting for a CPU, by unit and cause",
                   "How many runnable threads wait on average; throttled is held back by cpu.max. The "
                   "15 highest.", "short",
                   [(highest(15, threads(f"{SUBJECT_OF}, cause", RUNQUEUE, SUBJECT)),
                     NAME + " {{cause}}")], **BY_UNIT),
        timeseries("Demand for CPU, by instance",
                   "Threads that run, and threads that wait for it. Where as many wait as run, each gets "
                   "half of what it asks for.", "short",
                   [(total("instance", rate("offcpud_running_seconds_total", SUBJECT)),
                     "{{instance}} running"),
                    (threads("instance", RUNQUEUE, SUBJECT, NOT_THROTTLED), "{{instance}} waiting")],
                   links=[v.point_link()]),
        timeseries("Kept off the CPU, by unit and who had it",
                   "How many threads of a unit wait on average for a CPU that threads of another cgroup "
                   "have; the 15 highest pairs.", "short",
                   [(highest(15, others), NAME + " by {{by_cgroup}}")], **BY_UNIT),
    ]


def disks():
    who = "instance, cgroup, device"
    return [
        row("Disks: who loads them"),
        timeseries("Requests to disks at a time, by cgroup",
                   "How many requests are under way on average; (kernel) is write-back and journals, for "
                   "nobody knows whom. The 15 highest.", "short",
                   [(highest(15, total(who, rate("offcpud_disk_request_seconds_total", SUBJECT))),
                     "{{instance}} {{cgroup}} to {{device}}")], stacked=True, links=[v.point_link("cgroup")]),
        timeseries("Bytes to and from disks, by cgroup", "Read, written or discarded. The 15 highest.", "Bps",
                   [(highest(15, total(f"{who}, operation", rate("offcpud_disk_bytes_total", SUBJECT))),
                     "{{instance}} {{cgroup}} {{device}} {{operation}}")], stacked=True,
                   links=[v.point_link("cgroup")]),
    ]


def stalls():
    stalled = total(f"{SUBJECT_OF}, for", select("offcpud_stalls_in_progress", SUBJECT, FOR))
    on = total(f"{SUBJECT_OF}, for, on", select("offcpud_stalls_waiting_on", SUBJECT, FOR))
    since = select("offcpud_oldest_stall_seconds", SUBJECT, FOR)
    oldest = f"max by ({SUBJECT_OF}, for) ({since})"
    began = "increase(" + select("offcpud_stalls_total", HOST) + "[$__rate_interval])"
    waiting = f"max by ({SUBJECT_OF}) ({select('offcpud_oldest_runnable_seconds', SUBJECT)})"
    return [
        row("Stalls"),
        timeseries("Stalls, by unit and what for",
                   "Threads that are stuck at the moment, for certain.", "short",
                   [(highest(15, stalled), NAME + " {{for}}")], **BY_UNIT),
        timeseries("Longest stall, by unit and what for", "Its age; the 15 highest.", "s",
                   [(highest(15, oldest), NAME + " {{for}}")], **BY_UNIT),
        timeseries("Stalls, by unit and on whom or what",
                   "Threads that are stuck, by who holds the lock, or whom or what they wait on; (unknown): "
                   "what nobody can tell. The 15 highest.", "short",
                   [(highest(15, on), NAME + " {{for}} on {{on}}")], width=24, **BY_UNIT),
        timeseries("Stalls that began, by reason",
                   "Blocks that outlasted stalls.threshold, or their rule in stalls.rules.", "short",
                   [(total("reason", began), "{{reason}}")], drawStyle="bars"),
        timeseries("Longest wait for a CPU in progress, by unit", "Its age; the 15 highest.", "s",
                   [(highest(15, waiting), NAME)], **BY_UNIT),
    ]


def fleet():
    """Units have one name on all hosts; containers do not."""
    of_unit = (SUBJECT, FOR, 'unit!=""')
    here = highest(5, threads("unit, for", WAIT, *of_unit, 'instance=~"$like"'))
    there = threads("instance, unit, for", WAIT, *of_unit)
    hosts = f"({there})\n>= on (unit, for) group_left ()\n0.5 * ({here} > 0.01)"
    return [
        table("Hosts that wait as $like does",
              "What threads of that host wait for most, in five pairs of unit and what for; and every chosen "
              "host on which at least half as many threads of that unit wait for the same. A click on the "
              "instance shows its flame graph of the time shown.",
              [("Threads that wait", "short", hosts)],
              links=[("instance", [v.flame_link("unit")]),
                     ("unit", [v.dashboard_link("This unit in depth", "offcpud-unit", "instance", "unit")])]),
    ]


def top():
    row_of = "instance, unit, cgroup"
    running = total(row_of, rate("offcpud_running_seconds_total", SUBJECT))
    others = total(row_of, rate("offcpud_preemptions_total", SUBJECT, 'by="other_cgroup"'))
    stalled = total(row_of, select("offcpud_stalled_threads", SUBJECT, REASON, 'over=~"$over"'))
    idle = threads(row_of, WAIT, SUBJECT, IDLE)
    hosts = f"max by (instance, version, kernel) ({select('offcpud_build_info', HOST)})"
    return [
        row("Who and where"),
        table("Cgroups",
              "What the threads of each cgroup do on average. A click on the unit shows it in depth, on "
              "the cgroup its flame graph of the time shown.",
              [("Threads that wait", "short", threads(row_of, WAIT, SUBJECT, FOR)),
               ("Waiting for a CPU", "short", threads(row_of, RUNQUEUE, SUBJECT)),
               ("CPUs used", "short", running), ("Preempted by others", "ops", others),
               ("Over $over, by reason", "short", stalled), ("Idle", "short", idle)],
              links=[("unit", [v.dashboard_link("This unit in depth", "offcpud-unit", "instance",
                                                "unit", "cgroup")]),
                     ("cgroup", [v.flame_link("cgroup")])]),
        table("Hosts", "A click on the instance shows its flame graph of the time shown, or its daemon.",
              [("Up", "short", hosts)],
              links=[("instance", [v.flame_link(), v.dashboard_link("Its daemon", "offcpud-daemon",
                                                                    "instance")])], height=8),
    ]
