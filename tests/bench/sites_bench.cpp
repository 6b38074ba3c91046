// SPDX-License-Identifier: Apache-2.0
// What it costs to find the rule that takes a wait, with the shipped rules: for a stack whose
// functions are known, for one that was classified before, and for a function that is new; and what
// part of a CPU that is at 200 stacks a second. Prints only.
// Usage: sites_bench [RULES], from the root of the tree.
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "offcpud.h"
#include "sites/site_folders.h"
#include "sites/site_matcher.h"
#include "sites/wait_classifier.h"

namespace {

using offcpud::FrameKind;
using offcpud::SiteMatcher;

constexpr int kRuns = 100'000;

double cpu_ns() {
  timespec now{};
  (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// CPU time, so that a busy host changes little.
template <class Run>
double ns_of_one(int runs, Run run) {
  const double start = cpu_ns();
  for (int i = 0; i < runs; ++i) run(i);
  return (cpu_ns() - start) / runs;
}

// Functions that many rules look for, so that rules are looked at in vain, in 60 frames.
std::vector<FrameKind> busy_stack(SiteMatcher& matcher) {
  const std::vector<std::pair<const char*, const char*>> functions = {
      {"main", "app"},
      {"_PyEval_EvalFrameDefault", "python3.11"},
      {"_PyObject_MakeTpCall", "python3.11"},
      {"curl_easy_perform_of_app", "app"},
      {"ProcSleep", "app"},
      {"uv_cond_wait", "app"},
      {"pthread_cond_wait", "libc.so.6"},
      {"[jit]", "[jit]"},
  };
  std::vector<FrameKind> stack;
  for (std::size_t i = 0; i < 60; ++i) {
    const auto& [function, object] = functions[i % functions.size()];
    stack.push_back(matcher.user_frame(function, object));
  }
  return stack;
}

void measure(const std::shared_ptr<const offcpud::SiteRules>& rules) {
  SiteMatcher matcher(rules);
  const std::vector<FrameKind> kernel = {matcher.kernel_frame("do_syscall_64"),
                                         matcher.kernel_frame("futex_wait")};
  const FrameKind exe = matcher.executable("app");
  std::size_t taken = 0;
  const auto stack_ns = [&](const std::vector<FrameKind>& user) {
    return ns_of_one(kRuns, [&](int) {
      taken += matcher.find(
                   {.exe = exe, .reason = OFFCPUD_BLOCKED_OTHER, .user = user, .kernel = kernel}) !=
               nullptr;
    });
  };
  std::printf("%zu rules, %zu patterns\n", rules->rules().size(),
              rules->patterns().patterns().size());
  std::printf("stack of 60 frames that rules look for: %8.0f ns\n", stack_ns(busy_stack(matcher)));
  std::printf("stack of 60 frames that fit nothing:    %8.0f ns\n",
              stack_ns(std::vector<FrameKind>(60, 0)));
  std::printf("a function that is new:                 %8.0f ns\n", ns_of_one(10'000, [&](int i) {
                (void)matcher.user_frame(
                    "ns::Some_function_of_usual_length<int>::f" + std::to_string(i), "libapp.so.1");
              }));
  std::printf("the same once more:                     %8.0f ns (%zu)\n",
              ns_of_one(10'000,
                        [&](int i) {
                          (void)matcher.user_frame(
                              "ns::Some_function_of_usual_length<int>::f" + std::to_string(i),
                              "libapp.so.1");
                        }),
              taken);
}

// Different stacks of 60 frames, as a snapshot of a minute has them, each by the names of its
// frames the first time and by their numbers from then on.
void measure_classifier(const std::shared_ptr<const offcpud::SiteRules>& rules) {
  constexpr int kStacks = 12'000, kFrames = 60, kFunctions = 4'000;
  offcpud::WaitClassifier classifier(rules);
  std::vector<std::string> functions;
  for (int i = 0; i < kFunctions; ++i) {
    functions.push_back("ns::Some_function_of_usual_length<int>::f" + std::to_string(i));
  }
  std::vector<FrameKind> user;
  const std::vector<FrameKind> kernel = {classifier.kernel_frame("do_syscall_64"),
                                         classifier.kernel_frame("futex_wait")};
  std::size_t taken = 0;
  const auto classify = [&](int stack, bool by_names) {
    if (by_names) {
      user.clear();
      for (int i = 0; i < kFrames; ++i) {
        user.push_back(classifier.user_frame(
            {functions[static_cast<std::size_t>(stack * 7 + i) % kFunctions], "libapp.so.1"}));
      }
    }
    taken += static_cast<std::size_t>(!classifier
                                           .classify({.exe = classifier.executable("app"),
                                                      .reason = OFFCPUD_BLOCKED_CONDVAR,
                                                      .user = user,
                                                      .kernel = kernel})
                                           .site.empty());
  };
  const double by_names = ns_of_one(kStacks, [&](int i) { classify(i, true); });
  const double known = ns_of_one(kRuns, [&](int i) { classify(i, false); });
  std::printf(
      "a stack of 60 frames, each by its name: %8.0f ns, %.4f %% of a CPU at 200 a second\n",
      by_names, by_names * 200 / 1e9 * 100);
  std::printf("a stack by numbers that is known:       %8.0f ns, %.4f %% of a CPU (%zu)\n", known,
              known * 200 / 1e9 * 100, taken);
}

}  // namespace

int main(int argc, char** argv) {
  const std::array folders = {std::filesystem::path(argc > 1 ? argv[1] : "config/wait-sites")};
  const auto rules = offcpud::load_site_rules(folders);
  if (!rules || (*rules)->rules().empty()) {
    std::fprintf(stderr, "%s\n", rules ? "no rules" : rules.error().message().c_str());
    return 1;
  }
  measure(*rules);
  measure_classifier(*rules);
  return 0;
}
