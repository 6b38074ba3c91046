// SPDX-License-Identifier: Apache-2.0
#include "mappings/cpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace offcpud {
namespace {

using testing::ElementsAre;

TEST(CpuList, ReadsNumbersAndRanges) {
  EXPECT_THAT(*parse_cpu_list("0\n"), ElementsAre(0));
  EXPECT_THAT(*parse_cpu_list("0-2,5,7-8\n"), ElementsAre(0, 1, 2, 5, 7, 8));
}

TEST(CpuList, RefusesWhatTheKernelDoesNotWrite) {
  for (const char* text : {"", "\n", "a", "1-", "-1", "3-1", "1,", "1;2", "0-99999999999"}) {
    EXPECT_FALSE(parse_cpu_list(text)) << text;
  }
}

}  // namespace
}  // namespace offcpud
