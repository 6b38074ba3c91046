# SPDX-License-Identifier: Apache-2.0
"""A unit that its own limit keeps off the CPU."""

import os

from incident_case import SLICE, IncidentCase, main
import host


class Cpu(IncidentCase):
    def test_5a_throttled_by_cpu_max(self):
        try:
            quota = host.CpuQuota(f"{SLICE}-quota".lstrip("/"), quota_us=20_000)
        except NotImplementedError as error:
            self.skipTest(str(error))
        self.addCleanup(quota.remove)
        unit = self.unit("report-gen")
        self.run_in(unit, "/bin/sh", "-c", "while :; do :; done", on_start=lambda: quota.apply(unit))
        self.expect_first(("report-gen", "cpu", "throttled"))
        self.expect_why("report-gen", "wait", "cpu.max", culprit="its own limit")

    def test_5b_a_neighbour_takes_the_cpu(self):
        batch, search = self.unit("batch-etl"), self.unit("search-api")
        loop = ("/bin/sh", "-c", "while :; do :; done")

        def on_one_cpu(nice):
            def enter():
                os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
                os.nice(nice)
            return enter
        self.run_in(batch, *loop, on_start=on_one_cpu(0))
        self.run_in(search, *loop, on_start=on_one_cpu(10))
        self.expect_why("search-api", "wait for a CPU", culprit="batch-etl.service has it")


if __name__ == "__main__":
    main()
