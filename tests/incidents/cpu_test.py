# SPDX-License-Identifier: Apache-2.0
"""A unit that its own limit keeps off the CPU."""

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


if __name__ == "__main__":
    main()
