// SPDX-License-Identifier: Apache-2.0
#include "ctl/explain_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/amount_text.h"
#include "base/duration_text.h"
#include "base/interpreted_name.h"
#include "base/printable.h"
#include "config/reason_names.h"
#include "ctl/locale_signs.h"
#include "ctl/read_stacks.h"
#include "sites/site_explanation.h"
#include "sites/site_folders.h"
#include "sites/site_matcher.h"

namespace offcpud {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kFramesBehind = 2;  // shown behind the last that a rule looked for
constexpr std::size_t kLeastFrames = 4;   // shown in any case
constexpr std::size_t kNameWidth = 44;
constexpr std::size_t kMostNear = 10;

std::string time_text(std::uint64_t us) {
  return duration_text(std::chrono::microseconds(static_cast<std::int64_t>(us)));
}

// Stacks that are equal but for their place in the file are one.
std::vector<ReadStack> summed(std::vector<ReadStack> stacks) {
  std::map<std::tuple<std::string, std::optional<std::size_t>, std::vector<ReadFrame>,
                      std::vector<ReadFrame>>,
           std::size_t>
      places;
  std::vector<ReadStack> sums;
  for (ReadStack& stack : stacks) {
    const auto [place, is_new] = places.try_emplace(
        std::tuple(stack.exe, stack.reason, stack.user, stack.kernel), sums.size());
    if (is_new) {
      sums.push_back(std::move(stack));
    } else {
      sums[place->second].us += stack.us;
    }
  }
  std::ranges::stable_sort(sums, std::ranges::greater(), &ReadStack::us);
  return sums;
}

// One stack with its numbers, and what is said of it.
class ExplainedStack {
 public:
  ExplainedStack(const ReadStack& stack, SiteMatcher& matcher)
      : stack_(stack),
        user_(kinds_of(stack.user, false, matcher)),
        kernel_(kinds_of(stack.kernel, true, matcher)) {
    for (std::size_t i = 0; i < stack.user.size(); ++i) {
      if (stack.user[i].object != kInterpretedObject) continue;
      interpreted_.push_back(matcher.interpreted_frame(stack.user[i].function));
      interpreted_at_.push_back(i);
    }
    explanation_ = explain_site(matcher, {.exe = matcher.executable(stack.exe),
                                          .reason = stack.reason,
                                          .user = user_,
                                          .kernel = kernel_,
                                          .interpreted = interpreted_});
  }

  [[nodiscard]] WaitFor wait_for() const {
    return rule() == nullptr ? WaitFor::Unknown : rule()->wait_for;
  }
  [[nodiscard]] bool is_unmatched() const {
    return rule() == nullptr || rule()->level == SiteLevel::Fallback;
  }

  [[nodiscard]] std::string text(bool verbose) const {
    std::string out = time_text(stack_.us) + "  " + printable(stack_.exe) + "  ";
    out += stack_.reason ? std::string(kReasonNames[*stack_.reason]) : "reason not known";
    if (!stack_.label.empty()) out += "  labelled " + stack_.label;
    out += "\n  " + verdict() + "\n";
    add_frames(out, stack_.user, false);
    add_frames(out, stack_.kernel, true);
    if (verbose) add_near(out);
    return out + "\n";
  }

 private:
  static std::vector<FrameKind> kinds_of(const std::vector<ReadFrame>& frames, bool kernel,
                                         SiteMatcher& matcher) {
    std::vector<FrameKind> kinds;
    kinds.reserve(frames.size());
    for (const ReadFrame& frame : frames) {
      kinds.push_back(kernel ? matcher.kernel_frame(frame.function)
                             : matcher.user_frame(frame.function, frame.object));
    }
    return kinds;
  }

  [[nodiscard]] const SiteRule* rule() const {
    return explanation_.rule == nullptr ? nullptr : &explanation_.rule->rule;
  }

  [[nodiscard]] std::string verdict() const {
    if (rule() == nullptr) return "unknown: no rule takes it";
    std::string out(name_of(rule()->wait_for));
    if (rule()->ask != SiteQuestion::None) {
      out += ", unless evidence says more (ask: " + std::string(name_of(rule()->ask)) + ")";
    }
    return out + ": " + rule()->name + ", " + rule()->place();
  }

  // Innermost first, as rules are written, down to what the rule looked for.
  void add_frames(std::string& out, const std::vector<ReadFrame>& frames, bool kernel) const {
    const bool brief = kernel && rule() != nullptr && !stack_.user.empty();
    std::size_t shown = brief ? 0 : std::min(kLeastFrames, frames.size());
    std::map<std::size_t, const FramePattern*> fits;
    for (const FrameOfRule& each : explanation_.frames) {
      if (each.kernel != kernel) continue;
      const bool is_interpreted = each.pattern->kind == PatternKind::Interpreted;
      const std::size_t at = is_interpreted ? interpreted_at_[each.frame] : each.frame;
      fits[at] = each.pattern;
      shown = std::max(shown, std::min(frames.size(), frames.size() - at + kFramesBehind));
    }
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t at = frames.size() - 1 - i;
      const auto fit = fits.find(at);
      add_frame(out, frames[at], fit == fits.end() ? nullptr : fit->second, kernel);
    }
    const std::size_t left = frames.size() - shown;
    if (shown > 0 && left > 0) out += "      (" + std::to_string(left) + " more)\n";
  }

  static void add_frame(std::string& out, const ReadFrame& frame, const FramePattern* fit,
                        bool kernel) {
    std::string name = excerpt(frame.function);
    if (kernel) {
      name += " [kernel]";
    } else if (!frame.object.empty() && frame.object != kInterpretedObject &&
               !frame.function.starts_with(frame.object)) {
      name += " in " + excerpt(frame.object);
    }
    out += fit == nullptr ? "      " : "    > ";
    out += name;
    if (fit != nullptr) {
      const auto* const alternative = first_fit(*fit, frame);
      if (name.size() < kNameWidth) out.append(kNameWidth - name.size(), ' ');
      out += "  fits " + (alternative == nullptr ? fit->text : text_of(*alternative));
    }
    out += '\n';
  }

  static const FramePattern::Alternative* first_fit(const FramePattern& pattern,
                                                    const ReadFrame& frame) {
    if (pattern.kind != PatternKind::Interpreted) {
      return pattern.first_fit(frame.function, frame.object);
    }
    const InterpretedName name = interpreted_name(frame.function);
    return pattern.first_fit(name.function, name.file);
  }

  void add_near(std::string& out) const {
    for (std::size_t i = 0; i < explanation_.near.size(); ++i) {
      if (i == kMostNear) {
        out += "  and " + std::to_string(explanation_.near.size() - i) + " more\n";
        break;
      }
      const SiteRule& near = explanation_.near[i].rule->rule;
      out += "  nearly " + std::string(name_of(near.wait_for)) + ": " + near.name + ", " +
             near.place() + "; " + explanation_.near[i].lacks + "\n";
    }
  }

  const ReadStack& stack_;
  std::vector<FrameKind> user_, kernel_, interpreted_;
  std::vector<std::size_t> interpreted_at_;  // places of interpreted_ in the user stack
  SiteExplanation explanation_;
};

std::string totals_text(const std::array<std::uint64_t, kWaitForNames.size()>& us) {
  std::uint64_t all = 0;
  for (const std::uint64_t each : us) all += each;
  std::string out;
  for (std::size_t i = 0; i < us.size(); ++i) {
    if (us[i] == 0) continue;
    std::array<char, 64> share{};
    (void)std::snprintf(share.data(), share.size(), " %6.1f %%\n",
                        100.0 * static_cast<double>(us[i]) / static_cast<double>(all));
    out += left_aligned(kWaitForNames[i], 8) + " " + right_aligned(time_text(us[i]), 14);
    out += share.data();
  }
  return out;
}

Result<std::string> read_input(const std::string& file) {
  const bool standard = file.empty() || file == "-";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      standard ? nullptr : std::fopen(file.c_str(), "re"), &std::fclose);
  std::FILE* const input = standard ? stdin : opened.get();
  if (input == nullptr) {
    const int code = errno;
    if (code == ENOENT)
      return Error(printable(file) + ": there is no such file", ErrorKind::NotFound);
    return Error::from_errno(code, "open", printable(file));
  }
  std::string text;
  std::array<char, 65536> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), input)) {
    text.append(buffer.data(), got);
    if (text.size() > kMostBytes) return Error("the stacks are more than 1 GiB", ErrorKind::Usage);
  }
  if (std::ferror(input) != 0) return Error::from_errno(errno, "read", printable(file));
  return text;
}

}  // namespace

Result<std::string> explanation(const std::string& text, const ExplainRequest& request,
                                const std::shared_ptr<const SiteRules>& rules) {
  TRY(auto stacks, read_stacks(text));
  if (stacks.empty()) return std::string("no stacks\n");  // nobody waited
  SiteMatcher matcher(rules);
  std::array<std::uint64_t, kWaitForNames.size()> totals{};
  std::string out;
  for (const ReadStack& stack : summed(std::move(stacks))) {
    const ExplainedStack explained(stack, matcher);
    if (request.unmatched && !explained.is_unmatched()) continue;
    totals[static_cast<std::size_t>(explained.wait_for())] += stack.us;
    out += explained.text(request.verbose);
  }
  return out + totals_text(totals);
}

Result<std::string> explain_stacks(const ExplainRequest& request) {
  std::vector<std::filesystem::path> folders(request.rules.begin(), request.rules.end());
  if (folders.empty()) folders = site_rule_folders();
  TRY(const auto rules, load_site_rules(folders));
  if (rules->rules().empty()) {
    return Error(site_rules_text(*rules, folders) + "; name a folder with --rules",
                 ErrorKind::NotFound);
  }
  TRY(const auto text, read_input(request.file));
  auto out = explanation(text, request, rules);
  if (!out)
    return std::move(out).error().with(request.file.empty() ? "-" : printable(request.file));
  return for_locale(*std::move(out));
}

}  // namespace offcpud
