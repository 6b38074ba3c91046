// SPDX-License-Identifier: Apache-2.0
#include "runtime/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "base/unique_handle.h"
#include "runtime/logging.h"

namespace offcpud {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(JournalStream, IsTheOneWithTheSameDeviceAndInode) {
  const UniqueFd fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  const std::string same = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  EXPECT_TRUE(is_journal_stream(fd.get(), same.c_str()));
  EXPECT_FALSE(is_journal_stream(fd.get(), (same + "0").c_str()));
}

TEST(JournalStream, NoVariableOrNoDescriptorMeansNoJournal) {
  EXPECT_FALSE(is_journal_stream(STDERR_FILENO, nullptr));
  EXPECT_FALSE(is_journal_stream(STDERR_FILENO, ""));
  EXPECT_FALSE(is_journal_stream(-1, "1:2"));
}

TEST(JournalEntry, CarriesPriorityIdentifierAndOwnFields) {
  EXPECT_THAT(journal_entry(4, "map full", {{kMessageId, "0123"}, {"map_name", "hists"}}),
              ElementsAre("MESSAGE=map full", "PRIORITY=4", "SYSLOG_IDENTIFIER=offcpud",
                          "MESSAGE_ID=0123", "OFFCPUD_MAP_NAME=hists"));
}

TEST(JournalEntry, KeepsLinesAndZeroBytesInTheMessage) {
  const std::string message("two\nlines\0end", 13);
  EXPECT_EQ(journal_entry(6, message, {}).front(), "MESSAGE=" + message);
}

TEST(Logging, KnowsTheLevelsByName) {
  EXPECT_EQ(parse_log_level("warning"), LogLevel::Warning);
  EXPECT_EQ(parse_log_level("trace"), LogLevel::Trace);
  EXPECT_EQ(parse_log_level("warn"), std::nullopt);
  EXPECT_EQ(parse_log_level(""), std::nullopt);
}

TEST(Logging, WritesTimeLevelMessageAndFieldsToStandardError) {
  testing::internal::CaptureStderr();
  init_logging(LogLevel::Info);
  log_warning("map {} full", {{kMessageId, "0123"}, {"map", "hists"}});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_THAT(line, EndsWith("warning map {} full map=hists\n"));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

TEST(Logging, ATerminalDoesNotRepeatWhatTheMessageSays) {
  testing::internal::CaptureStderr();
  init_logging(LogLevel::Info);
  log_info("map hists is full", {{"map", "hists"}, {"entries", "17"}});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), EndsWith("map hists is full entries=17\n"));
}

TEST(Logging, TheLevelChangesAtRunTime) {
  testing::internal::CaptureStderr();
  init_logging(LogLevel::Error);
  log_info("hidden");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  testing::internal::CaptureStderr();
  set_log_level(LogLevel::Debug);
  log_debug("shown");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("shown"));
}

TEST(Logging, ARepeatedWarningIsOneLine) {
  testing::internal::CaptureStderr();
  init_logging(LogLevel::Info);
  for (int i = 0; i < 100; ++i) log_warning_limited("test", "again");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

}  // namespace
}  // namespace offcpud
