// SPDX-License-Identifier: Apache-2.0
#include "selection/process_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr uid_t kNobody = 65534;

// Root may read everything, so the test is somebody else meanwhile.
class AsNobody {
 public:
  AsNobody() : user_(::geteuid()) {
    if (user_ == 0) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (user_ == 0) {
      EXPECT_EQ(::seteuid(user_), 0);
    }
  }

 private:
  uid_t user_;
};

class ProcessRulesTest : public ::testing::Test {
 protected:
  void runs(std::uint32_t pid, const std::string& exe) {
    const std::string folder = std::to_string(pid) + "/";
    proc_.put({{folder}});
    proc_.put_link(folder + "exe", exe);
  }
  static ProcessRow process(std::uint32_t pid, std::string comm, const std::string& cgroup) {
    ProcessRow row;
    row.pid = pid;
    row.comm = std::move(comm);
    row.labels = std::make_shared<const SubjectLabels>(labels_of_cgroup(cgroup));
    return row;
  }
  bool match(std::vector<ProcessRule> rules, const ProcessRow& row) {
    auto choice = process_choice(
        {.rules = std::move(rules)}, [this](const Error& error) { told_.push_back(error); },
        proc_.root());
    if (!choice) {
      ADD_FAILURE() << choice.error().message();
      return false;
    }
    return (*choice)(row);
  }

  TempTree proc_;
  std::vector<Error> told_;
};

TEST_F(ProcessRulesTest, EveryTextMustMatchWhole) {
  const ProcessRow nginx = process(5, "nginx", "/system.slice/nginx.service");
  EXPECT_TRUE(match({{.comm = "nginx"}}, nginx));
  EXPECT_TRUE(match({{.comm = "ng.*"}}, nginx));
  EXPECT_FALSE(match({{.comm = "ngin"}}, nginx));
  EXPECT_TRUE(match({{.unit = "nginx\\.service"}}, nginx));
  EXPECT_TRUE(match({{.cgroup = "/system.slice/.*"}}, nginx));
  EXPECT_FALSE(match({{.comm = "nginx", .cgroup = "/user.slice/.*"}}, nginx));
  EXPECT_TRUE(match({{.comm = "x"}, {.comm = "nginx"}}, nginx));
}

TEST_F(ProcessRulesTest, TheProgramIsReadFromProc) {
  runs(5, "/usr/sbin/nginx");
  runs(6, "/opt/old (deleted)");
  EXPECT_TRUE(match({{.exe = "/usr/.*/nginx"}}, process(5, "worker", "/")));
  EXPECT_FALSE(match({{.exe = "nginx"}}, process(5, "worker", "/")));
  EXPECT_TRUE(match({{.exe = "/opt/old"}}, process(6, "worker", "/")));
  EXPECT_FALSE(match({{.exe = ".*"}}, process(7, "gone", "/")));
  ProcessRow kernel = process(5, "kworker", "/");
  kernel.kernel_thread = true;
  EXPECT_FALSE(match({{.exe = ".*"}}, kernel));
  EXPECT_TRUE(told_.empty());
}

TEST_F(ProcessRulesTest, AProgramThatMayNotBeReadMatchesNothingAndIsToldOnce) {
  for (const std::uint32_t pid : {5U, 6U}) {
    runs(pid, "/bin/x");
    proc_.set_mode(std::to_string(pid), 0);
  }
  auto choice = process_choice(
      {.rules = {{.exe = ".*"}}}, [this](const Error& error) { told_.push_back(error); },
      proc_.root());
  ASSERT_TRUE(choice);
  {
    const AsNobody nobody;
    EXPECT_FALSE((*choice)(process(5, "a", "/")));
    EXPECT_FALSE((*choice)(process(6, "b", "/")));
  }
  for (const char* pid : {"5", "6"}) proc_.set_mode(pid, 0700);
  ASSERT_THAT(told_, SizeIs(1));
  EXPECT_EQ(told_[0].kind(), ErrorKind::Permission);
  EXPECT_THAT(told_[0].message(), HasSubstr("/5/exe"));
}

TEST_F(ProcessRulesTest, WithoutRulesThereIsNothingToAsk) {
  const auto choice = process_choice({}, {}, proc_.root());
  ASSERT_TRUE(choice);
  EXPECT_FALSE(*choice);
}

TEST_F(ProcessRulesTest, ABrokenExpressionIsAnError) {
  const auto choice = process_choice({.rules = {{.exe = "("}}}, {}, proc_.root());
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().message(), HasSubstr("is not a regular expression"));
}

}  // namespace
}  // namespace offcpud
