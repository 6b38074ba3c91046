// SPDX-License-Identifier: Apache-2.0
// Reads `count` blocks of a file past the page cache. Truth: the program's own clock around the
// reads, and how often they gave up the CPU. Ends with status 77 where the file system has no
// O_DIRECT.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "workload.h"

using namespace workload;

namespace {

constexpr std::size_t kBlock = 64 * 1024;

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int count = options.number("count", 50);
  std::string path = options.text("directory", "/var/tmp") + "/offcpud-read-XXXXXX";
  options.done();

  const int written = ::mkstemp(path.data());
  if (written < 0) fail(path);
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  ::unlink(path.c_str());
  if (file < 0) return 77;
  const std::vector<char> block(kBlock, 'x');
  for (int i = 0; i < count; ++i) {
    if (::write(written, block.data(), kBlock) != static_cast<ssize_t>(kBlock)) fail("write");
  }
  if (::fsync(written) != 0) fail("fsync");
  void* target = std::aligned_alloc(4096, kBlock);

  static Waits waits;
  first_gate();
  const long before = voluntary_switches();
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<off_t>(i * kBlock);
    if (timed(waits, [&] { return ::pread(file, target, kBlock, at); }) <= 0) fail("pread");
  }
  const long waited = voluntary_switches() - before;

  Report report;
  report.add("disk", waits);
  report.add("disk_switches", waited);
  report.second_gate();
}
