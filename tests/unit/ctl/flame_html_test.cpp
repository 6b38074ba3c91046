// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "page/page_assets.h"

namespace offcpud {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(FlamePage, ItsPartsCanStandInOneFile) {
  for (const std::string_view part : {flame_js(), flame_css()}) {
    for (const char* const end : {"</script", "</style", "<!--"}) {
      EXPECT_EQ(part.find(end), part.npos) << end;
    }
  }
}

TEST(FlamePage, NothingIsLoadedFromElsewhere) {
  const std::string html(flame_page_html());
  EXPECT_THAT(html, Not(HasSubstr("://")));
  EXPECT_THAT(std::string(flame_css()), Not(HasSubstr("url(")));
  EXPECT_THAT(std::string(flame_policy()), testing::StartsWith("default-src 'none'; "));
  for (const char* const handler : {"onclick", "onload", "onerror", "style=", "innerHTML"}) {
    EXPECT_THAT(html, Not(HasSubstr(handler)));
  }
}

TEST(FlameHtml, IsOneFileWithTheData) {
  const auto page = flame_html(R"({"a":[1,2]})");
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_THAT(*page, HasSubstr("id=\"data\">{\"a\":[1,2]}</script>"));
  EXPECT_THAT(*page, HasSubstr(std::string(flame_js())));
  EXPECT_THAT(*page, HasSubstr(std::string(flame_css())));
  EXPECT_THAT(*page, Not(HasSubstr("href=\"flame.css\"")));
  EXPECT_THAT(*page, Not(HasSubstr("src=\"flame.js\"")));
  EXPECT_THAT(*page, HasSubstr("http-equiv=\"Content-Security-Policy\""));
}

TEST(FlameHtml, DataCannotEndTheirElement) {
  const nlohmann::json data = {"</script><script>alert(1)</script>", "<!--<script>", "]]>", "&lt;"};
  const auto page = flame_html(data.dump());
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_EQ(count(*page, "<script"), 2U);
  EXPECT_EQ(count(*page, "</script"), 2U);
  const std::string_view marker = "id=\"data\">";
  const std::size_t begin = page->find(marker) + marker.size();
  const std::string embedded = page->substr(begin, page->find("</script>", begin) - begin);
  EXPECT_EQ(nlohmann::json::parse(embedded), data);
}

}  // namespace
}  // namespace offcpud
