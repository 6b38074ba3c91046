// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace offcpud {

// The files of the page /flame. They are built into the program (daemon/page/CMakeLists.txt).
std::string_view flame_page_html();
std::string_view flame_css();
std::string_view flame_js();

// The page's Content-Security-Policy: nothing from other hosts, no text run as code.
std::string_view flame_policy();

// The same for the page `/`.
std::string_view overview_page_html();
std::string_view overview_css();
std::string_view overview_js();
std::string_view overview_policy();

}  // namespace offcpud
