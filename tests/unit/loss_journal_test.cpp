// SPDX-License-Identifier: Apache-2.0
#include "loss_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_tree.h"

namespace offcpud {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// A directory like /proc whose process 1 has switched so often.
class LossJournalTest : public testing::Test {
 protected:
  LossJournalTest() { switch_to(100); }
  void switch_to(int switches) {
    proc_.put(
        {{"1/task/1/status", "Name:\tinit\nvoluntary_ctxt_switches:\t" + std::to_string(switches) +
                                 "\nnonvoluntary_ctxt_switches:\t7\n"}});
  }
  std::vector<std::string> texts(const std::vector<LossCount>& losses) {
    std::vector<std::string> texts;
    for (const auto& line : journal_.lines(losses)) texts.push_back(line.text);
    return texts;
  }

  TempTree proc_;
  LossJournal journal_;
};

TEST_F(LossJournalTest, EachIncreaseIsALineThatNamesADocument) {
  EXPECT_THAT(texts({{"missed_switch", 0}, {"sample_lost", 0}}), IsEmpty());
  EXPECT_THAT(
      texts({{"missed_switch", 1}, {"sample_lost", 0}}),
      testing::ElementsAre(
          "the kernel side has lost 1 event so far, cause missed_switch: docs/semantics.md, "
          "\"What is missing, and how one knows\", or man offcpud-metrics, says what that "
          "does to the numbers"));
  EXPECT_THAT(texts({{"missed_switch", 2}, {"sample_lost", 1}}), SizeIs(2));
  EXPECT_EQ(journal_.of_guard(), 0U);
}

TEST_F(LossJournalTest, WhatAGuardedProcess1ExplainsIsToldOnce) {
  journal_.set_guarded(GuardedInit(proc_.root()));
  switch_to(120);
  const auto first = texts({{"missed_switch", 30}, {"missed_wakeup", 2}});
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_THAT(first[0], AllOf(HasSubstr("has lost 30 events so far, cause missed_switch: process 1 "
                                        "of this host is guarded"),
                              HasSubstr("docs/kernel-support.md, \"Losses to expect\"")));
  EXPECT_EQ(journal_.of_guard(), 32U);
  EXPECT_THAT(texts({{"missed_switch", 31}, {"missed_wakeup", 3}}), IsEmpty());
}

TEST_F(LossJournalTest, WhatItDoesNotExplainIsToldAsEver) {
  journal_.set_guarded(GuardedInit(proc_.root()));
  switch_to(120);
  (void)texts({{"missed_switch", 30}});
  const auto other = texts({{"missed_switch", 31}, {"sample_lost", 5}});
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_THAT(other[0], HasSubstr("cause sample_lost: docs/semantics.md"));
  const auto more = texts({{"missed_switch", 500}, {"sample_lost", 5}});
  ASSERT_THAT(more, SizeIs(1)) << "20 switches do not explain 500";
  EXPECT_THAT(more[0], HasSubstr("cause missed_switch: docs/semantics.md"));
  EXPECT_EQ(journal_.of_guard(), 44U);
}

}  // namespace
}  // namespace offcpud
