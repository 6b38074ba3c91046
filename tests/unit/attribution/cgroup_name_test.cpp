// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "attribution/subject.h"
#include "base/text.h"

namespace offcpud {
namespace {

struct PathCase {
  std::size_t line = 0;
  std::string path;
  SubjectLabels labels;
};

void PrintTo(const PathCase& test, std::ostream* out) {
  *out << "cgroup_paths.tsv:" << test.line << ": " << test.path;
}

// Resolves the escapes that the head of the file describes.
std::string field_value(const std::string& field) {
  if (field == "-") return {};
  std::string value;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      value += field[i];
    } else if (field.at(++i) == 'x') {
      value += static_cast<char>(std::stoi(field.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      value += field[i] == 't' ? '\t' : field[i];
    }
  }
  return value;
}

std::vector<PathCase> read_cases() {
  std::vector<PathCase> cases;
  std::ifstream file(OFFCPUD_SOURCE_DIR "/tests/data/cgroup_paths.tsv");
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    std::array<std::string, 5> fields;
    std::istringstream columns(line);
    for (std::string& field : fields) {
      std::getline(columns, field, '\t');
      field = field_value(field);
    }
    const auto& [path, slice, unit, container_id, pod_uid] = fields;
    cases.push_back({number, path, {to_valid_utf8(path), slice, unit, container_id, pod_uid}});
  }
  return cases;
}

class CgroupName : public testing::TestWithParam<PathCase> {};

TEST_P(CgroupName, SaysWhatTheTableSays) {
  const SubjectLabels labels = labels_of_cgroup(GetParam().path);
  EXPECT_EQ(labels.cgroup, GetParam().labels.cgroup);
  EXPECT_EQ(labels.slice, GetParam().labels.slice);
  EXPECT_EQ(labels.unit, GetParam().labels.unit);
  EXPECT_EQ(labels.container_id, GetParam().labels.container_id);
  EXPECT_EQ(labels.pod_uid, GetParam().labels.pod_uid);
}

INSTANTIATE_TEST_SUITE_P(Table, CgroupName, testing::ValuesIn(read_cases()),
                         [](const auto& test) { return "line" + std::to_string(test.param.line); });

TEST(CgroupNameTable, IsReadWhole) {
  EXPECT_GE(read_cases().size(), 60U);
}

TEST(CgroupNameTable, EveryCutOfEveryPathIsReadWithoutFault) {
  for (const PathCase& test : read_cases()) {
    for (std::size_t length = 0; length <= test.path.size(); ++length) {
      // Its own allocation, so that AddressSanitizer sees a read past the end.
      const std::vector<char> cut(test.path.begin(),
                                  test.path.begin() + static_cast<std::ptrdiff_t>(length));
      const SubjectLabels labels = labels_of_cgroup({cut.data(), cut.size()});
      EXPECT_EQ(labels.unit, to_valid_utf8(labels.unit));
      EXPECT_EQ(labels.slice, to_valid_utf8(labels.slice));
    }
  }
}

TEST(CgroupNameLimits, ReadsVeryLongAndVeryDeepPaths) {
  EXPECT_EQ(labels_of_cgroup("/" + std::string(1'000'000, 'a') + "/x.service").unit, "x.service");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "/a.slice";
  EXPECT_EQ(labels_of_cgroup(deep).slice, "a.slice");
  EXPECT_EQ(labels_of_cgroup(std::string(100'000, '/')).unit, "");
}

TEST(CgroupNameLimits, AnEmptyPathHasNoLabels) {
  EXPECT_EQ(labels_of_cgroup(""), SubjectLabels{});
}

}  // namespace
}  // namespace offcpud
