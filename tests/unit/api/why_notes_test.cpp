// SPDX-License-Identifier: Apache-2.0
#include "api/why_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/times.h"
#include "unit/why/inputs.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::HandMadeInputs;
using test::kNow;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using On = UnitPeer::On;

// So many units that wait for a lock.
HandMadeInputs units_waiting(int units) {
  HandMadeInputs host;
  for (int i = 0; i < units; ++i) host.waits("u" + std::to_string(i), WaitFor::Lock, "mutex", 1);
  return host;
}

TEST(WhyNotes, UnitsThatAreLeftOutAreCounted) {
  const auto note = [](int units, std::size_t limit) {
    HandMadeInputs host = units_waiting(units);
    return notes_text(why_answer(host.made(), kNow, {}, true, limit, true));
  };
  EXPECT_EQ(note(3, 3), "");
  EXPECT_EQ(note(4, 3), "1 more unit: offcpuctl why\n");
  EXPECT_EQ(note(5, 3), "2 more units: offcpuctl why\n");
  EXPECT_EQ(note(7, 3), "4 more units: offcpuctl why --limit 7\n");
  HandMadeInputs host = units_waiting(7);
  const auto answer =
      nlohmann::json::parse(why_json(why_answer(host.made(), kNow, {}, true, 3, true)));
  EXPECT_EQ(answer["more_units"], 4);
  EXPECT_THAT(answer["verdicts"], SizeIs(3));
  EXPECT_EQ(notes_text(why_answer(host.made(), kNow, {"u1", "u2", "u3"}, false, 2, true)),
            "1 more unit (--limit)\n");
}

// A unit with two verdicts is one, and is not left out if one of them is told.
TEST(WhyNotes, AUnitThatIsToldIsNotLeftOut) {
  HandMadeInputs host = units_waiting(1);
  host.waits("u0", WaitFor::Storage, "fsync", 0.9);
  EXPECT_EQ(notes_text(why_answer(host.made(), kNow, {}, true, 1, true)), "");
}

TEST(WhyNotes, WhoWaitsForTheUnitIsToldWithTheCommand) {
  HandMadeInputs host;
  host.waits("nc-backup.service", WaitFor::Lock, "file-lock", 0.9)
      .on("nc-backup.service", WaitFor::Lock, On::Unit, "nc-cleaner.service", 0.9)
      .cpu("nc-cleaner.service", 0.1);
  const WhyAnswer answer = why_answer(host.made(), kNow, {"nc-cleaner.service"}, false, 5, true);
  EXPECT_EQ(
      notes_text(answer),
      "nc-backup.service waits for nc-cleaner.service: 0.90 threads for a lock (offcpuctl why "
      "nc-backup.service)\n");
  EXPECT_THAT(why_text(answer),
              HasSubstr("no thread waits for a lock, an answer, storage, memory or "
                        "a CPU (0 threads on average)\nnc-backup.service waits "));
  EXPECT_THAT(why_text(answer),
              HasSubstr("\nnc-cleaner.service: 0 threads wait for something that can be acted on"));
}

TEST(WhyNotes, OfManyWhoWaitForTheUnitTheFirstAreTold) {
  HandMadeInputs host = units_waiting(5);
  for (int i = 0; i < 5; ++i) host.on("u" + std::to_string(i), WaitFor::Lock, On::Unit, "db", 1);
  EXPECT_THAT(notes_text(why_answer(host.made(), kNow, {"db"}, false, 5, true)),
              HasSubstr("\nand 2 more waits of others: offcpuctl why\n"));
}

TEST(WhyNotes, LessThanWasAskedForIsSaid) {
  HandMadeInputs host = units_waiting(1);
  host.inputs.sites.seconds = 597;
  WhyAnswer answer = why_answer(host.made(), kNow, {}, true, 5, true);
  answer.asked = 2h;
  EXPECT_EQ(notes_text(answer),
            "of the 2 h asked for, only the last 9 min 57 s are kept here; longer ago: offcpuctl "
            "flame --last 2h -o waits.html\n");
  answer.asked = 10min;
  EXPECT_THAT(notes_text(answer), HasSubstr("of the 10 min asked for, only the last 9 min 57 s"));
  answer.asked = 597s;
  EXPECT_EQ(notes_text(answer), "");
  answer.inputs.sites.seconds = 6;
  answer.asked = 20s;
  EXPECT_EQ(notes_text(answer), "") << "the default, soon after the start";
}

}  // namespace
}  // namespace offcpud
