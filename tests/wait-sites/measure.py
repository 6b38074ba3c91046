# SPDX-License-Identifier: Apache-2.0
"""Starts scenarios beside a daemon, records what it says their waits are for, and compares."""

import argparse
import json
import signal
import sys
import time
from collections import Counter, defaultdict
from fnmatch import fnmatch

from scenario import SCENARIOS, SLICE, Missing, Stage, host
from scores import Confusion, matrix, table
from truth import Verdict

import scenarios  # noqa: F401  (declares them)
from daemon import Daemon

SETTINGS = {"min_pass_interval": "1s", "snapshots.interval": "5s", "snapshots.stacks_per_second": "5000"}
# What a thread is for that nobody has woken is open for five minutes.
SETTLE = 320
RECORD = 20
LOOK = 0.25
NAMED = 60


def arguments():
    parser = argparse.ArgumentParser(prog="tests/wait-sites/run", description=__doc__)
    parser.add_argument("scenarios", nargs="*", default=["*"], help="their names, or patterns; default: all")
    parser.add_argument("--list", action="store_true", help="says which scenarios there are")
    parser.add_argument("--at-once", type=int, default=40, help="scenarios beside one daemon; default %(default)s")
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


def record(daemon, stages, settle):
    """Rows by cgroup, and the seconds that they cover."""
    time.sleep(settle)
    first = last = time.time()
    while last < first + RECORD:
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


def measure(batch, settle):
    """{scenario: Verdict} of those that could run."""
    daemon = Daemon.start(**SETTINGS)
    stages, verdicts = {}, {}
    try:
        for each in batch:
            print(f"starting {each.name}", flush=True)
            stage = begin(each)
            if stage:
                stages[each] = stage
        rows, seconds = record(daemon, stages, settle)
        for each, stage in stages.items():
            verdicts[each] = Verdict()
            for role in stage.roles:
                verdicts[each].compare(role, rows[role.cgroup.path], seconds)
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


def kept(path, verdicts):
    """{scenario: [program, has rules, [[truth, said, seconds]]]} of this run and of those in the file."""
    sums = {}
    if path:
        try:
            with open(path, encoding="utf-8") as file:
                sums = json.load(file)
        except FileNotFoundError:
            pass
    for each, verdict in verdicts.items():
        pairs = [[*pair, seconds] for pair, seconds in verdict.confusion.seconds.items()]
        sums[each.name] = [each.program, each.rules, pairs]
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(sums, file)
    return sums


def report(sums):
    programs = defaultdict(Confusion)
    groups = {True: Confusion(), False: Confusion()}
    for program, rules, pairs in sums.values():
        for truth, said, seconds in pairs:
            programs[program if rules else f"{program} (no rules)"].add(truth, said, seconds)
            groups[rules].add(truth, said, seconds)
    everything = Confusion()
    for group in groups.values():
        everything.add_all(group)
    order = sorted(programs, key=lambda name: (name.endswith(")"), name.lower()))
    print("\n" + table({**{name: programs[name] for name in order},
                        "**with rules**": groups[True], "**without rules**": groups[False],
                        "**all**": everything}))
    print("\n" + matrix(everything))
    print(f"\n{len(sums)} scenarios, {len(programs)} programs")


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
    verdicts = {}
    try:
        for i in range(0, len(chosen), asked.at_once):
            found = measure(chosen[i:i + asked.at_once], asked.settle)
            for each, verdict in found.items():
                show(each, verdict, asked.wrong)
            verdicts.update(found)
    finally:
        top.remove()
    report(kept(asked.add_to, verdicts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
