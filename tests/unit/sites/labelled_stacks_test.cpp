// SPDX-License-Identifier: Apache-2.0
// tests/data/wait-sites: stacks of real programs, each with what it waited for in truth. The
// shipped rules say so of each, or it is in the file known_misses with the reason. With
// OFFCPUD_UPDATE_GOLDEN=1 that file is written anew; who then commits it says why in the last
// column.
#include "unit/sites/labelled_stacks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace offcpud {
namespace {

constexpr std::size_t kClasses = kWaitForNames.size();

const std::string& misses_file() {
  static const std::string kFile =
      std::string(OFFCPUD_SOURCE_DIR) + "/tests/data/wait-sites/known_misses";
  return kFile;
}

struct KnownMiss {
  std::string said;    // "lock -> unknown"
  std::string reason;  // why names cannot do better
};

// Lines "FILE:LINE<tab>TRUTH -> SAID<tab>REASON"; those that begin with # are remarks.
std::map<std::string, KnownMiss> known_misses() {
  std::map<std::string, KnownMiss> misses;
  std::ifstream file(misses_file());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream columns(line);
    std::string place;
    KnownMiss miss;
    std::getline(columns, place, '\t');
    std::getline(columns, miss.said, '\t');
    std::getline(columns, miss.reason);
    misses[place] = miss;
  }
  return misses;
}

// What the rules say of a labelled stack.
struct Verdict {
  const LabelledStack* stack = nullptr;
  const PreparedRule* rule = nullptr;

  [[nodiscard]] WaitFor said() const {
    return rule == nullptr ? WaitFor::Unknown : rule->rule.wait_for;
  }
  [[nodiscard]] bool right() const { return said() == stack->label; }
  [[nodiscard]] std::string miss() const {
    return std::string(name_of(stack->label)) + " -> " + std::string(name_of(said()));
  }
  [[nodiscard]] std::string asked() const {
    return rule != nullptr && rule->rule.ask != SiteQuestion::None
               ? "asks: " + std::string(name_of(rule->rule.ask))
               : "";
  }
};

std::vector<Verdict> verdicts(const std::vector<LabelledStack>& stacks, SiteMatcher& matcher) {
  std::vector<Verdict> all;
  all.reserve(stacks.size());
  for (const LabelledStack& each : stacks) {
    all.push_back({&each, matcher.find(MatchedStack(each.stack, matcher).wait())});
  }
  return all;
}

// By truth and by what was said.
class Confusion {
 public:
  void add(const Verdict& verdict, double amount) {
    cell(verdict.stack->label, verdict.said()) += amount;
  }

  [[nodiscard]] double all() const {
    return sum([](auto, auto) { return true; });
  }
  [[nodiscard]] double right() const {
    return sum([](WaitFor truth, WaitFor said) { return truth == said; }) / all();
  }
  [[nodiscard]] double unknown() const {
    return sum([](auto, WaitFor said) { return said == WaitFor::Unknown; }) / all();
  }
  [[nodiscard]] double wrong() const { return 1 - right() - unknown(); }
  // Of what was said to be actionable, and of what is.
  [[nodiscard]] double precision() const {
    return hits() / sum([](auto, WaitFor said) { return actionable(said); });
  }
  [[nodiscard]] double recall() const {
    return hits() / sum([](WaitFor truth, auto) { return actionable(truth); });
  }

  void print(const char* what) const {
    std::printf(
        "by %s: right %.1f %%, wrong %.1f %%, unknown %.1f %%; actionable: precision "
        "%.1f %%, recall %.1f %%\n%-12s",
        what, 100 * right(), 100 * wrong(), 100 * unknown(), 100 * precision(), 100 * recall(),
        "true / said");
    for (const std::string_view name : kWaitForNames) {
      std::printf("%9s", std::string(name).c_str());
    }
    std::printf("\n");
    for (std::size_t truth = 0; truth < kClasses; ++truth) {
      std::printf("%-12s", std::string(kWaitForNames[truth]).c_str());
      for (const double amount : cells_[truth]) std::printf("%9.1f", amount);
      std::printf("\n");
    }
  }

 private:
  double& cell(WaitFor truth, WaitFor said) {
    return cells_[static_cast<std::size_t>(truth)][static_cast<std::size_t>(said)];
  }
  template <class Counts>
  [[nodiscard]] double sum(Counts counts) const {
    double total = 0;
    for (std::size_t truth = 0; truth < kClasses; ++truth) {
      for (std::size_t said = 0; said < kClasses; ++said) {
        if (counts(static_cast<WaitFor>(truth), static_cast<WaitFor>(said))) {
          total += cells_[truth][said];
        }
      }
    }
    return total;
  }
  [[nodiscard]] double hits() const {
    return sum([](WaitFor truth, WaitFor said) { return actionable(truth) && actionable(said); });
  }

  std::array<std::array<double, kClasses>, kClasses> cells_{};
};

class LabelledStacks : public testing::Test {
 protected:
  std::vector<LabelledStack> stacks_ = labelled_stacks();
  std::shared_ptr<const SiteRules> rules_ = shipped_rules();
  SiteMatcher matcher_{rules_};
};

void write_misses(const std::vector<Verdict>& all, const std::map<std::string, KnownMiss>& known) {
  std::ofstream file(misses_file());
  file << "# Stacks whose label names alone do not give: place, truth and what is said, why.\n"
          "# labelled_stacks_test.cpp holds the rules against it, in both directions.\n";
  for (const Verdict& each : all) {
    if (each.right()) continue;
    const auto before = known.find(each.stack->place);
    std::string reason = each.asked();
    if (reason.empty() && before != known.end()) reason = before->second.reason;
    file << each.stack->place << '\t' << each.miss() << '\t' << (reason.empty() ? "?" : reason)
         << '\n';
  }
}

TEST_F(LabelledStacks, EachIsWhatItsLabelSaysOrAKnownMiss) {
  ASSERT_GT(stacks_.size(), 400U);
  const auto all = verdicts(stacks_, matcher_);
  auto known = known_misses();
  if (std::getenv("OFFCPUD_UPDATE_GOLDEN") != nullptr) {
    write_misses(all, known);
    known = known_misses();
  }
  for (const Verdict& each : all) {
    const auto miss = known.find(each.stack->place);
    if (each.right()) {
      EXPECT_EQ(miss, known.end()) << each.stack->place << " is right by now: take it off the list";
      continue;
    }
    const std::string rule = each.rule == nullptr ? "no rule" : each.rule->rule.place();
    ASSERT_NE(miss, known.end()) << each.stack->place << ": " << each.miss() << " by " << rule;
    EXPECT_EQ(miss->second.said, each.miss()) << each.stack->place << " by " << rule;
    EXPECT_GT(miss->second.reason.size(), 5U) << each.stack->place << ": say why it is missed";
    if (miss->second.reason.starts_with("asks:")) {
      EXPECT_EQ(miss->second.reason, each.asked()) << each.stack->place << " by " << rule;
    }
    known.erase(miss);
  }
  for (const auto& [place, miss] : known) ADD_FAILURE() << place << " is no stack of the data";
}

// The figures of the study that chose these rules' predecessors, by names alone: time 71.6 % right,
// 3.5 % wrong, precision 87.4 %; stacks 71.3 %, 4.5 %, 92.9 %. Of its stacks.
TEST_F(LabelledStacks, NamesAloneAreAtLeastAsGoodAsTheStudy) {
  Confusion time, sites;
  for (const Verdict& each : verdicts(stacks_, matcher_)) {
    if (!each.stack->of_study) continue;
    time.add(each, static_cast<double>(each.stack->stack.us) / 1e6);
    sites.add(each, 1);
  }
  ASSERT_GT(sites.all(), 400);
  time.print("seconds");
  sites.print("stacks");
  EXPECT_GE(time.right(), 0.716);
  EXPECT_LE(time.wrong(), 0.035);
  EXPECT_GE(time.precision(), 0.874);
  EXPECT_GE(sites.right(), 0.713);
  EXPECT_LE(sites.wrong(), 0.045);
  EXPECT_GE(sites.precision(), 0.929);
}

// What a rule says of where it was tested is true: some stack here needs it. Those that nothing
// here needs say nothing, and are listed.
TEST_F(LabelledStacks, RulesSayWhetherTheyWereTested) {
  std::set<const PreparedRule*> used;
  for (const Verdict& each : verdicts(stacks_, matcher_)) used.insert(each.rule);
  std::size_t untested = 0;
  for (const PreparedRule& each : rules_->rules()) {
    const bool is_used = used.contains(&each);
    EXPECT_EQ(is_used, !each.rule.tested.empty())
        << each.rule.place() << ": " << each.rule.name
        << (is_used ? " takes a stack of the data; say so in tested"
                    : " says that it was tested, but no stack of the data needs it");
    if (is_used) continue;
    ++untested;
    std::printf("untested: %s\n", each.rule.name.c_str());
  }
  std::printf("%zu of %zu rules are needed by no stack of the data\n", untested,
              rules_->rules().size());
}

}  // namespace
}  // namespace offcpud
