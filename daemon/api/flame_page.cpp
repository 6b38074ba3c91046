// SPDX-License-Identifier: Apache-2.0
#include "api/flame_page.h"

#include <string>
#include <string_view>

#include "http/body_stream.h"
#include "page/page_assets.h"

namespace offcpud {
namespace {

// no-cache: an upgrade of the daemon must not leave one part of an older version in a browser.
Response part(const char* type, std::string_view text) {
  return {.content_type = type,
          .body = stream_of_part(text),
          .headers = {{"Cache-Control", "no-cache"}}};
}

constexpr const char* kCss = "text/css; charset=utf-8";
constexpr const char* kScript = "text/javascript; charset=utf-8";

Response page(std::string_view html, std::string_view policy) {
  Response page = part("text/html; charset=utf-8", html);
  page.headers.emplace_back("Content-Security-Policy", std::string(policy));
  return page;
}

}  // namespace

Response flame_page(std::string_view path) {
  if (path == "/flame.css") return part(kCss, flame_css());
  if (path == "/flame.js") return part(kScript, flame_js());
  return page(flame_page_html(), flame_policy());
}

Response overview_page(std::string_view path) {
  if (path == "/overview.css") return part(kCss, overview_css());
  if (path == "/overview.js") return part(kScript, overview_js());
  return page(overview_page_html(), overview_policy());
}

}  // namespace offcpud
