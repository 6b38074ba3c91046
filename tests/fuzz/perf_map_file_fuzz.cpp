// SPDX-License-Identifier: Apache-2.0
// Whose perf map is read: what /proc says of a process, and the file in its root.
#include <unistd.h>

#include <fstream>

#include "fuzz.h"
#include "support/temp_tree.h"
#include "symbols/perf_map_file.h"
#include "text.h"

namespace offcpud::fuzz {
namespace {

constexpr std::uint64_t kStart = 1'000'000'000;

struct Proc {
  Proc() {
    tree.put({{"7/root/tmp/"}, {"7/root/perf-9.map", "10 10 outside\n"}});
    tree.put_link("7/root/tmp/perf-8.map", "../perf-9.map");
  }
  void put(const char* name, std::string_view content) const {
    std::ofstream(tree.root() / "7" / name, std::ios::binary) << content;
  }
  TempTree tree;
};

}  // namespace

void test(std::string_view input) {
  static const Proc proc;
  ByteReader reader(bytes_of(input));
  proc.put("status", take_text(reader));
  const std::string_view stat = take_text(reader);
  proc.put("stat", stat);
  const std::string_view map = take_text(reader);
  proc.put("root/tmp/perf-7.map", map);

  ProcPerfMapFinder finder(proc.tree.root());
  const PerfMapProcess process{.tgid = 7, .start_ns = kStart};
  if (finder.find(process)) {
    require(stat.find(std::to_string(kStart / 1'000'000'000 *
                                     static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)))) !=
                std::string_view::npos,
            "it is the process that began then");
  }
  PerfMapFile file(finder, process);
  const MonotonicTime now{};
  (void)file.refresh(now);
  for (const std::uint64_t address : {0x10U, 0x1000U, 0x1080U}) {
    const auto name = file.find(address, now);
    if (!name) continue;
    require(map.find(*name) != std::string_view::npos, "names come from the file of the process");
    require(*name != "outside" || map.find("outside") != std::string_view::npos,
            "links are not followed");
  }
}

std::vector<std::string> seeds() {
  const std::string uid = std::to_string(::geteuid());
  const std::string map = "1000 80 first\n1080 10 second\n";
  const auto status = [&](const std::string& user, const std::string& pid) {
    return "Name:\tnode\nUid:\t" + user + "\t" + user + "\t0\t0\nNSpid:\t" + pid + "\n";
  };
  std::string stat = "7 (a) b) S";
  for (int field = 4; field < 22; ++field) stat += " 0";
  stat += " 100 0\n";
  return {as_input({status(uid, "1234\t7"), stat, map}),
          as_input({status("12345", "7"), stat, map}), as_input({status(uid, "8"), stat, map}),
          as_input({status(uid, "../x"), stat, map}),
          as_input({content_of("/proc/self/status"), content_of("/proc/self/stat"), map})};
}

}  // namespace offcpud::fuzz
