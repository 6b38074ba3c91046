// SPDX-License-Identifier: Apache-2.0
#include "sites/site_matcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/interpreted_name.h"
#include "offcpud.h"
#include "support/rules_of.h"
#include "unit/sites/labelled_stacks.h"

namespace offcpud {
namespace {

using test::rules_of;

// Frames innermost first, as people write them: "function@object".
std::string site_of(SiteMatcher& matcher, const std::string& exe, std::optional<std::size_t> reason,
                    std::vector<std::string> user, std::vector<std::string> kernel = {}) {
  ReadStack stack{.label = {}, .exe = exe, .reason = reason, .user = {}, .kernel = {}};
  std::ranges::reverse(user);
  std::ranges::reverse(kernel);
  for (const std::string& frame : user) {
    const std::size_t at = std::min(frame.find('@'), frame.size());
    stack.user.push_back({frame.substr(0, at), at == frame.size() ? "" : frame.substr(at + 1)});
  }
  for (const std::string& frame : kernel) stack.kernel.push_back({frame, {}});
  const auto* const rule = matcher.find(MatchedStack(stack, matcher).wait());
  return rule == nullptr ? "" : rule->rule.name;
}

std::string site_of(const std::string& rule, std::vector<std::string> user,
                    std::vector<std::string> kernel = {}) {
  SiteMatcher matcher(rules_of("sites: [{name: yes, for: work, " + rule + "}]"));
  return site_of(matcher, "app", OFFCPUD_BLOCKED_POLL, std::move(user), std::move(kernel));
}

TEST(SiteMatcher, ThePatternBeginsWithTheInnermostFunction) {
  EXPECT_EQ(site_of("match: a::a", {"a::a", "b::b"}), "yes");
  EXPECT_EQ(site_of("match: a::a", {"b::b", "a::a"}), "");
  EXPECT_EQ(site_of("match: '... < a::a'", {"b::b", "a::a"}), "yes");
  EXPECT_EQ(site_of("match: '... < a::a'", {"a::a"}), "yes");
  EXPECT_EQ(site_of("match: 'a::a < b::b'", {"a::a", "b::b", "c::c"}), "yes");
  EXPECT_EQ(site_of("match: 'a::a < c::c'", {"a::a", "b::b", "c::c"}), "");
  EXPECT_EQ(site_of("match: 'a::a < ... < c::c'", {"a::a", "b::b", "c::c"}), "yes");
  EXPECT_EQ(site_of("match: 'a::a < * < c::c'", {"a::a", "[jit]", "c::c"}), "yes");
  EXPECT_EQ(site_of("match: 'a::a < b::b'", {"a::a"}), "");
  EXPECT_EQ(site_of("match: a::a", {}), "");
}

TEST(SiteMatcher, AGapIsTriedAtEveryPlace) {
  // The first a is not followed by b, the second is.
  EXPECT_EQ(site_of("match: '... < a::a < b::b'", {"a::a", "c::c", "a::a", "b::b"}), "yes");
  EXPECT_EQ(site_of("match: '... < a::a < b::b < ... < d::d'", {"a::a", "a::a", "b::b", "d::d"}),
            "yes");
  EXPECT_EQ(site_of("match: '... < b::b < ... < a::a'", {"a::a", "b::b"}), "");
}

TEST(SiteMatcher, FunctionsOfTheCLibraryMayBePassedOver) {
  const std::vector<std::string> stack = {"libc.so.6!fn_1@libc.so.6", "pthread_cond_wait@libc.so.6",
                                          "worker_loop_of_app@app", "main@app"};
  EXPECT_EQ(site_of("match: worker_loop_of_app", stack), "yes");
  EXPECT_EQ(site_of("match: pthread_cond_wait", stack), "yes");
  EXPECT_EQ(site_of("match: 'pthread_cond_wait < worker_loop_of_app'", stack), "yes");
  EXPECT_EQ(site_of("match: main", stack), "");
  EXPECT_EQ(site_of("match: '*@app'", stack), "yes");
  EXPECT_EQ(site_of("match: do_epoll_wait_in_app", {"do_epoll_wait_in_app"}), "yes");
}

TEST(SiteMatcher, TheSchedulersFunctionsMayBePassedOver) {
  EXPECT_EQ(site_of("kernel: worker_thread", {}, {"worker_thread", "kthread"}), "yes");
  EXPECT_EQ(site_of("kernel: kcompactd", {}, {"schedule_timeout", "kcompactd", "kthread"}), "yes");
  EXPECT_EQ(site_of("kernel: worker_thread", {}, {"io_schedule", "worker_thread"}), "");
  EXPECT_EQ(site_of("kernel: '... < do_poll'", {}, {"do_poll.constprop.0"}), "yes");
}

TEST(SiteMatcher, FunctionsOfProgramsAreNotOfTheKernel) {
  EXPECT_EQ(site_of("kernel: '... < do_epoll_wait'", {"do_epoll_wait"}), "");
  EXPECT_EQ(site_of("match: '... < do_epoll_wait'", {}, {"do_epoll_wait"}), "");
}

TEST(SiteMatcher, FunctionsThatAnInterpreterRunsAreMatchedApart) {
  const std::vector<std::string> stack = {
      "PyThread_acquire_lock_timed@python3.11", "Queue.get (python3.11/queue.py)@[python]",
      "python3.11!fn_1@python3.11", "Worker.run (my shop/till.py)@[python]", "main@python3.11"};
  for (const char* const rule :
       {"interpreted: 'Queue.get@python3*/queue.py'",
        "interpreted: 'Queue.get@*/queue.py < Worker.run@my shop/till.py'",
        "interpreted: '... < Worker.run@*till.py'", "interpreted: '* < Worker.run@*till.py'",
        "interpreted: '*.get@*queue.py', match: PyThread_acquire_lock_timed"}) {
    EXPECT_EQ(site_of(rule, stack), "yes") << rule;
  }
  for (const char* const rule :
       {"interpreted: 'Worker.run@*till.py'", "interpreted: 'get@python3*/queue.py'",
        "interpreted: 'Queue.get@python3*/threading.py'",
        "interpreted: 'Queue.get@*queue.py < ... < Queue.get@*queue.py'",
        "interpreted: '*.get@*queue.py', match: 'sem_wait@libc.so*'",
        "interpreted: '... < PyThread_acquire_lock_timed'",
        "match: '... < Queue.get@python3*/queue.py'"}) {
    EXPECT_EQ(site_of(rule, stack), "") << rule;
  }
  EXPECT_EQ(site_of("interpreted: '*'", {"main@python3.11"}), "") << "none is known";
}

TEST(SiteMatcher, AllConditionsMustHold) {
  SiteMatcher matcher(
      rules_of("sites:\n"
               "- {name: both, for: lock, exe: app, reason: poll | pipe, match: '... < a::a',\n"
               "   kernel: '... < ep_poll'}\n"
               "- {name: rest, for: work, reason: poll}\n"));
  const auto poll = OFFCPUD_BLOCKED_POLL;
  EXPECT_EQ(site_of(matcher, "app", poll, {"a::a"}, {"ep_poll"}), "both");
  EXPECT_EQ(site_of(matcher, "application", poll, {"a::a"}, {"ep_poll"}), "rest");
  EXPECT_EQ(site_of(matcher, "app", poll, {"b::b"}, {"ep_poll"}), "rest");
  EXPECT_EQ(site_of(matcher, "app", poll, {"a::a"}, {}), "rest");
  EXPECT_EQ(site_of(matcher, "app", OFFCPUD_BLOCKED_LOCK, {"a::a"}, {"ep_poll"}), "");
  EXPECT_EQ(site_of(matcher, "app", std::nullopt, {"a::a"}, {"ep_poll"}), "");  // not known
}

TEST(SiteMatcher, TheFirstRuleDecides) {
  SiteMatcher matcher(
      rules_of("sites:\n- {name: narrow, for: lock, match: '... < a::a < b::b'}\n"
               "- {name: wide, for: work, match: '... < a::a'}\n"));
  EXPECT_EQ(site_of(matcher, "", std::nullopt, {"a::a", "b::b"}), "narrow");
  EXPECT_EQ(site_of(matcher, "", std::nullopt, {"a::a", "c::c"}), "wide");
}

TEST(SiteMatcher, NumbersStayGoodWhenNamesAreForgotten) {
  const auto rules = rules_of("sites: [{name: yes, for: work, match: '... < a::*'}]");
  SiteMatcher matcher(rules, 1'000);
  const FrameKind first = matcher.user_frame("a::first", "app");
  for (int i = 0; i < 100; ++i) matcher.user_frame("f" + std::to_string(i), "app");
  EXPECT_GE(matcher.work().forgotten, 90U);
  EXPECT_EQ(matcher.user_frame("a::first", "app"), first);
  const std::vector<FrameKind> user = {first};
  EXPECT_NE(matcher.find({.user = user}), nullptr);
}

TEST(SiteMatcher, NamesTakeBoundedMemory) {
  SiteMatcher matcher(shipped_rules());
  const std::string object(kLongestFrameName, 'o');
  for (int i = 0; i < 3'000; ++i) {
    matcher.user_frame(std::string(kLongestFrameName - 8, 'f') + std::to_string(i), object);
  }
  EXPECT_GE(matcher.work().forgotten, 1'500U);  // of 8 KiB each, in 8 MiB
}

TEST(SiteMatcher, HostileNamesDoNoHarm) {
  SiteMatcher matcher(shipped_rules());
  std::vector<FrameKind> user;
  for (const std::string& name :
       {std::string(10'000, 'a'), std::string("a;b\x1b[2J\n\0c", 10), std::string("\xff\xfe"),
        std::string(), std::string("{}@|<...*"), "ProcSleep" + std::string(10'000, '*'),
        std::string(4'000, 'p') + "thread_mutex_lock"}) {
    user.push_back(matcher.user_frame(name, name));
  }
  EXPECT_EQ(matcher.find({.exe = matcher.executable(std::string(10'000, '*')), .user = user}),
            nullptr);
  const std::vector<FrameKind> deep(100'000, matcher.user_frame("x::y", ""));
  EXPECT_EQ(matcher.find({.user = deep}), nullptr);
}

// What a stack costs, in comparisons: of names once for each function, then of numbers.
TEST(SiteMatcher, AStackCostsComparisonsOfNumbersOnly) {
  auto stacks = labelled_stacks();
  std::erase_if(stacks,
                [](const auto& each) { return !each.of_study; });  // several of each program
  SiteMatcher matcher(shipped_rules());
  std::set<std::pair<std::string, std::string>> functions;
  std::size_t frames = 0;
  for (const LabelledStack& each : stacks) {
    const std::uint64_t before = matcher.work().steps;
    const MatchedStack matched(each.stack, matcher);
    (void)matcher.find(matched.wait());
    EXPECT_LE(matcher.work().steps - before, 1'000U) << each.place;
    functions.insert({"exe", each.stack.exe});
    for (const ReadFrame& frame : each.stack.user) {
      functions.insert({frame.object, frame.function});
      const bool is_interpreted = frame.object == kInterpretedObject;  // it is looked up as both
      if (is_interpreted) functions.insert({"interpreted", frame.function});
    }
    for (const ReadFrame& frame : each.stack.kernel) functions.insert({"[kernel]", frame.function});
    frames += each.stack.user.size() + each.stack.kernel.size();
  }
  const SiteWork once = matcher.work();
  EXPECT_EQ(once.names, functions.size());  // each once, in however many stacks it is
  // So many stacks share their functions that what is done again would show.
  EXPECT_GT(frames, 5 * functions.size());
  for (const LabelledStack& each : stacks) {
    (void)matcher.find(MatchedStack(each.stack, matcher).wait());
  }
  EXPECT_EQ(matcher.work().names, once.names);
  EXPECT_EQ(matcher.work().globs, once.globs);
  std::printf("%zu stacks of %zu frames: %zu functions, %llu globs, %llu rules and %llu steps\n",
              stacks.size(), frames, functions.size(), static_cast<unsigned long long>(once.globs),
              static_cast<unsigned long long>(once.rules),
              static_cast<unsigned long long>(once.steps));
}

}  // namespace
}  // namespace offcpud
