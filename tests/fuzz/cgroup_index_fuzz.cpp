// SPDX-License-Identifier: Apache-2.0
// Records of cgroups that come and go, with names that any user chooses, in any order.
#include <map>

#include "attribution/cgroup_index.h"
#include "fuzz.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  CgroupIndex index;
  CgroupWalk root;
  root.found.push_back({.id = 1, .parent_id = 0, .path = "/"});
  MonotonicTime now{std::chrono::hours(1)};
  index.apply(root, now);
  ByteReader in(bytes_of(input));
  std::map<std::uint64_t, std::string> first_paths;
  while (!in.at_end()) {
    const auto what = in.take<std::uint8_t>();
    CgroupChange change;
    change.kind = what % 4 == 0 ? CgroupChange::Kind::Removed : CgroupChange::Kind::Created;
    change.id = in.take<std::uint8_t>();
    change.parent_id = in.take<std::uint8_t>();
    const std::size_t size = in.take<std::uint8_t>() % 16;
    change.name = text_of(in.take_bytes(std::min(size, in.rest().size())));
    now += std::chrono::seconds(1);
    if (what % 16 == 1) {
      index.apply(root, now);
    } else if (what % 16 == 2) {
      index.forget_removed(now - std::chrono::seconds(4));
    } else {
      index.apply(change, now);
    }
    std::map<std::string, std::uint64_t> live;
    for (std::uint64_t id = 0; id < 256; ++id) {
      const CgroupEntry* const entry = index.find(id);
      if (entry == nullptr) continue;
      require(entry->path.starts_with('/') && is_utf8(entry->path), "a path is text");
      require(cgroup_depth(entry->path) <= kMaxCgroupDepth, "and not too deep");
      require(entry->path.find("/../") == std::string::npos, "and goes nowhere else");
      require(entry->removed || live.emplace(entry->path, id).second,
              "two live cgroups have two paths");
      require(entry->removed || index.is_live(entry->path), "what lives is live");
      require(entry->path == "/" ||
                  index.nearest_live_ancestor(entry->path).size() < entry->path.size(),
              "an ancestor is above");
    }
  }
}

std::vector<std::string> seeds() {
  using std::string_literals::operator""s;
  return {"\5\2\1\1a\5\3\2\1b\4\3\0\0\5\4\2\1b"s, "\5\2\1\3\xff\xfe\n\5\3\1\2..\5\4\1\1/"s,
          "\5\11\1\1a\5\2\1\1a\1\0\0\0\1\0\0\0\2\0\0\0"s};
}

}  // namespace offcpud::fuzz
