# SPDX-License-Identifier: Apache-2.0
"""The tables of an idle hour, and what of it was promised."""

import json
import math
import re
import time
from collections import Counter

from promises import columns

SAID = 0.5  # of the checks that are due, at least so many were made: a host may be busy
BUILD_SECONDS = 40  # a build at least so often; it sleeps 20
SEEN = 0.9  # of the looks a unit's threads are seen to wait in
MATTERS = ("lock", "answer", "storage", "memory", "stopped")
BESIDE_WORK = 0.03  # of a row, at most so many a look
UNSURE = 0.1  # of a row, at most so many a look are no more than an error of sampling
MOST_ACTIONABLE = 0.5  # percent of the blocked time of a unit that does nothing but idle
AT_WORK = ("ci", "cron", "health")  # which run commands, and wait for them
BLOCKED, WAIT = "offcpud_blocked_seconds", "offcpud_wait_seconds"
VARIANCE, LOST = "offcpud_wait_variance_seconds_squared_total", "offcpud_wait_lost_seconds_total"
LATE = 30  # seconds after which every wait that ended is in WAIT, too
ROUNDING = 0.001  # of the sum: whole nanoseconds and whole waits
MISSING = 0.02  # of all blocked time of the host, as Prometheus records it


def judge_programs(promises, services, answers_file, begin, end):
    """Whether each program ran and answered, from the begin to the end."""
    for name, process in services.processes.items():
        promises.holds("every program runs at the end", process.poll() is None, f"{name}: {process.poll()}")
    answers = [json.loads(line) for line in answers_file.read_text().splitlines()]
    answers = [one for one in answers if begin <= one["at"] <= end]
    rows = [("program", "checks", "answered", "slowest s")]
    for check in services.checks:
        own = [one for one in answers if one["name"] == check["name"]]
        right = sum(one["ok"] for one in own)
        wrong = [one["said"] for one in own if not one["ok"]]
        promises.at_least("checks that were made, of those due", SAID,
                          len(own) * check["every"] / (end - begin), note=check["name"])
        promises.holds("every check is answered right", not wrong and own, f"{check['name']}: {wrong[:2]}")
        promises.at_most("age of the last check", check["every"] + 60,
                         end - max((one["at"] for one in own), default=0), " s", note=check["name"])
        rows.append((check["name"], str(len(own)), str(right),
                     f"{max((one['seconds'] for one in own), default=0):.2f}"))
    print("\n" + columns(rows))
    judge_jobs(promises, services.folder, begin, end)


def judge_jobs(promises, folder, begin, end):
    builds = lines_since(folder / "ci" / "builds", begin)
    promises.at_least("builds of the shell pipeline", (end - begin) // BUILD_SECONDS, builds)
    for name in ("ran", "slept"):
        promises.at_least(f"cron jobs that {name}", max(1, (end - begin) // 60 - 1),
                          lines_since(folder / "cron" / name, begin))


def lines_since(file, begin):
    """Lines that end with a time of that or later."""
    lines = file.read_text().splitlines() if file.exists() else []
    return sum(1 for line in lines if int(re.search(r"(\d+)$", line)[1]) >= begin)


def judge_sight(promises, looks, services, first, last):
    """Whether the daemon could have seen anything."""
    promises.holds("every look found what waits are for", not looks.blind,
                   [time.ctime(at) for at in looks.blind])
    samples = "offcpud_stack_samples_total"
    promises.at_least("stacks sampled", 100, last.value(samples) - first.value(samples))
    for name in services.units:
        promises.at_least("looks that saw a unit's threads wait", SEEN * looks.looks,
                          looks.units_seen.get(f"{name}.service", 0), note=name)


def judge_findings(promises, looks, shared):
    """`shared`: beside other work a scrape or a health check waits for an answer as long as whoever answers waits
    for a CPU."""
    promises.at_most("stalls", 0, len(looks.stalls))
    promises.at_most("waits that are shown as unusual", 0, len(looks.unusual))
    promises.at_most("alerts, firing or pending for minutes", 0, len(looks.alerts))
    for where in ("top", "page"):
        count = sum(found.looks for key, found in looks.rows.items() if key[0] == where)
        promises.at_most(f"rows among the first ten of {where} that say that somebody waits",
                         BESIDE_WORK * looks.looks if shared else 0, count)
    unsure = sum(found.looks for found in looks.unsure_rows.values())
    promises.at_most("rows a look that say so within two standard errors", UNSURE, unsure / looks.looks)


def judge_identity(promises, pages, cgroups):
    """`pages`: at the begin and LATE after it, at the end and LATE after that. What has a `for` by then was
    blocked by then, and what was blocked LATE before has one by then: whatever comes late is between the
    two."""
    begin, begin_late, end, end_late = pages

    def between(first, last, family, cgroup):
        return last.histogram(family, cgroup=cgroup)[1] - first.histogram(family, cgroup=cgroup)[1]

    lost = end_late.value(LOST) - begin.value(LOST)
    for cgroup in sorted(cgroups):
        seen = between(begin_late, end_late, WAIT, cgroup)
        least = between(begin_late, end, BLOCKED, cgroup)
        most = between(begin, end_late, BLOCKED, cgroup)
        variance = end_late.value(VARIANCE, cgroup=cgroup) - begin_late.value(VARIANCE, cgroup=cgroup)
        allowed = 3 * math.sqrt(max(0.0, variance)) + ROUNDING * most + lost
        promises.at_most("seconds beyond what `for` may have: 3 standard errors, and what was lost", 0,
                         max(0.0, least - seen - allowed, seen - most - allowed),
                         note=f"{cgroup}: {seen:.2f} of {least:.2f} to {most:.2f}, {allowed:.2f} allowed")


def print_findings(looks):
    for stall in looks.stalls.values():
        print(f"\nSTALL: {json.dumps(stall)}")
    for wait in looks.unusual.values():
        print(f"\nUNUSUAL: {json.dumps(wait)}")
    for what, alerts in (("ALERT", looks.alerts), ("pending for a moment", looks.pending)):
        for alert in alerts.values():
            print(f"\n{what}: {json.dumps(alert)}")
    rows = [("where", "unit", "name", "for", "site", "looks", "most", "mean of these")]
    for findings, wait_for in ((looks.rows, ()), (looks.unsure_rows, ()),
                               (looks.cpu_rows, ("a CPU", "not judged"))):
        for key, found in sorted(findings.items(), key=lambda item: -item[1].total):
            rows.append((*key, *wait_for, f"{found.looks}/{looks.looks}", f"{found.most:.3f}",
                         f"{found.total / found.looks:.3f}"))
    print("\n" + columns(rows) if len(rows) > 1 else "\nno row says that anybody waits")
    print("\nwhat the daemon says first:")
    for line, count in Counter(looks.words).most_common(12):
        print(f"  {count:4} times: {line}")
    others = Counter(one.get("site") or one.get("labels", {}).get("alertname", "?")
                     for one in looks.of_others.values())
    if others:
        print(f"\nof other programs on this host, not judged: {dict(others)}")


def judge_time(promises, first, last, slice_path):
    """By unit, what its threads waited for, in percent of its blocked time."""
    family, kinds = "offcpud_wait_seconds", (*MATTERS, "unknown", "work", "timer")
    rows = [("unit", "hours", *(f"{kind} %" for kind in kinds))]
    for cgroup in sorted(last.cgroups()):
        if not cgroup.startswith(slice_path):
            continue
        sums = [last.histogram(family, cgroup=cgroup, **{"for": kind})[1] -
                first.histogram(family, cgroup=cgroup, **{"for": kind})[1] for kind in kinds]
        if whole := sum(sums):
            unit = cgroup[len(slice_path) + 1:].removesuffix(".service")
            rows.append((unit, f"{whole / 3600:.2f}", *(f"{100 * one / whole:.3f}" for one in sums)))
            if unit not in AT_WORK:
                promises.at_most("blocked time of an idle unit that is said to be actionable", MOST_ACTIONABLE,
                                 100 * sum(sums[:len(MATTERS)]) / whole, " %", note=unit)
    print("\n" + columns(rows))
