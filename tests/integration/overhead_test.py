# SPDX-License-Identifier: Apache-2.0
"""What the programs say of their own cost, beside the statistics that the kernel keeps when asked."""

import json
import shutil
import subprocess
from pathlib import Path

import host
from case import Case, main
from daemon import Daemon

BPFTOOL = shutil.which("bpftool", path="/usr/sbin:/sbin:/usr/bin")
STATISTICS = Path("/proc/sys/kernel/bpf_stats_enabled")
PROGRAMS = {"sched_switch": "on_sched_switch", "sched_waking": "on_sched_waking",
            "sched_wakeup_new": "on_sched_wakeup_new", "irq_work_exit": "on_irq_work",
            "task_newtask": "on_task_newtask"}
HOST = 200e-9  # seconds that the host's interruptions add on average: 0.1 to 0.15 us were seen


class Overhead(Case):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable(), not BPFTOOL and "bpftool is not installed")
        cls.daemon = Daemon.start()
        cls.addClassCleanup(cls.daemon.stop)

    def setUp(self):
        super().setUp()
        before = STATISTICS.read_text(encoding="ascii")
        STATISTICS.write_text("1", encoding="ascii")
        self.addCleanup(STATISTICS.write_text, before, encoding="ascii")

    def kernels(self):
        """(runs, seconds) of this daemon's programs by name."""
        shown = subprocess.run([BPFTOOL, "--json", "prog", "show"],
                               stdout=subprocess.PIPE, check=True)
        return {program["name"]: (program["run_cnt"], program["run_time_ns"] * 1e-9)
                for program in json.loads(shown.stdout)
                if "run_cnt" in program and program["id"] in self.programs()}

    def programs(self):
        """Ids, by the descriptors that the daemon holds."""
        ids = set()
        for info in Path(f"/proc/{self.daemon.pid}/fdinfo").iterdir():
            try:
                text = info.read_text(encoding="ascii")
            except OSError:
                continue  # closed meanwhile
            ids.update(int(line.split()[1]) for line in text.splitlines()
                       if line.startswith("prog_id:"))
        return ids

    def ours(self):
        scrape = self.daemon.scrape()
        return {name: (scrape.value("offcpud_bpf_runs_total", program=label),
                       scrape.value("offcpud_bpf_run_seconds_total", program=label))
                for label, name in PROGRAMS.items()}

    def test_estimates_are_those_of_the_kernel(self):
        """200,000 round trips are some 400 timed executions of each: 5 standard errors are a
        quarter. The kernel's time has the entry of the program and its own two readings of a clock
        in it. Ours has a thousandth of the executions: one that the host interrupts counts."""
        before = (self.kernels(), self.ours())
        self.run_workload("ping_pong", "--count", 200_000)
        after = (self.kernels(), self.ours())
        for name in ("on_sched_switch", "on_sched_waking"):
            (runs, seconds), (our_runs, our_seconds) = (
                [now - then for now, then in zip(later[name], earlier[name])]
                for later, earlier in zip(after, before))
            error = 5 / (runs / 1024)**0.5
            self.expect_close(f"runs of {name}", runs, our_runs, error + 0.01)
            self.expect_at_least(f"seconds of {name}", seconds * (0.7 - error), our_seconds)
            self.expect_at_most(f"seconds of {name}", seconds * (1 + error) + runs * HOST,
                                our_seconds)
        self.expect_at_least("overhead", 0.001, self.daemon.scrape().value("offcpud_overhead_ratio"))


if __name__ == "__main__":
    main()
