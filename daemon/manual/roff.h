// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// Plain text for a manual page in the language of man(7): the characters that troff would read or
// replace (groff_char(7): quotes, hyphens, carets) come out as they are. Line ends become spaces.
std::string roff_text(std::string_view text);

std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

// An entry of a list (.TP). Both are in the language of man(7) already; `body` is one paragraph.
std::string roff_item(const std::string& tag, const std::string& body);

}  // namespace offcpud
