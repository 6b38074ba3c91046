# SPDX-License-Identifier: Apache-2.0
"""Goroutines that wait for each other: the kernel sees threads without work."""

import re
import subprocess
import time

from incident_case import ROWS, WITHIN, IncidentCase, main

# Six clients want a mutex that is held over a flush and 20 ms.
CHARGES = """
package main
import ("os"; "sync"; "time")
var mutex sync.Mutex
func chargeCard(journal *os.File) {
  mutex.Lock()
  defer mutex.Unlock()
  journal.WriteAt([]byte("charge"), 0)
  journal.Sync()
  time.Sleep(20 * time.Millisecond)
}
func client(journal *os.File) {
  for { chargeCard(journal) }
}
func main() {
  journal, err := os.Create("journal")
  if err != nil { panic(err) }
  for i := 0; i < 5; i++ { go client(journal) }
  client(journal)
}
"""


class Goroutines(IncidentCase):
    def test_3a_a_mutex_of_goroutines(self):
        go = self.need("golang-go", "go")
        program = self.folder / "charges"
        subprocess.run([go, "build", "-o", program, self.script("charges.go", CHARGES)], check=True,
                       capture_output=True, timeout=120, env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"})
        begin = time.monotonic()
        charges = self.run_in(self.unit("charges"), program)

        def first_lines():
            said = self.daemon.offcpuctl("goroutines", str(charges.pid)).splitlines()
            return [line.strip() for line in said if line.strip()][:ROWS]

        def names_the_mutex(lines):
            return (len(lines) == ROWS and re.match(r"charges \(process \d+, go", lines[0])
                    and re.match(r"[45] goroutines: ", lines[1]) and lines[3:] == ["sync.(*Mutex).lockSlow",
                                                                                  "main.chargeCard"])
        while not names_the_mutex(lines := first_lines()) and time.monotonic() - begin < WITHIN:
            time.sleep(0.5)
        print("\n".join(f"    | {line}" for line in lines), flush=True)
        self.say(names_the_mutex(lines), f"first {ROWS} lines of offcpuctl goroutines", "chargeCard wants the mutex",
                 f"after {time.monotonic() - begin:.1f} s")
        # Programs are looked at from the pass on that finds them, and told at the end of a window of 10 s.
        self.expect_why("charges", "goroutines of charges (pid ", "wait for a lock in main.chargeCard (",
                        unknown="Go does not note who holds its locks", begin=begin, within=30)
        # Threads of the runtime without work are not told as if they waited for a lock.
        rows = [" ".join(row.split()) for row in self.first_rows()[0]]
        self.say(not [row for row in rows if "charges" in row and " lock " in row], "rows of locks", "none of it", rows)


if __name__ == "__main__":
    main()
