# SPDX-License-Identifier: Apache-2.0
"""Starts scenarios beside a daemon, records what it says their waits are for, and compares."""

import argparse
import json
import signal
import sys
import time
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path

import bounds
from recording import Recording
from scenario import APART, NO_RULES, SCENARIOS, SLICE, Missing, Stage, host
from scores import Confusion, matrix, table
from truth import LEFT_OUT, Verdict

import scenarios  # noqa: F401  (declares them)
from daemon import DEFAULTS, Daemon

# As users have it: 200 stacks a second, and a snapshot a minute, the last two of which evidence needs.
USUAL_RECORD = 130
DENSE = {"min_pass_interval": "1s", "snapshots.interval": "5s", "snapshots.stacks_per_second": "5000"}
DENSE_RECORD = 20
# What a thread is for that nobody has woken is open for five minutes.
SETTLE = 320
LOOK = 0.5
NAMED = 60


def arguments():
    parser = argparse.ArgumentParser(prog="tests/wait-sites/run", description=__doc__)
    parser.add_argument("scenarios", nargs="*", default=["*"], help="their names, or patterns; default: all")
    parser.add_argument("--list", action="store_true", help="says which scenarios there are")
    parser.add_argument("--at-once", type=int, default=40, help="scenarios beside one daemon; default %(default)s")
    parser.add_argument("--dense", action="store_true",
                        help="5,000 stacks a second and snapshots of 5 s, instead of a daemon's own settings")
    parser.add_argument("--record", type=Path, metavar="FOLDER",
                        help="writes the heaviest stacks of each site there, each with its truth")
    parser.add_argument("--settle", type=float, default=SETTLE, metavar="S",
                        help="seconds before what is recorded; default %(default)s")
    parser.add_argument("--wrong", type=int, default=0, metavar="N",
                        help="shows the N heaviest stacks of each scenario of which the daemon was wrong")
    parser.add_argument("--add-to", metavar="FILE",
                        help="keeps the sums in this file, and adds to those that it has of other scenarios")
    return parser.parse_args()


def rows_of(answer):
    """The rows of an answer in JSON, by names."""
    strings, frames = answer["strings"], answer["frames"]

    def frame(i):
        function, of, kernel = frames[i][:3]
        return strings[function] + ("_[k]" if kernel else f"{{{strings[of]}}}")

    stacks = [";".join(map(frame, stack)) for stack in answer["stacks"]]
    for values in answer["rows"]:
        row = dict(zip(answer["columns"], values))
        for key in ("comm", "thread", "cgroup", "reason", "for", "site", "waker"):
            row[key] = strings[row[key]]
        row["stack"] = stacks[row["stack"]]
        yield row


def begin(each):
    stage = Stage(each.name)
    try:
        for program in each.needs:
            stage.need(program)
        each.start(stage)
        return stage
    except (Missing, OSError) as missing:
        print(f"SKIP: {each.name}: {missing}", flush=True)
        stage.end()
    except BaseException:
        stage.end()
        raise
    return None


def record(daemon, stages, asked):
    """Rows by cgroup, and the seconds that they cover."""
    time.sleep(asked.settle)
    first = last = time.time()
    while last < first + (DENSE_RECORD if asked.dense else USUAL_RECORD):
        for stage in stages.values():
            stage.look()
        time.sleep(LOOK)
        last = time.time()
    path = f"/api/v1/snapshots/merge?format=json&from={first:.3f}&to={last:.3f}&cgroup={SLICE}"
    answer = merged(daemon, path)
    rows = defaultdict(list)
    for row in rows_of(answer):
        rows[row["cgroup"]].append(row)
    return rows, answer["covered_seconds"]


def merged(daemon, path):
    """On a busy host the last snapshot has its names some time after it ended."""
    for _ in range(NAMED):
        answer = json.loads(daemon.get_as_root(path))
        if "error" not in answer:
            return answer
        time.sleep(1)
    raise SystemExit(f"no snapshots: {answer['error']}")


def add_false_stalls(daemon, stages, verdicts):
    """Waits that people are told of as stalls although they are idle in truth."""
    answer = json.loads(daemon.get_as_root(f"/api/v1/stalls?state=in_progress&limit=20000&cgroup={SLICE}"))
    for wait in answer["unusual"] or ():
        print(f"unusual: {wait['cgroup']} {wait['comm']} {wait['site']}", flush=True)
    for each, stage in stages.items():
        for role in stage.roles:
            for stall in answer["stalls"]:
                if stall["cgroup"] != role.cgroup.path or role.numbers or not stall["told"]:
                    continue
                truth = role.truth_of({**stall, "thread": stall["comm"]})
                if truth != LEFT_OUT:
                    verdicts[each].add_stall(role, stall, truth)


def measure(batch, asked):
    """{scenario: Verdict} of those that could run."""
    daemon = Daemon.start(**(DENSE if asked.dense else DEFAULTS))
    stages, verdicts = {}, {}
    try:
        for each in batch:
            print(f"starting {each.name}", flush=True)
            stage = begin(each)
            if stage:
                stages[each] = stage
        rows, seconds = record(daemon, stages, asked)
        for each, stage in stages.items():
            verdicts[each] = Verdict()
            for role in stage.roles:
                verdicts[each].compare(role, rows[role.cgroup.path], seconds)
        add_false_stalls(daemon, stages, verdicts)
    finally:
        for stage in stages.values():
            stage.end()
        daemon.stop()
    return verdicts


def show(each, verdict, count):
    confusion = verdict.confusion
    said = Counter()
    for (truth, what), seconds in confusion.seconds.items():
        said[truth if truth == what else f"{truth} said {what}"] += seconds
    print(f"{each.name}: {', '.join(f'{what} {seconds:.1f} s' for what, seconds in said.most_common())}; "
          f"left out {verdict.left_out:.1f} s, short {verdict.short:.1f} s", flush=True)
    for (role, thread, truth, what, site, reason, stack), seconds in verdict.wrong.most_common(count):
        print(f"  {seconds:.2f} s {role}/{thread} {truth} said {what} ({site or 'no site'}), {reason}\n"
              f"      {stack}", flush=True)
    for stall in verdict.false_stalls:
        print(f"  told, and idle in truth: {stall}", flush=True)


def kept(path, verdicts):
    """{scenario: [program, group, [[truth, said, seconds]], false stalls]} of this run and of those in the file."""
    sums = {}
    if path:
        try:
            with open(path, encoding="utf-8") as file:
                sums = json.load(file)
        except FileNotFoundError:
            pass
    for each, verdict in verdicts.items():
        pairs = [[*pair, seconds] for pair, seconds in verdict.confusion.seconds.items()]
        sums[each.name] = [each.program, each.group, pairs, verdict.false_stalls]
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(sums, file)
    return sums


def report(sums):
    programs = defaultdict(Confusion)
    for program, group, pairs, _ in sums.values():
        for truth, said, seconds in pairs:
            programs[program if group != NO_RULES else f"{program} (no rules)"].add(truth, said, seconds)
    groups = bounds.grouped(sums)
    order = sorted(programs, key=lambda name: (name.endswith(")"), name.lower()))
    print("\n" + table({**{name: programs[name] for name in order},
                        **{f"**{group}**": groups[group] for group in sorted(groups)}}))
    for group in sorted(groups):
        print(f"\n{group}\n\n" + matrix(groups[group]))
    print(f"\n{len(sums)} scenarios, {len(programs)} programs")


def judge(sums, chosen):
    """0, or 1 if a bound is broken. A part of the scenarios is only shown."""
    if len(chosen) < len(SCENARIOS) and len(sums) < bounds.LEAST_MEASURED * len(SCENARIOS):
        print("bounds are for all scenarios together")
        return 0
    broken = bounds.broken(sums, len(SCENARIOS))
    for each in broken:
        print(f"BROKEN: {each}")
    return 1 if broken else 0


def main():
    asked = arguments()
    chosen = [each for each in SCENARIOS if any(fnmatch(each.name, name) for name in asked.scenarios)]
    if asked.list:
        print("\n".join(f"{each.name}: {each.program}" for each in chosen))
        return 0
    if host.unavailable() or not chosen:
        print(f"SKIP: {host.unavailable() or 'there is no such scenario'}")
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is ended and removed
    top = host.Cgroup(SLICE)
    verdicts, recording = {}, Recording()
    try:
        for i in range(0, len(chosen), asked.at_once):
            found = measure(chosen[i:i + asked.at_once], asked)
            for each, verdict in found.items():
                show(each, verdict, asked.wrong)
                if each.group != APART:
                    recording.add(each, verdict)
            verdicts.update(found)
    finally:
        top.remove()
    if asked.record:
        recording.write(asked.record)
    sums = kept(asked.add_to, verdicts)
    report(sums)
    for each in chosen:
        if each not in verdicts:
            print(f"skipped: {each.name}")
    return judge(sums, chosen)


if __name__ == "__main__":
    sys.exit(main())
