// SPDX-License-Identifier: Apache-2.0
// Creates `count` cgroups below `parent`, one after the other, each with a process that sleeps `us`
// in it, and removes them. Truth: one sleep of that length in each. `name` is the start of their
// names; `pause_us` waits between them; `keep_name` = 1 uses one name for all.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

void live_once(const std::string& path, int us) {
  if (::mkdir(path.c_str(), 0755) != 0) fail("mkdir " + path);
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    enter_cgroup(path);
    const timespec nap{us / 1'000'000, us % 1'000'000 * 1000L};
    ::nanosleep(&nap, nullptr);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  while (::rmdir(path.c_str()) != 0) {  // the last steps of an exit may still be under way
    if (errno != EBUSY) fail("rmdir " + path);
    sleep_ns(100'000);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string parent = options.text("parent", ""), name = options.text("name", "short-");
  const int count = options.number("count", 100), us = options.number("us", 1'000);
  const int pause_us = options.number("pause_us", 0), keep_name = options.number("keep_name", 0);
  options.done();

  first_gate();
  for (int i = 0; i < count; ++i) {
    live_once(parent + "/" + name + (keep_name ? "same" : std::to_string(i)), us);
    if (pause_us) sleep_ns(pause_us * 1000LL);
  }
  Report report;
  report.add("cgroups", count);
  report.second_gate();
}
