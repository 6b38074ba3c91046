// SPDX-License-Identifier: Apache-2.0
#include "attribution/cgroup_filter.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace offcpud {
namespace {

CgroupFilter filter(std::string_view text) {
  auto parsed = CgroupFilter::parse(text);
  EXPECT_TRUE(parsed) << text;
  return *std::move(parsed);
}

// The page has the same cases: tests/page/cgroup_filter_test.mjs.
TEST(CgroupFilter, AdmitsPathsAndUnitsAndWhatIsBelow) {
  std::ifstream file(OFFCPUD_SOURCE_DIR "/tests/data/cgroup_filter.tsv");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    std::istringstream fields(line);
    std::string path, wanted, admits;
    std::getline(fields, path, '\t');
    std::getline(fields, wanted, '\t');
    std::getline(fields, admits, '\t');
    EXPECT_EQ(filter(wanted).admits(path), admits == "yes") << path << " for " << wanted;
  }
  EXPECT_GE(cases, 40U);
}

TEST(CgroupFilter, AdmitsEverythingUnlessAsked) {
  for (const char* path : {"/", "/a", "(other)", ""}) EXPECT_TRUE(CgroupFilter().admits(path));
  EXPECT_TRUE(CgroupFilter().admits_itself("/a"));
  EXPECT_FALSE(CgroupFilter().is_unit());
}

TEST(CgroupFilter, WithoutThoseBelow) {
  EXPECT_TRUE(filter("/a").admits_itself("/a"));
  EXPECT_TRUE(filter("/a/").admits_itself("/a"));
  EXPECT_FALSE(filter("/a").admits_itself("/a/b"));
  EXPECT_FALSE(filter("/a/b").admits_itself("/a"));
  EXPECT_TRUE(filter("n.service").admits_itself("/a/n.service"));
  EXPECT_TRUE(filter("n").admits_itself("/b/c/n.service"));
  EXPECT_FALSE(filter("n").admits_itself("/a/n.service/b"));
}

TEST(CgroupFilter, RefusesWhatIsNeitherPathNorName) {
  for (const char* text : {"", "system.slice/nginx.service", "a/b", "a/"}) {
    EXPECT_FALSE(CgroupFilter::parse(text)) << text;
  }
  EXPECT_TRUE(filter("nginx.service").is_unit());
  EXPECT_TRUE(filter("nginx").is_unit());
  EXPECT_FALSE(filter("/nginx.service").is_unit());
  EXPECT_FALSE(filter("(other)").is_unit());
}

}  // namespace
}  // namespace offcpud
