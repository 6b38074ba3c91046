// SPDX-License-Identifier: Apache-2.0
#include "runtime/guarded_init.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "runtime/privileges.h"
#include "support/temp_tree.h"

namespace offcpud {
namespace {

namespace fs = std::filesystem;

std::string status_of(int voluntary, int involuntary) {
  return "Name:\tinit\nvoluntary_ctxt_switches:\t" + std::to_string(voluntary) +
         "\nnonvoluntary_ctxt_switches:\t" + std::to_string(involuntary) + "\n";
}

TEST(GuardedInit, ExplainsTwoEventsForEachSwitchOfItsThreads) {
  TempTree proc{{"1/task/1/status", status_of(1'000, 500)}, {"1/task/9/status", status_of(7, 0)}};
  GuardedInit init(proc.root());
  EXPECT_EQ(init.explained(3), 3U) << "a switch may be under way";
  EXPECT_EQ(init.explained(1'000), 4U) << "earlier switches explain nothing";
  proc.put({{"1/task/1/status", status_of(1'010, 505)}});
  EXPECT_EQ(init.explained(30), 30U);
  EXPECT_EQ(init.explained(1'000), 34U);
  proc.put({{"1/task/10/status", status_of(5, 0)}});
  EXPECT_EQ(init.explained(1'000), 44U) << "a new thread counts from its start";
  fs::remove_all(proc.root() / "1/task/1");
  EXPECT_EQ(init.explained(1'000), 44U) << "what an ended thread did stays";
}

TEST(GuardedInit, ExplainsNoMoreThanTheEdgesWhereItCannotBeRead) {
  const TempTree proc;
  GuardedInit init(proc.root());
  EXPECT_EQ(init.explained(1'000), 4U);
}

// Compared with what this process may read itself.
TEST(GuardedInit, IsFoundOnlyWhereRootMayNotSeeProcess1) {
  if (!has_capability(Capability::SysPtrace)) GTEST_SKIP() << "needs CAP_SYS_PTRACE";
  std::error_code failed;
  (void)fs::read_symlink("/proc/1/exe", failed);
  EXPECT_EQ(GuardedInit::find().has_value(), failed == std::errc::permission_denied);
}

}  // namespace
}  // namespace offcpud
