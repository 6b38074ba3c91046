// SPDX-License-Identifier: Apache-2.0
// What it costs to find the rule that takes a wait, with the shipped rules: for a stack whose
// functions are known, and for a function that is new. Prints only.
// Usage: sites_bench [RULES], from the root of the tree.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "offcpud.h"
#include "sites/site_folders.h"
#include "sites/site_matcher.h"

namespace {

using offcpud::FrameKind;
using offcpud::SiteMatcher;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr int kRuns = 100'000;

template <class Run>
double ns_of_one(int runs, Run run) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i) run(i);
  return Nanoseconds(std::chrono::steady_clock::now() - start).count() / runs;
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

}  // namespace

int main(int argc, char** argv) {
  const std::array folders = {std::filesystem::path(argc > 1 ? argv[1] : "config/wait-sites")};
  const auto rules = offcpud::load_site_rules(folders);
  if (!rules || (*rules)->rules().empty()) {
    std::fprintf(stderr, "%s\n", rules ? "no rules" : rules.error().message().c_str());
    return 1;
  }
  measure(*rules);
  return 0;
}
