// SPDX-License-Identifier: Apache-2.0
// Requests whose end two servers could see at different places.
#include "http/request_framing.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace offcpud {
namespace {

using Verdict = RequestFraming::Verdict;
using Fields = std::vector<std::pair<const char*, const char*>>;

Verdict verdict_of(const Fields& fields) {
  RequestFraming framing;
  for (const auto& [name, value] : fields) framing.add(name, value);
  return framing.verdict();
}

TEST(RequestFraming, KnowsWhetherThereIsABody) {
  EXPECT_EQ(verdict_of({}), Verdict::NoBody);
  EXPECT_EQ(verdict_of({{"Host", "a"}, {"Accept", "b"}, {"Accept", "c"}}), Verdict::NoBody);
  EXPECT_EQ(verdict_of({{"Content-Length", "0"}}), Verdict::NoBody);
  EXPECT_EQ(verdict_of({{"content-length", "46"}}), Verdict::Body);
  EXPECT_EQ(verdict_of({{"Transfer-Encoding", "Chunked"}}), Verdict::Body);
}

TEST(RequestFraming, WhatCanBeReadInTwoWaysIsAmbiguous) {
  const Fields cases[] = {
      {{"Content-Length", "0"}, {"Content-Length", "46"}},
      {{"Content-Length", "0"}, {"content-length", "0"}},
      {{"Content-Length", "0"}, {"Transfer-Encoding", "chunked"}},
      {{"Transfer-Encoding", "chunked"}, {"Transfer-Encoding", "identity"}},
      {{"Transfer-Encoding", "gzip, chunked"}},
      {{"Transfer-Encoding", ""}},
      {{"Content-Length", "00"}},
      {{"Content-Length", "+0"}},
      {{"Content-Length", "-0"}},
      {{"Content-Length", "0x0"}},
      {{"Content-Length", "0, 0"}},
      {{"Content-Length", ""}},
      {{"Content-Length", "046"}},
      {{"Host", "a"}, {"HOST", "b"}},
  };
  for (const Fields& fields : cases) {
    EXPECT_EQ(verdict_of(fields), Verdict::Ambiguous)
        << fields.front().first << ": " << fields.front().second;
  }
}

}  // namespace
}  // namespace offcpud
