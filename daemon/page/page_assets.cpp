// SPDX-License-Identifier: Apache-2.0
#include "page/page_assets.h"

#include <cstddef>

// In page_assets.S.
extern "C" {
extern const char offcpud_flame_html_begin[];
extern const char offcpud_flame_html_end[];
extern const char offcpud_flame_css_begin[];
extern const char offcpud_flame_css_end[];
extern const char offcpud_flame_js_begin[];
extern const char offcpud_flame_js_end[];
extern const char offcpud_flame_policy_begin[];
extern const char offcpud_flame_policy_end[];
}

namespace offcpud {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view flame_page_html() {
  return between(offcpud_flame_html_begin, offcpud_flame_html_end);
}

std::string_view flame_css() {
  return between(offcpud_flame_css_begin, offcpud_flame_css_end);
}

std::string_view flame_js() {
  return between(offcpud_flame_js_begin, offcpud_flame_js_end);
}

std::string_view flame_policy() {
  std::string_view line = between(offcpud_flame_policy_begin, offcpud_flame_policy_end);
  line.remove_suffix(1);  // the line feed
  return line;
}

}  // namespace offcpud
