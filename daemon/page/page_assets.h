// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// The files of the page /flame, which are part of the program (daemon/page/CMakeLists.txt).
std::string_view flame_page_html();
std::string_view flame_css();
std::string_view flame_js();

// The Content-Security-Policy under which they work: nothing from elsewhere, no text as code.
std::string_view flame_policy();

// The same of the page /.
std::string_view overview_page_html();
std::string_view overview_css();
std::string_view overview_js();
std::string_view overview_policy();

}  // namespace offcpud
