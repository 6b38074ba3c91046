// SPDX-License-Identifier: Apache-2.0
#include "ctl/status_text.h"

#include <gtest/gtest.h>

#include <string>

namespace offcpud {
namespace {

std::string text_of(const std::string& json) {
  const auto text = status_text(json);
  return text ? *text : "error: " + text.error().message();
}

TEST(StatusText, AlignsScalarsAndIndentsTheRest) {
  EXPECT_EQ(text_of(R"({
    "version": "0.1.0", "ready": true, "passes": 17, "last_error": null, "ratio": 0.5,
    "kernel": {"btf": "yes", "task_storage": false, "empty": {}, "list": [1, "two"]},
    "losses": [{"cause": "map_full", "count": 3}, {"cause": "clock", "count": 0}],
    "mixed": [1, [2, 3]], "warnings": []})"),
            "version     0.1.0\n"
            "ready       yes\n"
            "passes      17\n"
            "last_error  -\n"
            "ratio       0.5\n"
            "kernel:\n"
            "  btf           yes\n"
            "  task_storage  no\n"
            "  empty         none\n"
            "  list          1, two\n"
            "losses:\n"
            "  - cause  map_full\n"
            "    count  3\n"
            "  - cause  clock\n"
            "    count  0\n"
            "mixed:\n"
            "  - 1\n"
            "  - 2, 3\n"
            "warnings    none\n");
}

TEST(StatusText, WritesOutWhatATerminalWouldObey) {
  EXPECT_EQ(text_of(R"({"a\u001b[2J": "x\ny"})"), "a\\x1b[2J  x\\x0ay\n");
}

TEST(StatusText, RefusesWhatIsNoStatus) {
  for (const char* body : {"", "<html>", "[1]", "null", "{\"a\": ", "\xff"}) {
    EXPECT_EQ(text_of(body), "error: the answer is not a status of offcpud") << body;
  }
}

TEST(StatusText, DepthIsBounded) {
  std::string json = "{\"a\":";
  for (int i = 0; i < 10'000; ++i) json += "[1,";
  json += "2" + std::string(10'000, ']') + "}";
  EXPECT_NE(text_of(json).find("...\n"), std::string::npos);
}

TEST(ErrorSentence, IsTheErrorOfTheAnswer) {
  EXPECT_EQ(error_sentence(R"({"error": "not ready yet"})"), "not ready yet");
  EXPECT_EQ(error_sentence(R"({"error": 5})"), "");
  EXPECT_EQ(error_sentence("<html>"), "");
}

}  // namespace
}  // namespace offcpud
