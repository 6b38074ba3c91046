# SPDX-License-Identifier: Apache-2.0
"""What every scrape must keep, whatever happens to cgroups: strict text, no counter going down."""

import os
import subprocess
import unittest

import prometheus_text
from case import Case, main

SCRAPES = int(os.environ.get("OFFCPUD_SCRAPES", "1000"))


def counters(families):
    """{(name, labels): value} of everything that must not go down."""
    found = {}
    for family in families.values():
        if family.type == "counter":
            found.update(family.samples)
        elif family.type == "histogram":
            found.update(family.samples)
    return found


class Scrapes(Case):
    settings = {"linger": "10s", "max_series": 200, "max_cgroups": 8192}

    def test_thousand_scrapes_while_cgroups_come_and_go(self):
        """D7, D9, D19: no counter goes down, not even over an absence of its series, no duplicate
        label set, _count is the +Inf bucket (the parser refuses the rest), and host-wide totals
        never go down. No path returns here after `linger`, when it might start from zero."""
        parent = self.new_cgroup()
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", 1_000_000,
                           "--us", 2_000, "--pause_us", 40_000, "--name", "churn-")
        again = self.start("cgroup_churn", "--parent", parent.directory, "--count", 1_000_000,
                           "--us", 1_000, "--pause_us", 30_000, "--keep_name", 1, cgroup=None)
        churn.go()
        again.go()
        last, totals, fell, seen = {}, {}, [], set()
        for _ in range(SCRAPES):
            scrape = self.daemon.scrape()
            now = counters(scrape.families)
            fell += [(k, last[k], v) for k, v in now.items() if v < last.get(k, 0)]
            sums = {}
            for (name, labels), value in now.items():
                # A process leaves the page when it ends or waits less than others.
                if (name.endswith(("_count", "_running_seconds_total"))
                        and not name.startswith("offcpud_process_")):
                    sums[name] = sums.get(name, 0) + value
            fell += [(k, totals[k], v) for k, v in sums.items() if v < totals.get(k, 0) - 1e-6]
            totals = sums
            last.update(now)  # of a series that is absent for a while, too
            seen |= {c for c in scrape.cgroups() if c.startswith(parent.path + "/")}
        for workload in (churn, again):
            workload.process.kill()
            workload.process.wait()
        for child in list(parent.directory.iterdir()):
            if child.is_dir():
                subprocess.run(["sleep", "0.05"], check=True)
                child.rmdir()
        self.say(not fell, f"counters that fell in {SCRAPES} scrapes", "none", fell[:3] or "none")
        self.expect_at_least("cgroups that came and went", min(50, SCRAPES // 10), len(seen))


class ParserIsStrict(unittest.TestCase):
    """The judge is judged: each of these texts breaks one rule."""

    GOOD = (
        "# HELP h x\n# TYPE h histogram\n"
        'h_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3\nh_count 2\n'
    )
    BAD = {
        "count is not the last bucket": GOOD.replace("h_count 2", "h_count 3"),
        "not cumulative": GOOD.replace('le="1"} 1', 'le="1"} 9'),
        "no +Inf": GOOD.replace('h_bucket{le="+Inf"} 2\n', ""),
        "bounds fall": GOOD.replace('le="1"} 1\n', 'le="1"} 1\nh_bucket{le="0.5"} 1\n'),
        "duplicate": "# TYPE c counter\nc 1\nc 1\n",
        "duplicate in another order": '# TYPE c counter\nc{a="1",b="2"} 1\nc{b="2",a="1"} 1\n',
        "bad name": "# TYPE 1c counter\n1c 1\n",
        "bad escape": '# TYPE c counter\nc{a="\\x"} 1\n',
        "label twice": '# TYPE c counter\nc{a="1",a="2"} 1\n',
        "stranger in a family": "# TYPE c counter\nd 1\n",
        "family in two pieces": "# TYPE c counter\nc 1\n# TYPE d counter\nd 1\n# HELP c x\n",
        "no end of line": "# TYPE c counter\nc 1",
        "bad value": "# TYPE c counter\nc one\n",
    }

    def test_good_text_is_read(self):
        families = prometheus_text.Reader().read(self.GOOD)
        self.assertEqual(families["h"].histograms[frozenset()].count, 2)

    def test_bad_text_is_refused(self):
        for what, text in self.BAD.items():
            with self.subTest(what), self.assertRaises(prometheus_text.FormatError):
                prometheus_text.Reader().read(text)


if __name__ == "__main__":
    main()
