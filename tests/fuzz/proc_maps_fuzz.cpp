// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/PID/maps.
#include <cstdio>

#include "fuzz.h"
#include "mappings/proc_maps.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

// As the kernel writes it: fs/proc/task_mmu.c, show_map_vma; line feeds by seq_file_path.
std::string line_of(const MapsLine& map) {
  char head[160];
  (void)std::snprintf(head, sizeof head, "%lx-%lx r-%cp %lx %x:%x %lu ",
                      static_cast<unsigned long>(map.begin), static_cast<unsigned long>(map.end),
                      map.executable ? 'x' : '-', static_cast<unsigned long>(map.offset),
                      map.inode.device_major, map.inode.device_minor,
                      static_cast<unsigned long>(map.inode.inode));
  std::string line = head;
  for (const char c : map.path) line += c == '\n' ? std::string("\\012") : std::string(1, c);
  return line;
}

}  // namespace

void test(std::string_view input) {
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    const auto map = parse_maps_line(line);
    if (!map) continue;
    require(map->begin < map->end, "mappings are not empty");
    require(map->path.size() <= line.size(), "the path is in the line");
    const auto again = parse_maps_line(line_of(*map));
    require(again && again->begin == map->begin && again->end == map->end &&
                again->offset == map->offset && again->executable == map->executable &&
                again->inode == map->inode && again->path == map->path,
            "what was read is what the kernel would write");
  }
}

std::vector<std::string> seeds() {
  return {content_of("/proc/self/maps"), content_of("/proc/1/maps"),
          "7f0-8f0 r-xp 00001000 fd:01 42 /a\\012b c (deleted)\n"
          "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"};
}

}  // namespace offcpud::fuzz
