# SPDX-License-Identifier: Apache-2.0
"""What is looked at when a siege ends: totals and stacks of the known programs, losses, memory."""

import math
import time

from besieged import MIB
from known_waits import FUNCTIONS, REASONS, KnownStacks, seconds_by_place, truth_of
from minute import COMPLETE, MOST_RESIDENT
from promises import columns

WITHIN = 0.01
LEAST_MINUTES = 45  # caches fill before, such as names of functions up to 40 MiB
LEAST_OF_NEW = 1.8  # seconds: a wait of 0.2 s may be cut off at an end
SCRAPE_TIMEOUT = 10  # seconds; the default of Prometheus
# What the daemon says that it lost, left out or could not do.
LOSSES = ("offcpud_lost_events_total", "offcpud_stack_samples_incomplete_total",
          "offcpud_reader_hangs_total", "offcpud_reader_refused_total",
          "offcpud_objects_refused_total", "offcpud_mappings_left_out_total",
          "offcpud_series_folded_total", "offcpud_snapshot_failures_total",
          "offcpud_pass_failures_total", "offcpud_processes_over_share")


def judge_totals(promises, known):
    """The histograms against what the kernel and the programs counted themselves."""
    rows = [("known waits", "episodes", "seen", "seconds", "seen", "off by")]
    for name, window in known.windows.items():
        episodes, seconds = truth_of(window)
        seen = window.blocked()
        off = max(abs(seen.count - episodes) / episodes, abs(seen.seconds - seconds) / seconds)
        promises.at_most("totals of known waits are off by", WITHIN, off, note=name)
        missing, lost = episodes - seen.count, sum(window.lost().values())
        promises.holds("what is missing of them is counted as lost", 0 <= missing <= lost,
                       f"{name}: {missing} of {episodes} missing, {lost:.0f} counted")
        rows.append((name, str(episodes), str(seen.count), f"{seconds:.3f}", f"{seen.seconds:.3f}",
                     f"{off:.4%}"))
    print("\n" + columns(rows), flush=True)


def judge_stacks(promises, known, daemon, begin):
    """The sum of all snapshots since the siege began."""
    wait_for_snapshot(daemon)
    rows = [("stacks of known waits", "seconds", "seen", "standard error", "complete")]
    for name, window in known.windows.items():
        reason = REASONS[name]
        answer = daemon.get_json(f"/api/v1/snapshots/merge?format=json&from={begin:.3f}"
                                 f"&cgroup={known.cgroup(name)}")
        stacks = KnownStacks(answer, reason, FUNCTIONS[name])
        seconds = window.blocked(reason).seconds
        promises.at_least("of known waits with complete stacks", COMPLETE, stacks.complete, note=name)
        compare(promises, name, seconds, stacks.seconds, stacks.error)
        rows.append((name, f"{seconds:.3f}", f"{stacks.seconds:.3f}", f"{stacks.error:.3f}",
                     f"{stacks.complete:.3%}"))
        if name == "known_places":
            for place, expected in seconds_by_place(window).items():
                seen, error = stacks.seconds_in(place), stacks.error_in(place)
                compare(promises, place, expected, seen, error)
                rows.append((f"  {place}", f"{expected:.3f}", f"{seen:.3f}", f"{error:.3f}", ""))
    print("\n" + columns(rows), flush=True)


def compare(promises, name, expected, seen, error):
    beyond = max(0.0, abs(seen - expected) - 4 * error) / expected
    promises.at_most("seconds of their stacks are off by, beyond 4 standard errors", WITHIN, beyond,
                     note=name)


def wait_for_snapshot(daemon):
    """Until one has been written that ends after now."""
    written = daemon.scrape().value("offcpud_snapshots_written_total")
    for _ in range(240):
        if daemon.scrape().value("offcpud_snapshots_written_total") >= written + 2:
            return
        time.sleep(1)
    raise SystemExit("no snapshot was written in four minutes")


def judge_new_programs(promises, minutes):
    """Over all profiles: in a single one a few samples of long sleeps tell too little of their own error. A program
    that does nothing but sleep does so whenever it neither runs nor waits for a CPU."""
    if not minutes:
        return
    count = len(minutes)
    mean = sum(each.seconds_seen for each in minutes) / count
    error = math.sqrt(sum(each.error ** 2 for each in minutes)) / count
    promises.at_least("of 2 s of new programs in profiles, on average, with 4 standard errors", LEAST_OF_NEW,
                      mean + 4 * error, " s", f"{mean:.3f} s, standard error {error:.3f} s")


def judge_losses(first, last):
    rows = [("counted as lost, left out or refused", "in the siege")]
    for name in LOSSES:
        if name not in last.families:
            continue
        for (_, labels), value in sorted(last.families[name].samples.items(),
                                         key=lambda item: sorted(item[0][1])):
            new = value - first.value(name, **dict(labels))
            if new:
                rows.append((name + "".join(f" {key}={text}" for key, text in sorted(labels)),
                             f"{new:.0f}"))
    print("\n" + columns(rows), flush=True)


def judge_memory(promises, watch, daemon):
    promises.at_most("resident, with its readers", MOST_RESIDENT / MIB, watch.most() / MIB, " MiB")
    promises.at_most("from the last look at memory to the end", 30, watch.unwatched, " s")
    _, second, third = watch.thirds()
    means = f"{second / MIB:.1f} and {third / MIB:.1f} MiB"
    if watch.minutes() >= LEAST_MINUTES:
        promises.at_most("memory of the last third in that of the second", 1.05, third / second, note=means)
    else:
        print(f"\nmeans of the memory in the second and the last third: {means}; whether it is flat is judged "
              f"from {LEAST_MINUTES} minutes on")
    promises.holds("no process was ended for memory", daemon.limit.killed() == 0,
                   daemon.limit.killed())
    cut = watch.cut + daemon.cut
    promises.holds("no request is cut off or refused", not cut,
                   f"{len(cut)} beside {watch.scrapes} scrapes: {cut[:3]}")
    promises.at_most("slowest scrape", SCRAPE_TIMEOUT, watch.slowest, " s")
    peak = daemon.limit.peak()
    print(f"\n{watch.scrapes} scrapes, the slowest {watch.slowest:.2f} s; peak of the memory limit's "
          f"cgroup {'unknown' if peak is None else f'{peak / MIB:.0f} MiB'} of "
          f"{daemon.limit.bytes / MIB:.0f} MiB", flush=True)
