// SPDX-License-Identifier: Apache-2.0
// Units that wait for others, which wait for a CPU meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/why/hosts.h"
#include "why/cause_parts.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::sentence;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using By = UnitTaker::By;
using End = UnitChain::End;
using On = UnitPeer::On;

// Of 10 threads that wait for tier2 as many wait for one that is queued.
HandMadeInputs behind_a_hog(double queued, double error = 0) {
  HandMadeInputs host;
  host.waits("front", WaitFor::Answer, "", 10)
      .on("front", WaitFor::Answer, On::Unit, "tier2", 10)
      .during("front", WaitFor::Answer, "tier2", {}, End::OnCpu, 10 - queued)
      .during("front", WaitFor::Answer, "tier2", {}, End::Queued, queued, error)
      .taken("tier2", By::Unit, "batch-etl", 0.83)
      .taken("tier2", By::Same, "", 0.1)
      .taken("tier2", By::Idle, "", 0.07);
  return host;
}

constexpr const char* kBehind =
    ", mostly behind batch-etl (83 % of all its waits for one in this "
    "window)";

const Cause* cpu_part(const Cause& node) {
  const auto found = std::ranges::find_if(node.parts, [](const Cause& part) {
    return part.kind == Cause::Kind::For && part.for_kind == kForCpu;
  });
  return found != node.parts.end() ? &*found : nullptr;
}

TEST(QueuedChains, ArePartsOfTheTree) {
  HandMadeInputs host = behind_a_hog(1.7, 0.2);
  const UnitCauses tree = causes_of(host.made(), "front");
  const Cause& tier2 = tree.causes.at(0).parts.at(0);
  ASSERT_EQ(tier2.parts.size(), 2U);
  EXPECT_EQ(tier2.parts[0].kind, Cause::Kind::Runs);
  EXPECT_EQ(tier2.parts[0].because, "") << "it had a CPU";
  EXPECT_NEAR(tier2.parts[0].threads, 8.3, 1e-9);
  const Cause* const queued = cpu_part(tier2);
  ASSERT_NE(queued, nullptr);
  EXPECT_EQ(queued->of, "tier2");
  EXPECT_NEAR(queued->threads, 1.7, 1e-9);
  EXPECT_NEAR(queued->error, 0.2, 1e-9);
  EXPECT_EQ(queued->because,
            "mostly behind batch-etl (83 % of all its waits for one in this window)");
  EXPECT_TRUE(queued->parts.empty()) << "nobody knows who had it at these moments";
}

TEST(QueuedChains, AreToldBesideWhatRuns) {
  HandMadeInputs host = behind_a_hog(1.7);
  EXPECT_THAT(
      sentence(host, "front"),
      EndsWith(std::string("; 83 % of that time tier2 runs, 17 % waits for a CPU") + kBehind));
}

TEST(QueuedChains, AreNotToldIfTheyAreShortOrNotSure) {
  HandMadeInputs little = behind_a_hog(0.4);
  EXPECT_THAT(sentence(little, "front"), EndsWith("; 96 % of that time tier2 runs"));
  HandMadeInputs unsure = behind_a_hog(1.7, 1);
  EXPECT_THAT(sentence(unsure, "front"), EndsWith("; 83 % of that time tier2 runs"));
}

TEST(QueuedChains, WhoHasTheCpuIsTheCulpritButNothingIsAttributed) {
  HandMadeInputs host = behind_a_hog(8);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith(std::string("; 80 % of that time tier2 waits for a CPU") + kBehind));
  WhyUnits units(host.made());
  const WhyVerdict verdict = verdict_of(units, "front");
  EXPECT_EQ(verdict.culprit, "batch-etl");
  EXPECT_FALSE(verdict.attributed);
  const WhyHop& taker = verdict.path.hops.back();
  EXPECT_NEAR(taker.share, 0.83, 1e-9);
  EXPECT_NEAR(taker.threads, 0.83, 1e-9);
}

TEST(QueuedChains, WhoHadLessThanHalfIsNotNamed) {
  HandMadeInputs host = behind_a_hog(8);
  host.taken("tier2", By::Unit, "backup", 0.8);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("; 80 % of that time tier2 waits for a CPU; who has it is unknown, because "
                       "nobody had it for half of all such waits in this window"));
  const UnitCauses tree = causes_of(host.made(), "front");
  EXPECT_EQ(cpu_part(tree.causes.at(0).parts.at(0))->because, "");
}

TEST(QueuedChains, TheUnitItselfOrTheKernelMayHaveTheCpu) {
  HandMadeInputs own = behind_a_hog(8);
  own.taken("tier2", By::Same, "", 2);
  EXPECT_THAT(sentence(own, "front"), HasSubstr(", mostly behind its own threads (67 % of"));
  HandMadeInputs kernel = behind_a_hog(8);
  kernel.taken("tier2", By::Kernel, "", 2);
  EXPECT_THAT(sentence(kernel, "front"), HasSubstr(", mostly behind kernel threads (67 % of"));
}

TEST(QueuedChains, ALimitMayHoldTheUnitBack) {
  HandMadeInputs host = behind_a_hog(8);
  host.cpu("tier2", 0.2, 1, 3);
  EXPECT_THAT(sentence(host, "front"),
              EndsWith("tier2 waits for a CPU, mostly held back by its own limit, cpu.max (75 % of "
                       "all its waits for one in this window)"));
  host.taken("tier2", By::Kernel, "", 2.5);
  EXPECT_THAT(sentence(host, "front"), HasSubstr("; who has it is unknown")) << "none has half";
}

// What only samples tell may be either.
TEST(QueuedChains, SamplesDoNotTellThemApart) {
  HandMadeInputs host = behind_a_hog(1);
  host.during("front", WaitFor::Answer, "tier2", {}, End::Runs, 1);
  const Cause runs = causes_of(host.made(), "front").causes.at(0).parts.at(0).parts.at(0);
  EXPECT_EQ(runs.kind, Cause::Kind::Runs);
  EXPECT_NEAR(runs.threads, 10.0 * 10 / 11, 1e-9) << "both are one part";
  EXPECT_EQ(runs.because, "samples do not tell waits for a CPU apart");
  EXPECT_THAT(sentence(host, "front"),
              HasSubstr("; 91 % of that time tier2 runs or waits for a CPU, 9.1 % waits for a CPU, "
                        "mostly behind"));
}

TEST(QueuedChains, WhoHasALockMayBeQueued) {
  HandMadeInputs host;
  host.waits("shop", WaitFor::Lock, "mutex", 2)
      .on("shop", WaitFor::Lock, On::Unit, "shop", 2)
      .during("shop", WaitFor::Lock, "shop", {}, End::Queued, 2)
      .taken("shop", By::Unit, "batch-etl", 3);
  EXPECT_THAT(sentence(host, "shop"),
              HasSubstr("; for 100 % of their wait the thread that they wait for waits for a CPU, "
                        "mostly behind batch-etl (100 % of all its waits"));
}

}  // namespace
}  // namespace offcpud
