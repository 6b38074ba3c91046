// SPDX-License-Identifier: Apache-2.0
#include "metrics/label_value.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace offcpud {
namespace {

std::string shown(std::string_view value) {
  std::string out = ">";
  append_label_value(out, value);
  return out.substr(1);
}

TEST(LabelValue, TextStaysAsItIs) {
  for (const char* text :
       {"", "plain", "a\nb", "gr\u00fc\u00df \u20ac \U0001f600",
        "/system.slice/system-getty\\x2dserial.slice", "a\\b", "\\", "\\x", "\\x1"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(LabelValue, WhatATerminalObeysIsWrittenOut) {
  EXPECT_EQ(shown("a\x1b[31m\x07\x7f\t"), "a\\x1b[31m\\x07\\x7f\\x09");
  EXPECT_EQ(shown("a\u009b31m"), "a\\xc2\\x9b31m");
  EXPECT_EQ(shown("gpj.\u202eexe"), "gpj.\\xe2\\x80\\xaeexe");
  EXPECT_EQ(shown("\u2066x\u2069\u200f\u061c"),
            "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9\\xe2\\x80\\x8f\\xd8\\x9c");
}

// Otherwise somebody could make two series of one name, and the scrape would be refused.
TEST(LabelValue, DifferentValuesStayDifferent) {
  const std::set<std::string> values = {"a\x1b", "a\\x1b", "a\\x5cx1b", "a\\x5cx5cx1b", "a\\\x1b"};
  std::set<std::string> all;
  for (const std::string& value : values) all.insert(shown(value));
  EXPECT_EQ(all.size(), values.size());
  EXPECT_EQ(shown("a\\x1b"), "a\\x5cx1b");
}

}  // namespace
}  // namespace offcpud
