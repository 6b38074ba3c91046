// SPDX-License-Identifier: Apache-2.0
#include "http/request_framing.h"

#include <algorithm>
#include <cctype>

namespace offcpud {
namespace {

bool is_equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Digits without a leading zero, which can be read in only one way.
bool is_canonical_number(std::string_view text) {
  const bool digits = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  return digits && !text.empty() && (text == "0" || text.front() != '0');
}

}  // namespace

void RequestFraming::add(std::string_view name, std::string_view value) {
  if (is_equal_ignoring_case(name, "Content-Length")) {
    ++lengths_;
    canonical_ = canonical_ && is_canonical_number(value);
    empty_ = empty_ && value == "0";
  } else if (is_equal_ignoring_case(name, "Transfer-Encoding")) {
    ++codings_;
    canonical_ = canonical_ && is_equal_ignoring_case(value, "chunked");
    empty_ = false;
  } else if (is_equal_ignoring_case(name, "Host")) {
    ++hosts_;
  }
}

RequestFraming::Verdict RequestFraming::verdict() const {
  if (lengths_ + codings_ > 1 || hosts_ > 1 || !canonical_) return Verdict::Ambiguous;
  return empty_ ? Verdict::NoBody : Verdict::Body;
}

}  // namespace offcpud
