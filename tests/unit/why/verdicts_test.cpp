// SPDX-License-Identifier: Apache-2.0
#include "why/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/why/hosts.h"
#include "why/wait_graph.h"

namespace offcpud {
namespace {

using test::HandMadeInputs;
using test::sentence;
using test::shop;
using test::step;
using test::units_told;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using On = UnitPeer::On;
using By = UnitTaker::By;

TEST(Verdicts, AChainNamesEachHopInOrder) {
  HandMadeInputs host = shop();
  EXPECT_EQ(sentence(host, "shopper"),
            "shopper: 1.0 threads wait for an answer of edge (nginx); meanwhile edge waits for an "
            "answer of app (python3); meanwhile app waits for an answer of queue (redis-server); "
            "meanwhile queue waits for work from worker (python3); meanwhile worker waits for an "
            "answer of orders-db (postgres); meanwhile orders-db sleeps (postgresql-sleep)");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "shopper").culprit, "orders-db");
}

// 10 threads of "web" wait for "app", which runs, waits for "db" or for a disk meanwhile.
HandMadeInputs tiers() {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 10)
      .on("web", WaitFor::Answer, On::Unit, "app", 10, "python3")
      .during("web", WaitFor::Answer, "app", {}, UnitChain::End::Runs, 1.8)
      .during("web", WaitFor::Answer, "app", {step(WaitFor::Answer, On::Unit, "db")},
              UnitChain::End::Runs, 6.3, 0.3)
      .during("web", WaitFor::Answer, "app",
              {step(WaitFor::Answer, On::Unit, "db"), step(WaitFor::Storage, On::Device, "vda")},
              UnitChain::End::Waits, 0.9)
      .waits("app", WaitFor::Answer, "", 30)  // of other clients
      .on("app", WaitFor::Answer, On::Unit, "mail", 30)
      .cpu("app", 1)
      .cpu("db", 1);
  return host;
}

const Cause* find_part(const Cause& of, Cause::Kind kind, const std::string& name) {
  const auto found = std::ranges::find_if(
      of.parts, [&](const Cause& each) { return each.kind == kind && each.name == name; });
  return found == of.parts.end() ? nullptr : &*found;
}

TEST(Verdicts, AWaitIsDividedByWhatOthersDidDuringIt) {
  HandMadeInputs host = tiers();
  const UnitCauses tree = causes_of(host.made(), "web");
  const Cause* const app = find_part(tree.causes.at(0), Cause::Kind::Unit, "app");
  ASSERT_NE(app, nullptr);
  ASSERT_THAT(app->parts, SizeIs(3)) << "as much as was waited";
  EXPECT_NEAR(app->threads, 10, 1e-9);
  EXPECT_EQ(app->parts[2].kind, Cause::Kind::Unknown);
  EXPECT_NEAR(app->parts[2].threads, 1, 1e-9) << "what was not followed";
  const Cause& asks = app->parts[0];
  EXPECT_EQ(asks.kind, Cause::Kind::For);
  EXPECT_EQ(asks.of, "app");
  EXPECT_NEAR(asks.threads, 7.2, 1e-9);
  const Cause* const db = find_part(asks, Cause::Kind::Unit, "db");
  ASSERT_NE(db, nullptr);
  const Cause* const runs = find_part(*db, Cause::Kind::Runs, "db");
  ASSERT_NE(runs, nullptr);
  EXPECT_NEAR(runs->threads, 6.3, 1e-9);
  EXPECT_NEAR(runs->error, 0.3, 1e-9);
  const Cause* const own = find_part(*app, Cause::Kind::Runs, "app");
  ASSERT_NE(own, nullptr);
  EXPECT_NEAR(own->threads, 1.8, 1e-9);
}

TEST(Verdicts, ASentenceGoesOnWithWhatOthersDidDuringTheWait) {
  HandMadeInputs host = tiers();
  EXPECT_EQ(sentence(host, "web"),
            "web: 10 threads wait for an answer of app (python3); 72 % of that time app waits for "
            "an answer of db; 88 % of that time db runs or waits for a CPU");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "web").culprit, "db");
  EXPECT_TRUE(verdict_of(units, "web").path.hops[1].attributed);
  EXPECT_TRUE(verdict_of(units, "web").attributed);
}

// Also within a find_part that had to be made smaller.
TEST(Verdicts, PartsAddUpOnEveryLevel) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 4)
      .on("web", WaitFor::Answer, On::Unit, "app", 4)
      .during("web", WaitFor::Answer, "app", {step(WaitFor::Answer, On::Unit, "db")},
              UnitChain::End::Runs, 3)
      .during("web", WaitFor::Answer, "app",
              {step(WaitFor::Answer, On::Unit, "db"), step(WaitFor::Storage, On::Device, "vda")},
              UnitChain::End::Waits, 2)
      .during("web", WaitFor::Answer, "app", {}, UnitChain::End::Runs, -1);
  const UnitCauses tree = causes_of(host.made(), "web");
  std::vector<const Cause*> nodes = {&tree.causes.at(0)};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    double sum = 0;
    for (const Cause& find_part : nodes[i]->parts) {
      sum += find_part.threads;
      nodes.push_back(&find_part);
    }
    if (nodes[i]->parts.empty()) continue;
    EXPECT_NEAR(sum, nodes[i]->threads, 1e-9) << i;
  }
  EXPECT_EQ(nodes.size(), 7U);
}

// Blocks as short as these may have been in the sample by chance.
TEST(Verdicts, WhatIsNotSureIsNoReason) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 10)
      .on("web", WaitFor::Answer, On::Unit, "app", 10)
      .during("web", WaitFor::Answer, "app", {}, UnitChain::End::Runs, 10, 6)
      .waits("app", WaitFor::Storage, "fsync", 9)
      .on("app", WaitFor::Storage, On::Device, "vda", 9);
  EXPECT_THAT(sentence(host, "web"), HasSubstr("; meanwhile app waits for storage"));
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "web").culprit, "vda");
  EXPECT_FALSE(verdict_of(units, "web").attributed) << "app may wait for it for others";
}

TEST(Verdicts, ACircleIsCalledOne) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 4)
      .on("web", WaitFor::Answer, On::Unit, "app", 4)
      .during("web", WaitFor::Answer, "app", {step(WaitFor::Answer, On::Unit, "web")},
              UnitChain::End::Runs, 4);
  EXPECT_THAT(
      sentence(host, "web"),
      HasSubstr("100 % of that time app waits for an answer; from whom is unknown, because it "
                "waits for web in turn"));
}

// Averages are better than nothing.
TEST(Verdicts, WhereLittleIsSeenOfItWhatTheOtherDoesInGeneralIsTold) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 10)
      .on("web", WaitFor::Answer, On::Unit, "app", 10)
      .during("web", WaitFor::Answer, "app", {}, UnitChain::End::Runs, 1)
      .cpu("app", 3);
  EXPECT_THAT(sentence(host, "web"), HasSubstr("; meanwhile app runs on 3.0 CPUs"));
}

TEST(Verdicts, NoMoreIsAttributedThanWasWaitedWhateverSamplesSay) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 2)
      .on("web", WaitFor::Answer, On::Unit, "app", 2)
      .during("web", WaitFor::Answer, "app", {step(WaitFor::Storage, On::Device, "vda")},
              UnitChain::End::Waits, 3)
      .during("web", WaitFor::Answer, "app", {}, UnitChain::End::Runs, -1);
  const UnitCauses tree = causes_of(host.made(), "web");
  const Cause& app = tree.causes.at(0).parts.at(0);
  ASSERT_THAT(app.parts, SizeIs(1));
  EXPECT_NEAR(app.parts[0].threads, 2, 1e-9);
}

TEST(Verdicts, OneIncidentIsOneVerdict) {
  HandMadeInputs host = shop();
  EXPECT_THAT(units_told(host), ElementsAre("shopper"));
  host.waits("batch", WaitFor::Storage, "fsync", 0.4);
  EXPECT_THAT(units_told(host), ElementsAre("shopper", "batch"));
  host.waits("app", WaitFor::Lock, "mutex", 6);
  EXPECT_THAT(units_told(host), ElementsAre("app", "shopper", "worker", "batch"))
      << "it has a trouble of its own, which is larger";
}

TEST(Verdicts, WhoWaitsForEachOtherIsToldOnce) {
  HandMadeInputs host;
  host.waits("a", WaitFor::Answer, "", 1)
      .on("a", WaitFor::Answer, On::Unit, "b", 1)
      .waits("b", WaitFor::Answer, "", 1)
      .on("b", WaitFor::Answer, On::Unit, "a", 1);
  EXPECT_THAT(units_told(host), ElementsAre("a"));
}

TEST(Verdicts, WhoTakeTheCpuFromEachOtherAreBothTold) {
  HandMadeInputs host;
  host.cpu("batch", 0.6, 0.4)
      .taken("batch", By::Unit, "search", 0.4)
      .cpu("search", 0.4, 0.6)
      .taken("search", By::Unit, "batch", 0.6);
  EXPECT_THAT(units_told(host), ElementsAre("search", "batch"));
}

// Several programs in one scope.
TEST(Verdicts, WithinAUnitTheProcessesAreNamed) {
  HandMadeInputs host;
  host.waits("session-1.scope", WaitFor::Answer, "socket-read", 2)
      .by("session-1.scope", WaitFor::Answer, "curl", 900)
      .by("session-1.scope", WaitFor::Lock, "convoy", 7)
      .on("session-1.scope", WaitFor::Answer, On::Unit, "session-1.scope", 2, "python3");
  host.inputs.peers.rows.back().pid = 812;
  EXPECT_EQ(sentence(host, "session-1.scope"),
            "session-1.scope (curl, pid 900): 2.0 threads wait for an answer (socket-read) of the "
            "same unit (python3, pid 812)");
}

// Equal amounts are not told twice, but where the path ends at who runs, its own waits are.
TEST(Verdicts, AUnitThatOthersPassThroughHasAVerdictIfItWaitsMoreThanTwiceAsMuch) {
  const auto told = [](double threads) {
    HandMadeInputs host;
    host.waits("web", WaitFor::Answer, "", 1)
        .on("web", WaitFor::Answer, On::Unit, "db", 1)
        .waits("db", WaitFor::Storage, "fsync", threads);
    return units_told(host);
  };
  EXPECT_THAT(told(1), ElementsAre("web"));
  EXPECT_THAT(told(2), ElementsAre("web"));
  EXPECT_THAT(told(2.1), ElementsAre("db", "web"));
  HandMadeInputs runs;
  runs.waits("web", WaitFor::Answer, "", 1)
      .on("web", WaitFor::Answer, On::Unit, "db", 1)
      .waits("db", WaitFor::Storage, "fsync", 1)
      .cpu("db", 1.5);
  EXPECT_THAT(units_told(runs), ElementsAre("db", "web"));
}

TEST(Verdicts, OfTwoThatWaitForEachOtherTheWorseOneIsTold) {
  HandMadeInputs host;
  host.waits("a", WaitFor::Answer, "", 1)
      .on("a", WaitFor::Answer, On::Unit, "b", 1)
      .waits("b", WaitFor::Answer, "", 1.5)
      .on("b", WaitFor::Answer, On::Unit, "a", 1.5);
  EXPECT_THAT(units_told(host), ElementsAre("b"));
}

TEST(Verdicts, ASmallKnownPartIsNoCulprit) {
  HandMadeInputs host;
  host.waits("a", WaitFor::Answer, "", 1).on("a", WaitFor::Answer, On::Unit, "b", 0.1);
  EXPECT_THAT(sentence(host, "a"), HasSubstr("unknown, because the other end was not seen"));
}

TEST(Verdicts, TheTakerOfACpuIsToBlame) {
  HandMadeInputs host;
  host.cpu("search", 0.1, 4)
      .taken("search", By::Unit, "batch-etl", 3.32)
      .taken("search", By::Unit, "report-gen", 0.4);
  EXPECT_EQ(sentence(host, "search"),
            "search: 4.0 threads wait for a CPU: batch-etl has it, 83 % of the time");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "search").culprit, "batch-etl");
}

TEST(Verdicts, ALimitOfOnesOwnIsOnesOwn) {
  HandMadeInputs host;
  host.cpu("report", 0.2, 0.1, 0.8);
  EXPECT_EQ(sentence(host, "report"),
            "report: 0.80 threads wait for a CPU by cpu.max, its own limit");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "report").culprit, "report");
}

TEST(Verdicts, ADiskIsToldAndThatItsLoadIsUnknown) {
  HandMadeInputs host;
  host.waits("orders-db", WaitFor::Storage, "fsync", 0.5)
      .on("orders-db", WaitFor::Storage, On::Device, "vda", 0.5);
  EXPECT_EQ(sentence(host, "orders-db"),
            "orders-db: 0.50 threads wait for storage (fsync) on device vda; who loads it is "
            "unknown, because this host counts no requests to it");
  WhyUnits units(host.made());
  EXPECT_EQ(verdict_of(units, "orders-db").culprit, "vda");
}

TEST(Verdicts, WhoRunsIsTheEnd) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 2)
      .on("web", WaitFor::Answer, On::Unit, "render", 2)
      .cpu("render", 1.9, 0.1);
  EXPECT_EQ(sentence(host, "web"),
            "web: 2.0 threads wait for an answer of render; meanwhile render runs on 1.9 CPUs");
}

// It may be in another network namespace of this host.
TEST(Verdicts, AnAddressIsTheEnd) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 2)
      .on("web", WaitFor::Answer, On::Remote, "10.0.3.15:5432", 2);
  EXPECT_EQ(sentence(host, "web"),
            "web: 2.0 threads wait for an answer of 10.0.3.15:5432, no process of this host as far "
            "as is known");
}

// A reason that stands for a hundredth of a wait says nothing about the rest.
TEST(Verdicts, ManySmallCulpritsAreSaid) {
  HandMadeInputs host;
  host.waits("a", WaitFor::Answer, "", 1);
  for (int i = 0; i < 11; ++i)
    host.on("a", WaitFor::Answer, On::Unit, "b" + std::to_string(i), 0.09);
  EXPECT_THAT(sentence(host, "a"), HasSubstr("; from whom is unknown, because it is many"));
}

TEST(Verdicts, WhoSleepsMoreThanItWaitsForWorkOfOthersSleeps) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 1)
      .on("web", WaitFor::Answer, On::Unit, "app", 1)
      .waits("app", WaitFor::Timer, "nanosleep", 0.9)
      .waits("app", WaitFor::Work, "", 0.3)
      .on("app", WaitFor::Work, On::Unit, "probe", 0.1)
      .on("app", WaitFor::Work, On::Unit, "web", 0.1);
  EXPECT_THAT(sentence(host, "web"), HasSubstr("meanwhile app sleeps (nanosleep)"));
}

// Redis has three threads for chores, which nobody sends any work.
TEST(Verdicts, ThreadsThatNobodySendsWorkDoNotHideWhoSendsMost) {
  HandMadeInputs host;
  host.waits("app", WaitFor::Answer, "", 1)
      .on("app", WaitFor::Answer, On::Unit, "queue", 1)
      .waits("queue", WaitFor::Work, "", 4)
      .on("queue", WaitFor::Work, On::Unit, "app", 0.1)
      .on("queue", WaitFor::Work, On::Unit, "worker", 0.6)
      .cpu("worker", 0.9);
  EXPECT_EQ(sentence(host, "app"),
            "app: 1.0 threads wait for an answer of queue; meanwhile queue waits for work from "
            "worker; meanwhile worker runs on 0.90 CPUs");
}

// Six clients of a server whose threads sleep, and now and then wait for a CPU.
TEST(Verdicts, WhatIsSmallBesideThoseThatSleepIsNotFollowed) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 5)
      .on("web", WaitFor::Answer, On::Unit, "app", 5)
      .waits("app", WaitFor::Timer, "nanosleep", 4.5)
      .cpu("app", 0.1, 0.4)
      .taken("app", By::Unit, "batch", 0.4);
  EXPECT_THAT(sentence(host, "web"), HasSubstr("meanwhile app sleeps (nanosleep)"));
}

TEST(Verdicts, OneThreadThatServesManyIsToBlame) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 50)
      .on("web", WaitFor::Answer, On::Unit, "app", 50)
      .waits("app", WaitFor::Timer, "nanosleep", 3)
      .cpu("app", 0.2, 0.7)
      .taken("app", By::Unit, "batch", 0.6);
  EXPECT_EQ(sentence(host, "web"),
            "web: 50 threads wait for an answer of app; meanwhile app waits for a CPU: batch has "
            "it, 86 % of the time");
}

TEST(Verdicts, WhatCannotBeFollowedSaysWhy) {
  HandMadeInputs host;
  host.waits("web", WaitFor::Answer, "", 1)
      .on("web", WaitFor::Answer, On::Unit, "app", 1)
      .waits("app", WaitFor::Unknown, "", 0.9);
  EXPECT_EQ(sentence(host, "web"),
            "web: 1.0 threads wait for an answer of app; what that does is unknown, because nobody "
            "can tell what it waits for");
}

TEST(Verdicts, NobodyWaits) {
  HandMadeInputs host;
  host.waits("idle", WaitFor::Work, "epoll", 50).waits("a", WaitFor::Lock, "m", 0.01);
  EXPECT_THAT(units_told(host), IsEmpty());
}

TEST(WaitGraph, HasAnEdgeForWhomEachUnitWaits) {
  HandMadeInputs host = shop();
  host.waits("app", WaitFor::Storage, "fsync", 0.2)
      .on("app", WaitFor::Storage, On::Device, "vda", 0.15)
      .cpu("app", 0.1, 0.5)
      .taken("app", By::Unit, "batch", 0.4)
      .taken("app", By::Same, "", 0.1);
  WhyUnits units(host.made());
  const WaitGraph graph = wait_graph(units);
  std::vector<std::string> edges;
  for (const WaitEdge& edge : graph.edges) {
    edges.push_back(edge.from + ">" + edge.to + " " + std::string(name_of_for(edge.for_kind)));
  }
  EXPECT_THAT(edges, ::testing::UnorderedElementsAre("shopper>edge answer", "edge>app answer",
                                                     "app>queue answer", "worker>orders-db answer",
                                                     "app>batch cpu", "app>vda storage"));
  EXPECT_GE(graph.edges.front().threads, graph.edges.back().threads);
  EXPECT_NEAR(graph.unknown, 0.05, 1e-9);
}

TEST(WaitGraph, IsBounded) {
  HandMadeInputs host;
  for (int i = 0; i < 600; ++i) {
    const std::string unit = "u" + std::to_string(i);
    host.waits(unit, WaitFor::Answer, "", 1).on(unit, WaitFor::Answer, On::Unit, "db", 1);
  }
  WhyUnits units(host.made());
  const WaitGraph graph = wait_graph(units);
  EXPECT_THAT(graph.edges, SizeIs(WaitGraph::kMost));
  EXPECT_NEAR(graph.left_out, 100, 1e-6);
}

}  // namespace
}  // namespace offcpud
