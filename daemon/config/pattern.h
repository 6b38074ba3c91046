// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}  // namespace re2

namespace offcpud {

// A regular expression of the configuration. RE2 syntax: no backtracking, so matching takes time
// linear in the text. It must match the whole text; a text that is not UTF-8 never matches.
// Immutable: any number of threads may match. Copies share the compiled form.
class Pattern {
 public:
  // Accepts 1 to kLongest bytes. The error is a fragment that starts with the quoted text: `"(" is
  // not a regular expression (missing ): ()`.
  static Result<Pattern> parse(std::string_view text);
  // The same; nullopt: the text is empty.
  static Result<std::optional<Pattern>> parse_if_any(std::string_view text);

  [[nodiscard]] bool matches(std::string_view text) const;

  static constexpr std::size_t kLongest = 512;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> expression);
  std::shared_ptr<const re2::RE2> expression_;  // never null
};

}  // namespace offcpud
