# SPDX-License-Identifier: Apache-2.0
"""Units in depth: where their time goes, who takes their CPU, who wakes them, which processes wait."""

import variables as v
from panels import heatmap, logarithmic, row, table, timeseries
from queries import (BLOCKED, FOR, HOST, IDLE, PRESENT, REASON, RUNQUEUE, SUBJECT, WAIT, episodes,
                     heatmap as buckets, highest, quantile, rate, select, threads, total, waited_on)

PROCESS = f'{HOST}, cgroup=~"$cgroup"'  # of which there is no unit
OF_UNIT = f'{SUBJECT}, cgroup=~"$cgroup"'


def dashboard():
    chosen = [v.datasource(), v.job(), v.instance(), v.slices(), v.unit(), v.cgroup(), v.purpose(),
              v.reason(), v.over(), v.scheme()]
    return v.dashboard(
        "offcpud-unit", "offcpud / Unit",
        "The chosen units together: choose one. What idles is off until the variable Waits for, or "
        "Reason, says otherwise.", chosen,
        [*purposes(), *on_whom(), *time(), *waits(), *blame(), *stuck(), *processes()])


def purposes():
    oldest = select("offcpud_oldest_stall_seconds", OF_UNIT, FOR)
    return [
        row("What it waits for"),
        timeseries("Threads that wait, by what for",
                   "How many threads wait on average; who idles is one line. Waits are counted when "
                   "they end.", "short",
                   [(threads("for", WAIT, OF_UNIT, FOR), "{{for}}"),
                    (threads("", WAIT, OF_UNIT, IDLE), "idle")]),
        logarithmic("Waits, quantile 0.99, by what for", "Of waits that ended.", "s",
                    [(quantile(0.99, "for", WAIT, OF_UNIT, FOR), "{{for}}")]),
        heatmap("Waits", "By length, of what Waits for selects.", buckets(WAIT, OF_UNIT, FOR)),
        timeseries("Longest stall, by what for", "Age of the longest that is still in progress.", "s",
                   [(f"max by (for) ({oldest})", "{{for}}")]),
    ]


def on_whom():
    waiting = total("instance, unit, container_id, for", waited_on(HOST, FOR, PRESENT, 'on=~"$unit"'))
    return [
        row("Whom it waits on, and who waits on it"),
        timeseries("Threads that wait, by on whom or what",
                   "How many threads wait on average on a unit, a remote address or a device; (unknown) is "
                   "what nobody can tell. The 15 highest.", "short",
                   [(highest(15, total("for, on", waited_on(OF_UNIT, FOR))), "{{for}} on {{on}}")],
                   stacked=True),
        timeseries("Threads of others that wait on it",
                   "How many threads wait on average on this unit, by unit. The 15 highest.", "short",
                   [(highest(15, waiting), "{{instance}} {{unit}}{{container_id}} {{for}}")], stacked=True,
                   links=[v.point_link("unit")]),
    ]


def time():
    running = total("", rate("offcpud_running_seconds_total", OF_UNIT))
    return [
        row("Where the time goes"),
        timeseries("Threads by state",
                   "Running, runnable by cause and blocked by reason add up to all threads when Reason "
                   "selects every reason. Waits are counted when they end.", "short",
                   [(running, "running"), (threads("cause", RUNQUEUE, OF_UNIT), "runnable: {{cause}}"),
                    (threads("reason", BLOCKED, OF_UNIT, REASON), "blocked: {{reason}}")],
                   stacked=True, width=16),
        table("Cgroups", "A click shows the flame graph of the time shown.",
              [("Threads that wait", "short", threads("instance, cgroup", WAIT, OF_UNIT, FOR))],
              links=[("cgroup", [v.flame_link("cgroup")])], width=8, height=8),
    ]


def _quantiles(metric, *matchers):
    return [(quantile(q, "", metric, *matchers), f"{q:g}") for q in (0.5, 0.9, 0.99)]


def waits():
    return [
        row("Waits that ended"),
        heatmap("Blocked time", "Episodes by length, of the chosen reasons.",
                buckets(BLOCKED, OF_UNIT, REASON)),
        heatmap("Run-queue wait", "Episodes by length, of all causes.", buckets(RUNQUEUE, OF_UNIT)),
        logarithmic("Blocked time, quantiles", "Of the chosen reasons together.", "s",
                    _quantiles(BLOCKED, OF_UNIT, REASON)),
        logarithmic("Run-queue wait, quantiles", "Of all causes together.", "s",
                    _quantiles(RUNQUEUE, OF_UNIT)),
        logarithmic("Blocked time, quantile 0.99, by reason", "One line for each chosen reason.", "s",
                    [(quantile(0.99, "reason", BLOCKED, OF_UNIT, REASON), "{{reason}}")]),
        logarithmic("Run-queue wait, quantile 0.99, by cause",
                    "Throttled is held back by cpu.max: no other process is to blame for it.", "s",
                    [(quantile(0.99, "cause", RUNQUEUE, OF_UNIT), "{{cause}}")]),
        timeseries("Blocks a second, by reason", "Episodes that ended.", "ops",
                   [(episodes("reason", BLOCKED, OF_UNIT, REASON), "{{reason}}")]),
        timeseries("Waits for a CPU a second, by cause", "Episodes that ended.", "ops",
                   [(episodes("cause", RUNQUEUE, OF_UNIT), "{{cause}}")]),
    ]


def blame():
    return [
        row("Who takes the CPU, who wakes"),
        timeseries("Preemptions, by who took the CPU",
                   "Times a second that a thread lost its CPU although it could have run on.", "ops",
                   [(total("by", rate("offcpud_preemptions_total", OF_UNIT)), "{{by}}")], width=8),
        timeseries("Threads kept off the CPU, by who had it",
                   "How many of its threads wait on average for a CPU that this cgroup has; (idle) is being "
                   "woken, (throttled) is its own limit. The 15 highest.", "short",
                   [(highest(15, total("by_cgroup", rate("offcpud_kept_off_seconds_total", OF_UNIT,
                                                         'by_cgroup!="(removed)"'))),
                     "{{by_cgroup}}")], stacked=True, width=8),
        timeseries("Wakeups, by who woke",
                   "Times a second that a block ended: by a thread, or by an interrupt (timer, network, "
                   "disk).", "ops",
                   [(total("from", rate("offcpud_wakeups_total", OF_UNIT)), "{{from}}")], width=8),
    ]


def stuck():
    def of(metric, *matchers):
        return select(metric, OF_UNIT, *matchers)

    return [
        row("Waits in progress"),
        timeseries("Threads blocked now, by reason", "As of the last walk over the threads.", "short",
                   [(total("reason", of("offcpud_blocked_threads", REASON)), "{{reason}}")],
                   stacked=True, width=8),
        timeseries("Threads stalled, by reason", "Blocked for longer than $over, and still are.", "short",
                   [(total("reason", of("offcpud_stalled_threads", REASON, 'over=~"$over"')),
                     "{{reason}}")], width=8),
        timeseries("Longest wait in progress", "Age of the longest block by reason, and of the longest "
                   "wait for a CPU.", "s",
                   [(f"max by (reason) ({of('offcpud_oldest_blocked_seconds', REASON)})", "{{reason}}"),
                    (f"max({of('offcpud_oldest_runnable_seconds')})", "run queue")], width=8),
    ]


def processes():
    who, name = "instance, comm, pid", "{{instance}} {{comm}} {{pid}}"
    link = {"links": [v.point_link()]}
    oldest = select("offcpud_process_oldest_blocked_seconds", PROCESS, REASON)
    return [
        row("Processes (the ten of the host that wait most, and those of processes.rules)"),
        timeseries("Threads blocked, by process", "How many threads of a process wait on average.",
                   "short", [(highest(15, threads(f"{who}, reason", "offcpud_process_blocked_seconds",
                                                  PROCESS, REASON)), name + " {{reason}}")], **link),
        timeseries("Threads waiting for a CPU, by process", "By what put them into the queue.", "short",
                   [(highest(15, threads(f"{who}, cause", "offcpud_process_runqueue_wait_seconds",
                                         PROCESS)), name + " {{cause}}")], **link),
        logarithmic("Blocked time, quantile 0.99, by process", "The 15 highest.", "s",
                    [(highest(15, quantile(0.99, f"{who}, reason", "offcpud_process_blocked_seconds",
                                           PROCESS, REASON)), name + " {{reason}}")], **link),
        timeseries("Longest block in progress, by process", "Its age.", "s",
                   [(highest(15, f"max by ({who}, reason) ({oldest})"), name + " {{reason}}")], **link),
    ]
