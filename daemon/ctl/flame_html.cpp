// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_html.h"

#include <string_view>

#include "page/page_assets.h"

namespace offcpud {
namespace {

// Replaces the daemon's header, as a file has none. Our own scripts may run; the data cannot become
// a script, and nothing may be fetched.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'\">\n";
constexpr std::string_view kStyleLink = "<link rel=\"stylesheet\" href=\"flame.css\">\n";
constexpr std::string_view kScriptLink = "<script src=\"flame.js\" defer></script>\n";
constexpr std::string_view kEnd = "</body>\n";

// In JSON, `<` and `>` occur only in strings. With both escaped, no string can end the element.
std::string without_tags(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else {
      out += c;
    }
  }
  return out;
}

Status replace(std::string& page, std::string_view part, std::string_view by) {
  const std::size_t at = page.find(part);
  if (at == std::string::npos) {
    return Error("this offcpuctl was built with a page that lacks '" + std::string(part) + "'");
  }
  page.replace(at, part.size(), by);
  return {};
}

}  // namespace

Result<std::string> flame_html(const std::string& json) {
  std::string page(flame_page_html());
  TRY_VOID(replace(page, kScriptLink, ""));
  std::string style(kPolicy);
  style.append("<style>\n").append(flame_css()).append("</style>\n");
  TRY_VOID(replace(page, kStyleLink, style));
  std::string end = "<script type=\"application/json\" id=\"data\">";
  end.append(without_tags(json)).append("</script>\n<script>\n");
  end.append(flame_js()).append("</script>\n").append(kEnd);
  TRY_VOID(replace(page, kEnd, end));
  return page;
}

}  // namespace offcpud
