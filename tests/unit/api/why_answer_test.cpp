// SPDX-License-Identifier: Apache-2.0
#include "api/why_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/times.h"
#include "unit/why/inputs.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using test::HandMadeInputs;
using test::kNow;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using On = UnitPeer::On;

HandMadeInputs web_and_db() {
  HandMadeInputs host;
  host.waits("web.service", WaitFor::Answer, "http-client", 2, 0.1)
      .on("web.service", WaitFor::Answer, On::Unit, "db.service", 1.9, "postgres")
      .waits("db.service", WaitFor::Storage, "fsync", 1.5, 0.05)
      .on("db.service", WaitFor::Storage, On::Device, "vda", 1.5)
      .waits("pool.service", WaitFor::Work, "", 40);
  return host;
}

WhyAnswer whole(HandMadeInputs& host) {
  return why_answer(host.made(), kNow, {}, true, 5, true);
}

TEST(WhyText, TheFirstLinesSayWhoIsToBlame) {
  HandMadeInputs host = web_and_db();
  const std::string text = why_text(whole(host));
  EXPECT_THAT(
      text, StartsWith("web.service: 2.0 threads wait for an answer (http-client) of db.service "
                       "(postgres); meanwhile db.service waits for storage (fsync) on device vda; "
                       "who loads it is unknown, because this host counts no requests to it\n"
                       "left out as idle: 40 threads wait for work or a timer, 0 for their own "
                       "children (offcpuctl top --sort idle)\n"));
  EXPECT_THAT(text, HasSubstr("\nthreads on average, 10 s until 12:00:00 UTC, "));
}

TEST(WhyText, WhatNobodyCanTellSaysHowToSeeIt) {
  HandMadeInputs host = web_and_db();
  host.waits("web.service", WaitFor::Unknown, "", 3);
  EXPECT_THAT(why_text(whole(host)),
              HasSubstr("; of 3.0 nobody can tell what for (offcpuctl top --sort unknown)\n"));
}

// The end of what is known, which may be some seconds ago, and how long it was.
TEST(WhyText, OneLineSaysOfWhatTimeItIs) {
  HandMadeInputs host = web_and_db();
  host.inputs.sites.age_seconds = 4;
  host.inputs.cpus.seconds = 14.2;
  EXPECT_THAT(why_text(whole(host)),
              HasSubstr("\nthreads on average, 10 s until 11:59:56 UTC (CPUs: 14 s until "
                        "12:00:00), their standard error, "));
}

TEST(WhyText, WhatIsOverIsNotToldAsIfItLasted) {
  HandMadeInputs host = web_and_db();
  host.over("web.service", WaitFor::Answer).over("db.service", WaitFor::Storage);
  const std::string text = why_text(whole(host));
  EXPECT_THAT(text, StartsWith("nobody waits for a lock, an answer, storage, memory or a CPU (0 "
                               "threads on average)\nweb.service, until at most 12 s ago: 2.0 "
                               "threads waited for an answer (http-client) of db.service"));
  EXPECT_THAT(text, HasSubstr("\nweb.service: 2.0 threads waited for something that can be acted "
                              "on, "));
  EXPECT_THAT(text, HasSubstr("  for an answer, until at most 12 s ago\n"));
}

TEST(WhyText, EachNodeHasAmountErrorAndShareAndEachUnitACommandThatShowsMore) {
  HandMadeInputs host = web_and_db();
  const std::string text =
      why_text(why_answer(host.made(), kNow, {"web.service", "db.service"}, false, 5, true));
  EXPECT_THAT(text, HasSubstr("     2.0 ± 0.10     100 %  for an answer\n"));
  EXPECT_THAT(text, HasSubstr("     1.9             95 %    db.service (postgres)\n"));
  EXPECT_THAT(text, HasSubstr("\n  more: offcpuctl snapshot 10 --cgroup web.service --for answer; "
                              "offcpuctl why db.service\n"));
  EXPECT_THAT(text,
              HasSubstr("\n  more: offcpuctl snapshot 10 --cgroup db.service --for storage\n"));
  std::size_t commands = 0;
  for (std::size_t at = 0; (at = text.find("offcpuctl snapshot", at)) != std::string::npos; ++at) {
    ++commands;
  }
  EXPECT_EQ(commands, 2U) << "once for each unit";
  EXPECT_THAT(text, HasSubstr("unknown, because the other end was not seen"));
  EXPECT_THAT(text, HasSubstr("at http-client 2.0\n"));
  EXPECT_THAT(text, HasSubstr("device vda"));
}

TEST(WhyText, SaysThatNobodyWaits) {
  HandMadeInputs host;
  host.waits("pool.service", WaitFor::Work, "", 40);
  EXPECT_THAT(why_text(whole(host)),
              StartsWith("nobody waits for a lock, an answer, storage, memory or a CPU (0 threads "
                         "on average)\nleft out as idle: 40 threads"));
  EXPECT_THAT(
      why_text(why_answer(host.made(), kNow, {"pool.service"}, false, 5, true)),
      StartsWith("pool.service: no thread waits for a lock, an answer, storage, memory or a "
                 "CPU (0 threads on average)\n"));
  HandMadeInputs blind;
  blind.inputs.sites = {.rows = {}, .missing = "stacks are not sampled"};
  EXPECT_THAT(why_text(whole(blind)),
              StartsWith("what threads wait for is unknown, because stacks are not sampled\n"));
}

// They may be stuck all the same.
TEST(WhyText, WhereNobodyCanTellWhatAUnitWaitsForThatIsItsFirstLine) {
  HandMadeInputs host;
  host.waits("pool.service", WaitFor::Work, "", 40).waits("pool.service", WaitFor::Unknown, "", 3);
  const auto text = [&](const std::string& unit) {
    return why_text(why_answer(host.made(), kNow, {unit}, false, 5, true));
  };
  EXPECT_THAT(
      text("pool.service"),
      StartsWith("pool.service: no thread waits for a lock, an answer, storage, memory or a "
                 "CPU (0 threads on average); of 3.0 threads that wait nobody can tell what "
                 "for: offcpuctl snapshot 10 --cgroup pool.service --for unknown\n"));
  host.inputs.sites.rows.back().lasting = 2;
  host.inputs.sites.rows.back().oldest.ns = 34'000'000'000;
  EXPECT_THAT(text("pool.service"), HasSubstr("; of 3.0 threads that wait nobody can tell what for "
                                              "(2 now, the longest for 34 s): offcpuctl snapshot"));
  host.over("pool.service", WaitFor::Unknown);
  EXPECT_THAT(text("pool.service"), HasSubstr("; of 3.0 threads that waited nobody can tell what "
                                              "for: offcpuctl snapshot"));
  host.waits("a b.service", WaitFor::Unknown, "", 1);
  EXPECT_THAT(text("a b.service"), HasSubstr("nobody can tell what for: offcpuctl top --sort "
                                             "unknown\n"))
      << "a shell would take the name for two words";
  host.waits("quiet.service", WaitFor::Unknown, "", 0.04);
  EXPECT_THAT(text("quiet.service"), HasSubstr(" (0 threads on average)\n"));
}

// Three convoys, each larger than four times what is stuck.
TEST(WhyText, WhatIsStuckIsAmongTheFirstHoweverLargeTheOthersAre) {
  HandMadeInputs host;
  for (const char* unit : {"a", "b", "c", "d"}) host.waits(unit, WaitFor::Lock, "mutex", 8);
  host.waits("stuck", WaitFor::Lock, "mutex", 1);
  host.inputs.sites.rows.back().lasting = 1;
  host.inputs.sites.rows.back().oldest.ns = 34'000'000'000;
  const auto units = [&](std::size_t limit) {
    const WhyAnswer answer = why_answer(host.made(), kNow, {}, true, limit, true);
    std::string told;
    for (const WhyVerdict& verdict : answer.verdicts) told += verdict.unit + " ";
    return told + std::to_string(answer.more_units);
  };
  EXPECT_EQ(units(3), "a b stuck 2");
  EXPECT_EQ(units(5), "a b c d stuck 0");
  EXPECT_EQ(units(1), "a 4");
}

TEST(WhyText, NamesOfOthersAreNotObeyedByATerminal) {
  HandMadeInputs host;
  host.waits("/a\n\x1b[31m", WaitFor::Answer, "", 1)
      .on("/a\n\x1b[31m", WaitFor::Answer, On::Unit, "/b\nc", 1, "p\nq");
  const std::string text = why_text(whole(host));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("/a\\x0a\\x1b[31m: 1.0 threads wait for an answer of /b\\x0ac"));
  EXPECT_THAT(text, Not(HasSubstr("offcpuctl snapshot 10 --cgroup /a")));
}

TEST(WhyJson, HasVerdictsTreesAndGraph) {
  HandMadeInputs host = web_and_db();
  const json answer = json::parse(why_json(whole(host)));
  ASSERT_THAT(answer["verdicts"], SizeIs(1));
  const json& verdict = answer["verdicts"][0];
  EXPECT_EQ(verdict["unit"], "web.service");
  EXPECT_EQ(verdict["for"], "answer");
  EXPECT_EQ(verdict["culprit"], "vda");
  EXPECT_EQ(verdict["culprit_attributed"], false);
  EXPECT_EQ(verdict["over"], false);
  EXPECT_EQ(verdict["over_within_seconds"], nullptr);
  ASSERT_THAT(verdict["hops"], SizeIs(3));
  EXPECT_EQ(verdict["hops"][1]["name"], "db.service");
  EXPECT_EQ(verdict["hops"][1]["attributed"], false);
  EXPECT_EQ(verdict["hops"][2]["kind"], "device");
  EXPECT_EQ(verdict["hops"][2]["end"], true);
  EXPECT_EQ(verdict["parts"][0]["unit"], "web.service");
  EXPECT_EQ(verdict["parts"][1]["text"], ": 2.0 threads wait for an answer (http-client) of ");
  EXPECT_EQ(verdict["parts"][2]["unit"], "db.service");
  const json& cause = answer["units"][0]["causes"][0];
  EXPECT_EQ(cause["for"], "answer");
  EXPECT_DOUBLE_EQ(cause["seconds"], 20);
  EXPECT_DOUBLE_EQ(cause["share"], 1);
  EXPECT_NEAR(cause["error"].get<double>(), 0.1, 1e-9);
  EXPECT_EQ(cause["evidence"], "offcpuctl snapshot 10 --cgroup web.service --for answer");
  EXPECT_EQ(cause["parts"][0]["evidence"], "offcpuctl why db.service");
  EXPECT_EQ(answer["graph"]["edges"][0]["to"], "db.service");
  EXPECT_THAT(answer["graph"]["nodes"], SizeIs(3));
  EXPECT_EQ(answer["sources"]["peers"]["missing"], nullptr);
}

// Whose name is not in the sentence.
TEST(WhyJson, WhatBelongsToNoUnitIsALinkWithWords) {
  HandMadeInputs host;
  host.waits("no unit (/)", WaitFor::Lock, "mutex", 2);
  const json answer = json::parse(why_json(whole(host)));
  EXPECT_EQ(answer["units"][0]["unit"], "no unit (/)");
  const json& parts = answer["verdicts"][0]["parts"];
  EXPECT_EQ(parts[0]["unit"], "no unit (/)");
  EXPECT_EQ(parts[0]["text"], "processes outside of all units");
  EXPECT_THAT(parts[1]["text"].get<std::string>(),
              StartsWith(": 2.0 threads wait for a lock (mutex); "));
  EXPECT_THAT(why_text(whole(host)),
              HasSubstr("\nprocesses outside of all units: 2.0 threads wait for something that can "
                        "be acted on, "));
}

TEST(WhyJson, SaysWhatIsOver) {
  HandMadeInputs host = web_and_db();
  host.over("web.service", WaitFor::Answer);
  const json answer = json::parse(why_json(whole(host)));
  ASSERT_THAT(answer["verdicts"], SizeIs(2));
  EXPECT_EQ(answer["verdicts"][0]["unit"], "db.service") << "what lasts comes first";
  EXPECT_EQ(answer["verdicts"][1]["over"], true);
  EXPECT_EQ(answer["verdicts"][1]["over_within_seconds"], 12);
  EXPECT_EQ(answer["verdicts"][1]["hops"][1]["over"], true);
  EXPECT_EQ(answer["units"][1]["causes"][0]["over"], true);
  EXPECT_DOUBLE_EQ(answer["units"][1]["over"], 2);
  EXPECT_DOUBLE_EQ(answer["total"]["over"], 2);
}

TEST(WhyJson, OfAProcessTheCommandsNameIt) {
  const Cause cause{.kind = Cause::Kind::For, .for_kind = 0};
  EXPECT_EQ(evidence_for("python3 (pid 812)", cause), "offcpuctl snapshot 10 --pid 812 --for lock");
  EXPECT_EQ(evidence_for("no unit (/)", cause), "");
}

}  // namespace
}  // namespace offcpud
