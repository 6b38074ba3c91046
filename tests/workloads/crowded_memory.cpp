// SPDX-License-Identifier: Apache-2.0
// `processes` processes with `mappings` mappings of one page of a file each, every other one of
// them executable so that no two merge: they sleep in blocks of `ms` for `seconds`. As user `uid`;
// -1: whoever runs it. With --remap N every process maps and unmaps N times in between, too. Truth:
// how many mappings there are, and how long all of it took.
#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers)
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "workload.h"

using namespace workload;

namespace {

constexpr std::size_t kPage = 4096;

int open_file() {
  char path[] = "/tmp/offcpud-crowd-XXXXXX";
  const int fd = ::mkstemp(path);
  if (fd < 0 || ::unlink(path) != 0 || ::ftruncate(fd, 2 * kPage) != 0) fail("make a file");
  return fd;
}

void map_pages(int fd, int mappings) {
  for (int i = 0; i < mappings; ++i) {
    const int protection = i % 2 == 0 ? PROT_READ | PROT_EXEC : PROT_READ;
    if (::mmap(nullptr, kPage, protection, MAP_PRIVATE, fd, 0) == MAP_FAILED) fail("mmap");
  }
}

void remap(int fd, int times) {
  for (int i = 0; i < times; ++i) {
    void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED) fail("mmap");
    ::munmap(page, kPage);
  }
}

void sleep_in_blocks(int fd, int seconds, int ms, int remaps) {
  const std::int64_t end = now_ns() + seconds * 1'000'000'000LL;
  while (now_ns() < end) {
    remap(fd, remaps);
    sleep_ns(ms * 1'000'000LL);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int processes = options.number("processes", 41),
            mappings = options.number("mappings", 60'000);
  const int seconds = options.number("seconds", 40), ms = options.number("ms", 50);
  const int uid = options.number("uid", -1), remaps = options.number("remap", 0);
  options.done();

  const int fd = open_file();
  if (uid >= 0 && (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0))
    fail("setresuid");
  first_gate();
  map_pages(fd, mappings);
  for (int i = 1; i < processes; ++i) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child != 0) continue;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a tester that gives up ends the first one only
    sleep_in_blocks(fd, seconds, ms, remaps);
    ::_exit(0);
  }
  sleep_in_blocks(fd, seconds, ms, remaps);
  while (::wait(nullptr) > 0) {
  }
  Report report;
  report.add("mappings", processes * static_cast<std::int64_t>(mappings));
  report.second_gate();
}
