// SPDX-License-Identifier: Apache-2.0
#include "ctl/stacks_program.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "base/duration_text.h"
#include "ctl/answer_summary.h"
#include "ctl/flame_html.h"
#include "ctl/http_get.h"
#include "ctl/locale_signs.h"
#include "ctl/output_file.h"
#include "ctl/stack_listing.h"
#include "ctl/stacks_total.h"

namespace offcpud {
namespace {

constexpr const char* kGzipMagic = "\x1f\x8b";

Result<HttpAnswer> fetch(const StacksRequest& request) {
  const bool compares = std::ranges::any_of(
      request.query, [](const auto& parameter) { return parameter.first.starts_with("base_"); });
  const char* const path = compares ? "/api/v1/snapshots/difference" : "/api/v1/snapshots/merge";
  TRY(auto answer, http_get(request.server, query_path(path, request.query), {}, kSnapshotLimits));
  if (answer.status != 200) return refused(request.server_text, answer);
  return answer;
}

// For an answer without a summary.
std::string sentence_of(const StacksTotal& total) {
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(total.ns));
  return duration_text(time) + " blocked, " + total.origin;
}

// Says on a terminal why nothing is printed for so long.
void say_what_is_waited_for(const SnapshotView& view) {
  if (::isatty(STDERR_FILENO) != 1) return;
  (void)std::fprintf(stderr, "%s\n", waiting_sentence(view).c_str());
}

// Writes the text to the output file, if there is one.
Result<StacksOutput> shown(const StacksRequest& request, std::string text,
                           const HttpAnswer& answer) {
  StacksOutput output{.text = std::move(text), .note = summary_sentence(answer.summary)};
  if (request.output.empty()) return output;
  TRY_VOID(write_output(request.output, output.text));
  output.text.clear();
  return output;
}

}  // namespace

Result<StacksOutput> fetch_stacks(const StacksRequest& request) {
  TRY(auto answer, fetch(request));
  const bool binary = answer.body.starts_with(kGzipMagic);
  if (binary && request.output.empty() && ::isatty(STDOUT_FILENO) == 1) {
    return Error("a pprof profile is not text for a terminal; name a file with -o",
                 ErrorKind::Usage);
  }
  return shown(request, std::move(answer.body), answer);
}

std::string waiting_sentence(const SnapshotView& view) {
  return "sampling stacks of waits for " + duration_text(view.length) + "; Ctrl-C gives up";
}

Result<StacksOutput> take_snapshot(const StacksRequest& request, const SnapshotView& view) {
  say_what_is_waited_for(view);
  const AnswerLimits limits{view.length + kSnapshotLimits.time, kSnapshotLimits.bytes};
  TRY(auto answer,
      http_get(request.server, query_path("/debug/pprof/offcpu", request.query), {}, limits));
  if (answer.status != 200) return refused(request.server_text, answer);
  std::string text = std::move(answer.body);
  if (view.format != "json") {
    if (!view.delimited && view.format == "folded") text = without_delimiters(text);
  } else if (!view.as_json) {
    TRY(const auto listing, stack_listing(text, view.delimited));
    text = for_locale(listing);
  }
  return shown(request, std::move(text), answer);
}

Result<StacksOutput> draw_flame(const StacksRequest& request) {
  TRY(const auto answer, fetch(request));
  TRY(const auto total, stacks_total(answer.body));
  if (total.ns == 0 && total.before_ns == 0) {
    return Error("no matching wait was sampled (" + total.origin + ")" + total.bound +
                     "; ask for a longer time, or with fewer filters",
                 ErrorKind::NotFound);
  }
  TRY(const auto page, flame_html(answer.body));
  TRY_VOID(write_output(request.output, page));
  std::string sentence = summary_sentence(answer.summary);
  if (sentence.empty()) sentence = sentence_of(total);
  return StacksOutput{.text = request.output + ": " + for_locale(sentence) + "\n"};
}

}  // namespace offcpud
