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
extern const char offcpud_overview_html_begin[];
extern const char offcpud_overview_html_end[];
extern const char offcpud_overview_css_begin[];
extern const char offcpud_overview_css_end[];
extern const char offcpud_overview_js_begin[];
extern const char offcpud_overview_js_end[];
extern const char offcpud_overview_policy_begin[];
extern const char offcpud_overview_policy_end[];
}

namespace offcpud {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Leaves out the line feed at the end.
std::string_view line_between(const char* begin, const char* end) {
  std::string_view line = between(begin, end);
  line.remove_suffix(1);
  return line;
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
  return line_between(offcpud_flame_policy_begin, offcpud_flame_policy_end);
}

std::string_view overview_page_html() {
  return between(offcpud_overview_html_begin, offcpud_overview_html_end);
}

std::string_view overview_css() {
  return between(offcpud_overview_css_begin, offcpud_overview_css_end);
}

std::string_view overview_js() {
  return between(offcpud_overview_js_begin, offcpud_overview_js_end);
}

std::string_view overview_policy() {
  return line_between(offcpud_overview_policy_begin, offcpud_overview_policy_end);
}

}  // namespace offcpud
