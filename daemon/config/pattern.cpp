// SPDX-License-Identifier: Apache-2.0
#include "config/pattern.h"

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/printable.h"
#include "config/refusal.h"

namespace offcpud {
namespace {

// Memory of one expression, compiled and while it matches. RE2's default is 8 MiB; there
// may be many.
constexpr std::int64_t kMaxBytes = 1 << 20;

RE2::Options options() {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kMaxBytes);
  options.set_dot_nl(true);  // names may hold a line feed, and .* should match them all
  return options;
}

}  // namespace

Pattern::Pattern(std::shared_ptr<const re2::RE2> expression) : expression_(std::move(expression)) {}

Result<Pattern> Pattern::parse(std::string_view text) {
  if (text.empty()) return refusal(text, "is empty and matches no name");
  if (text.size() > kLongest)
    return refusal(text, "is longer than " + std::to_string(kLongest) + " bytes");
  auto expression =
      std::make_shared<const RE2>(re2::StringPiece(text.data(), text.size()), options());
  if (!expression->ok()) {
    return refusal(text, "is not a regular expression (" + printable(expression->error()) + ")");
  }
  return Pattern(std::move(expression));
}

Result<std::optional<Pattern>> Pattern::parse_if_any(std::string_view text) {
  if (text.empty()) return std::optional<Pattern>();
  TRY(auto pattern, parse(text));
  return std::optional(std::move(pattern));
}

bool Pattern::matches(std::string_view text) const {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

}  // namespace offcpud
