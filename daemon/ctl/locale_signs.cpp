// SPDX-License-Identifier: Apache-2.0
#include "ctl/locale_signs.h"

#include <langinfo.h>

#include <array>
#include <string_view>
#include <utility>

namespace offcpud {

std::string for_locale(std::string text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kSigns = {
      {{"µ", "u"}, {"×", "x"}, {"−", "-"}, {"±", "+-"}, {"→", "->"}}};
  if (std::string_view(::nl_langinfo(CODESET)) == "UTF-8") return text;
  for (const auto& [sign, plain] : kSigns) {
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += plain.size()) {
      text.replace(at, sign.size(), plain);
    }
  }
  return text;
}

}  // namespace offcpud
