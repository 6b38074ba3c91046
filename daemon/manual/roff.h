// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace offcpud {

// Escapes plain text for a manual page in the language of man(7), so that characters which troff
// would interpret or replace (groff_char(7): quotes, hyphens, carets) are shown as they are. Line
// ends become spaces.
std::string roff_text(std::string_view text);

std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

// An entry of a list (.TP). Both arguments are in the language of man(7); `body` is one paragraph.
std::string roff_item(const std::string& tag, const std::string& body);

}  // namespace offcpud
