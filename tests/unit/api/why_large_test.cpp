// SPDX-License-Identifier: Apache-2.0
// An answer about a host with a thousand units: what it takes, and what stays small.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/why_answer.h"
#include "support/times.h"
#include "unit/why/inputs.h"

namespace offcpud {
namespace {

using namespace std::chrono_literals;
using test::HandMadeInputs;
using test::kNow;
using ::testing::Le;
using ::testing::SizeIs;
using On = UnitPeer::On;
using By = UnitTaker::By;

constexpr int kPeers = 10;              // of each unit, for one thing
constexpr std::size_t kMostParts = 22;  // of a node: twenty, others and unknown

std::string unit(int i) {
  return "shop-frontend-" + std::to_string(i) + ".service";
}

// Each unit waits for answers of ten others, whose threads wait for the disk or run meanwhile; for
// a lock of the next one; for the disk; and for CPUs that ten others have.
HandMadeInputs host_with(int units) {
  HandMadeInputs host;
  for (int i = 0; i < units; ++i) {
    const std::string name = unit(i);
    host.waits(name, WaitFor::Answer, "http-client", 2 + i % 7)
        .waits(name, WaitFor::Lock, "mutex", 1)
        .waits(name, WaitFor::Storage, "fsync", 1)
        .waits(name, WaitFor::Work, "pool", 20)
        .cpu(name, 0.1, 1)
        .on(name, WaitFor::Lock, On::Unit, unit((i + 1) % units), 0.9)
        .on(name, WaitFor::Storage, On::Device, "nvme0n1", 0.9)
        .loads("nvme0n1", UnitLoad::By::Unit, name, 0.01, 1e4);
    for (int k = 1; k <= kPeers; ++k) {
      const std::string other = unit((i + 7 * k) % units);
      host.on(name, WaitFor::Answer, On::Unit, other, 0.19, "worker")
          .during(name, WaitFor::Answer, other,
                  {{.wait_for = WaitFor::Storage, .on = {.kind = On::Device, .on = "nvme0n1"}}},
                  UnitChain::End::Waits, 0.1)
          .during(name, WaitFor::Answer, other, {}, UnitChain::End::Runs, 0.05)
          .taken(name, By::Unit, other, 0.09);
    }
  }
  return host;
}

WhyAnswer whole(const WhyInputs& inputs, std::size_t limit = 5) {
  return why_answer(inputs, kNow, {}, true, limit, true);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The shortest of three times, as others use the CPU's caches.
double least_seconds(const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double begin = cpu_seconds();
    work();
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

void expect_few_parts(const Cause& node, int depth) {
  EXPECT_THAT(node.parts, SizeIs(Le(kMostParts)));
  EXPECT_LE(depth, 10) << "four hops, each of what for and of whom";
  for (const Cause& part : node.parts) expect_few_parts(part, depth + 1);
}

TEST(WhyOfAThousandUnits, TheAnswerIsAsSmallAsThatOfFew) {
  HandMadeInputs host = host_with(1'000);
  const WhyAnswer answer = whole(host.made());
  EXPECT_THAT(answer.verdicts, SizeIs(5));
  EXPECT_THAT(answer.trees, SizeIs(Le(5U)));
  EXPECT_GT(answer.more_units, 900U);
  for (const WhyVerdict& verdict : answer.verdicts) {
    EXPECT_LE(verdict.path.hops.size(), WhyPath::kMostHops);
    EXPECT_LT(verdict.sentence.size(), 1'000U);
  }
  for (const UnitCauses& tree : answer.trees) {
    for (const Cause& cause : tree.causes) expect_few_parts(cause, 1);
  }
  EXPECT_LT(why_json(answer).size(), 500'000U);
  EXPECT_LT(why_text(answer).size(), 30'000U);
}

// What the picture leaves out is told, so that nothing is missing.
TEST(WhyOfAThousandUnits, EdgesBeyondTheLargestAreSummed) {
  HandMadeInputs host = host_with(1'000);
  const WhyAnswer answer = whole(host.made());
  ASSERT_THAT(answer.graph.edges, SizeIs(WaitGraph::kMost));
  double shown = 0;
  for (const WaitEdge& edge : answer.graph.edges) shown += edge.threads;
  // Of each unit: on ten for an answer, on one with a lock, on the disk, on ten with a CPU.
  constexpr double kOfOne = kPeers * 0.19 + 0.9 + 0.9 + kPeers * 0.09;
  EXPECT_NEAR(shown + answer.graph.left_out, 1'000 * kOfOne, 1e-6 * 1'000);
}

// Every unit is asked for at once: who waits for each of them is found by one look at each unit.
TEST(WhyOfAThousandUnits, AllUnitsMayBeAskedForAtOnce) {
  HandMadeInputs host = host_with(1'000);
  std::vector<std::string> all;
  for (int i = 0; i < 1'000; ++i) all.push_back(unit(i));
  const double begin = cpu_seconds();
  const WhyAnswer few = why_answer(host.made(), kNow, {unit(0)}, false, 1'000, true);
  const double one = cpu_seconds() - begin;
  const WhyAnswer answer = why_answer(host.inputs, kNow, all, false, 1'000, true);
  const double thousand = cpu_seconds() - begin - one;
  EXPECT_THAT(answer.trees, SizeIs(1'000));
  EXPECT_THAT(answer.dependents, SizeIs(1'000 * few.dependents.size()));
  EXPECT_LT(thousand, 10 * one) << "both make all trees once";
}

// Eight times as many units: eight times the time, not sixty-four.
TEST(WhyOfAThousandUnits, TimeGrowsWithUnitsAndNotWithTheirSquare) {
  const auto seconds_for = [](int units) {
    HandMadeInputs host = host_with(units);
    host.made();
    return least_seconds([&] { whole(host.inputs); });
  };
  const double less = seconds_for(250), more = seconds_for(2'000);
  EXPECT_LT(more, 20 * less) << less << " s for 250 units, " << more << " s for 2,000";
}

// The same where each path passes through others: verdicts are not all compared with each other.
TEST(WhyOfAThousandUnits, SoDoesTheTimeToFindVerdictsThatOthersTell) {
  const auto seconds_for = [](int units) {
    HandMadeInputs host;
    for (int i = 0; i < units; ++i) {
      host.waits(unit(i), WaitFor::Lock, "mutex", 1)
          .on(unit(i), WaitFor::Lock, On::Unit, unit((i + 1) % units), 1);
    }
    host.made();
    return least_seconds([&] {
      WhyUnits trees(host.inputs);
      EXPECT_LT(verdicts(trees, 1'000'000).size(), static_cast<std::size_t>(units));
    });
  };
  const double less = seconds_for(250), more = seconds_for(4'000);
  EXPECT_LT(more, 40 * less) << less << " s for 250 units, " << more << " s for 4,000";
}

// The figures of docs/cost.md.
TEST(WhyOfAThousandUnits, WhatItTakes) {
  const auto used = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
  };
  const double before = used();
  HandMadeInputs host = host_with(1'000);
  const WhyInputs& inputs = host.made();
  const double with_rows = used();
  {
    WhyUnits trees(inputs);
    for (const std::string& name : units_in(inputs)) trees.of(name);
    std::cout << std::fixed << std::setprecision(1)
              << "1,000 units, 31 edges each: " << with_rows - before << " MiB of rows, "
              << used() - with_rows << " MiB of trees, ";
  }
  std::cout << 1e3 * least_seconds([&] { whole(inputs); }) << " ms of CPU, ";
  const double begin = cpu_seconds();
  const std::size_t size = why_json(whole(inputs)).size();
  std::cout << 1e3 * (cpu_seconds() - begin) << " ms with " << size / 1024 << " KiB of JSON\n";
}

}  // namespace
}  // namespace offcpud
