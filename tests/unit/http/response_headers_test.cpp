// SPDX-License-Identifier: Apache-2.0
#include "http/response_headers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/flame_page.h"

namespace offcpud {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

TEST(ResponseHeaders, EveryResponseTellsBrowsersWhatNotToDo) {
  EXPECT_THAT(headers_of({.content_type = "application/json"}, {}),
              AllOf(Contains(Pair("X-Content-Type-Options", "nosniff")),
                    Contains(Pair("X-Frame-Options", "deny")),
                    Contains(Pair("Referrer-Policy", "no-referrer")),
                    Contains(Pair("Cache-Control", "no-store")),
                    Contains(Pair("Cross-Origin-Resource-Policy", "same-origin")),
                    Contains(Pair("Content-Security-Policy", HasSubstr("frame-ancestors 'none'"))),
                    Contains(Pair("Content-Type", "application/json"))));
}

TEST(ResponseHeaders, APageBringsItsOwnPolicyAndEachHeaderComesOnce) {
  const HeaderList headers = headers_of(flame_page("/flame"), {});
  for (const char* name : {"Content-Security-Policy", "Cache-Control"}) {
    EXPECT_EQ(std::count_if(headers.begin(), headers.end(),
                            [&](const auto& header) { return header.first == name; }),
              1)
        << name;
  }
  EXPECT_THAT(headers, Contains(Pair("Content-Security-Policy", HasSubstr("connect-src 'self'"))));
  EXPECT_THAT(headers, Contains(Pair("Cache-Control", "no-cache")));
}

TEST(ResponseHeaders, ConfiguredOnesReplaceOrTakeAway) {
  const HeaderList headers = headers_of(
      {}, {{"X-Frame-Options", "sameorigin"}, {"content-security-policy", ""}, {"X-New", "1"}});
  EXPECT_THAT(headers,
              AllOf(Contains(Pair("X-Frame-Options", "sameorigin")),
                    Not(Contains(Key("Content-Security-Policy"))), Contains(Pair("X-New", "1"))));
}

}  // namespace
}  // namespace offcpud
