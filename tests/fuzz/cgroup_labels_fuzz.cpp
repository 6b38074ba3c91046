// SPDX-License-Identifier: Apache-2.0
// Paths of cgroups, whose names any user with a subtree of their own chooses, as labels.
#include <algorithm>

#include "attribution/cgroup_walk.h"
#include "attribution/subject.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

}  // namespace

void test(std::string_view input) {
  const SubjectLabels labels = labels_of_cgroup(input);
  for (const std::string* value :
       {&labels.cgroup, &labels.slice, &labels.unit, &labels.container_id, &labels.pod_uid}) {
    require(is_utf8(*value), "labels are UTF-8");
  }
  if (is_utf8(input)) require(labels.cgroup == input, "a path of text stays as it is");
  require(is_hex(labels.container_id) && is_hex(labels.pod_uid), "ids are digits");
  require(labels.slice.empty() || labels.slice.ends_with(".slice"), "a slice is one");
  require(labels.unit.size() <= 3 * input.size(), "a unit's name is in the path");

  // Names are bytes; two of them never become one path.
  const std::string_view first = input.substr(0, input.size() / 2);
  const std::string_view second = input.substr(input.size() / 2);
  const std::string a = child_path("/p", first, 1), b = child_path("/p", second, 2);
  require(is_utf8(a) && is_utf8(b), "paths are UTF-8");
  if (first.find('/') == std::string_view::npos && second.find('/') == std::string_view::npos) {
    require((a == b) == (first == second && is_utf8(first)), "different cgroups differ");
  }
  require(cgroup_depth(input) <=
              static_cast<std::size_t>(std::count(input.begin(), input.end(), '/')) + 1,
          "a level takes a slash");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const std::string paths = content_of(OFFCPUD_SOURCE_DIR "/tests/data/cgroup_paths.tsv");
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t end = std::min(paths.find('\n', at), paths.size());
    all.push_back(paths.substr(at, std::min(paths.find('\t', at), end) - at));
    at = end + 1;
  }
  all.emplace_back("/user.slice/a\\x2db\\xff.service/evil\n\x1b\xff.scope");
  return all;
}

}  // namespace offcpud::fuzz
