// SPDX-License-Identifier: Apache-2.0
#include "cli/top_request.h"

#include <gtest/gtest.h>

namespace offcpud {
namespace {

TEST(TopRequest, AsksForEverythingByDefault) {
  EXPECT_EQ(TopRequest{}.path(), "/api/v1/top");
}

TEST(TopRequest, SpellsOutWhatIsAskedFor) {
  const TopRequest request{.sort = "p99",
                           .filter = "a b&c=\xc3\xbc/",
                           .cgroup = "nginx.service",
                           .pid = 7,
                           .cpu = 3,
                           .limit = 20,
                           .threads = true,
                           .pinned = true,
                           .reverse = true};
  EXPECT_EQ(
      request.path(),
      "/api/v1/"
      "top?threads=true&pinned=true&cpu=3&pid=7&cgroup=nginx.service&filter=a%20b%26c%3D%C3%BC%2F"
      "&sort=p99&reverse=true&limit=20");
}

TEST(TopRequest, ReasonsAndWhatFor) {
  EXPECT_EQ((TopRequest{.by_reason = true}.path()), "/api/v1/top?sort=actionable");
  EXPECT_EQ((TopRequest{.sort = "p99", .by_reason = true}.path()), "/api/v1/top?sort=p99");
  EXPECT_EQ((TopRequest{.wait_for = "lock"}.path()), "/api/v1/top?for=lock");
}

TEST(TopRequest, CpuAndPinnedAreAboutThreads) {
  EXPECT_EQ((TopRequest{.cpu = 3, .pinned = true}.path()), "/api/v1/top");
}

}  // namespace
}  // namespace offcpud
