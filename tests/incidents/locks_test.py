# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for each other within one program: Python, Java, C, and vfork."""

import subprocess
import time

from incident_case import WORKLOADS, IncidentCase, main

# Whoever refreshes the rates holds the lock over a flush and a slow call.
PRICING = """
import os, threading, time
lock = threading.Lock()
def refresh_exchange_rates():
    while True:
        with lock:
            with open("rates", "w") as file:
                file.write("1")
                os.fsync(file.fileno())
            time.sleep(1.5)
        time.sleep(0.001)
def get_price():
    while True:
        with lock:
            pass
        time.sleep(0.01)
for name in (refresh_exchange_rates, get_price, get_price, get_price):
    threading.Thread(target=name).start()
"""

INVOICES = """
class Invoices {
  static synchronized void post() throws Exception { Thread.sleep(400); }
  public static void main(String[] none) throws Exception {
    for (int i = 0; i < 8; i++)
      new Thread(() -> { try { while (true) post(); } catch (Exception e) { } },
                 "invoice-worker-" + i).start();
    System.out.println("posting");
  }
}
"""


# No look can see it; or none has seen a wait that lasted.
NOBODY_HOLDS = ("nobody can see who holds a lock of its kind", "it is held by many in turn: ",
                "it was not looked at so far: ")


class Locks(IncidentCase):
    def test_2_python_lock_held_over_a_flush(self):
        python = self.need("python3", "/usr/bin/python3")
        unit = self.unit("pricing-py")
        self.run_in(unit, python, self.script("app.py", PRICING))
        self.expect_first(("pricing-py", "lock", "python-with-lock"))
        self.expect_why("pricing-py", "wait for a lock (python-with-lock)", culprit="of the same unit (python3, pid ",
                        unknown=NOBODY_HOLDS)

    def test_4b_java_monitor(self):
        java = self.need("default-jdk-headless", "java")
        unit = self.unit("invoices")
        program = self.run_in(unit, java, self.script("Invoices.java", INVOICES), stdout=subprocess.PIPE)
        self.assertEqual(program.stdout.readline(), b"posting\n")  # the compiler runs before
        begin = time.monotonic()
        self.expect_first(("invoices", "lock", "java-monitor"), begin=begin)
        self.expect_why("invoices", "wait for a lock (java-monitor)", unknown=NOBODY_HOLDS, begin=begin)

    def test_8a_deadlock(self):
        unit = self.unit("bank")
        self.run_in(unit, WORKLOADS / "deadlock")
        self.expect_first(("bank", "lock", "mutex"))
        self.expect_why("bank", "wait for a lock", culprit="(mutex) that thread ")
        # Two looks must agree, a window of 10 s apart.
        self.expect_why("bank", "wait for a lock", culprit="a deadlock", within=30)

    def test_8b_parent_of_a_vfork(self):
        unit = self.unit("runner")
        workload = self.start("stuck", "--kind", "vfork", "--ms", 40_000, cgroup=unit)
        workload.go()
        self.began = time.monotonic()
        self.expect_first(("runner", "answer", "vfork"))
        self.expect_why("runner", "wait for an answer", unknown="the other end was not seen")


if __name__ == "__main__":
    main()
