// SPDX-License-Identifier: Apache-2.0
// Writes a block and calls fsync, `count` times. Truth: the program's own clock around fsync, less
// what it ran meanwhile.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "workload.h"

using namespace workload;

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 50);
  std::string path = options.text("directory", "/var/tmp") + "/offcpud-fsync-XXXXXX";
  options.done();

  const int file = ::mkstemp(path.data());
  if (file < 0) fail(path);
  ::unlink(path.c_str());
  char block[4096];
  std::memset(block, 'x', sizeof block);
  static Waits waits;
  first_gate();
  for (int i = 0; i < count; ++i) {
    if (::write(file, block, sizeof block) < 0) fail("write");
    if (timed(waits, [&] { return ::fsync(file); }) != 0) fail("fsync");
  }

  Report report;
  report.add("disk", waits);
  report.second_gate();
}
