#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""attackers.py FOLDER PORT CGROUP [WORDS]...: begins all attacks, or those with these words in their name,
and each again when it ends, until standard input does. Then says as one JSON object how often each
began, and why those did not that could not."""

import json
import math
import select
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from attacks import all_attacks  # noqa: E402


class Running:
    """An attack, and what it runs now."""

    def __init__(self, attack):
        self.attack, self.programs = attack, None
        self.began, self.times, self.failures, self.impossible = -math.inf, 0, 0, None

    def is_over(self):
        if time.monotonic() - self.began > self.attack.seconds:
            return True
        return self.programs and all(p.poll() is not None for p in self.programs.processes)

    def begin_again(self):
        self.end()
        self.began = time.monotonic()
        try:
            self.programs = self.attack.begin()
            self.times += 1
        except OSError as error:
            self.impossible = str(error)
        except RuntimeError as error:  # it can, and did not this time
            self.failures += 1
            print(f"{self.attack.name}: {error}", file=sys.stderr)

    def end(self):
        if self.programs:
            self.programs.end()
        self.programs = None


def main():
    folder, port, cgroup, *words = sys.argv[1:]
    attacks = [Running(attack) for attack in all_attacks(Path(folder), int(port), Path(cgroup))
               if not words or any(word in attack.name for word in words)]
    while not select.select([sys.stdin], [], [], 0.2)[0]:
        for attack in attacks:
            if attack.impossible is None and attack.is_over():
                attack.begin_again()
    for attack in attacks:
        attack.end()
    print(json.dumps({of.attack.name: {"began": of.times, "failed": of.failures,
                                       "impossible": of.impossible} for of in attacks}))


if __name__ == "__main__":
    main()
