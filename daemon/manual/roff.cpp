// SPDX-License-Identifier: Apache-2.0
#include "manual/roff.h"

namespace offcpud {
namespace {

std::string_view roff_character(const char& c) {
  switch (c) {
    case '\\':
      return "\\(rs";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '"':
      return "\\(dq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    case '\n':
      return " ";
    default:
      return {&c, 1};
  }
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string out;
  for (const char& c : text) out += roff_character(c);
  // troff reads a line that begins with a dot as a request.
  if (out.starts_with('.')) out.insert(0, "\\&");
  return out;
}

std::string roff_bold(std::string_view text) {
  return "\\fB" + roff_text(text) + "\\fR";
}

std::string roff_italic(std::string_view text) {
  return "\\fI" + roff_text(text) + "\\fR";
}

std::string roff_item(const std::string& tag, const std::string& body) {
  return ".TP\n" + tag + "\n" + body + "\n";
}

}  // namespace offcpud
