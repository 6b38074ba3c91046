// SPDX-License-Identifier: Apache-2.0
// A state directory whose files have any names and hold anything.
#include <fstream>

#include "fuzz.h"
#include "snapshot/pprof.h"
#include "snapshot/snapshot_merge.h"
#include "snapshot/snapshot_store.h"
#include "support/fake_clock.h"
#include "support/snapshots.h"
#include "support/temp_tree.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  static const TempTree tree{{"state/"}};
  const std::filesystem::path folder = tree.root() / "state";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  ByteReader in(bytes_of(input));
  std::size_t files = 0;
  for (; files < 4 && !in.at_end();) {
    std::string name(take_text(in).substr(0, 200));
    const std::string_view content = take_text(in);
    const bool usable = !name.empty() && name != "." && name != ".." &&
                        name.find_first_of(std::string("/\0", 2)) == std::string::npos;
    if (usable && (std::ofstream(folder / name, std::ios::binary) << content)) ++files;
  }
  const FakeClock clock;
  SnapshotStore store(folder, {}, clock, {});
  require(store.open(), "a directory with anything in it is opened");
  const std::size_t kept = store.list().size();
  require(kept + store.foreign_files() <= files, "each file counts once");
  const MergedSnapshots merged = merge(store, {}, {});
  require(merged.snapshots + merged.unreadable <= kept, "each snapshot is read or is not");

  Snapshot snapshot = test::ordinary_snapshot();
  if (!store.put(snapshot)) return;  // after 2^64 - 1 comes none
  const auto loaded = store.load(snapshot.sequence);
  require(loaded && *loaded, "a new one is kept");
  for (const StoredSnapshot& stored : store.list()) {
    require(stored.name.sequence <= snapshot.sequence, "and is the last");
  }
}

std::vector<std::string> seeds() {
  const std::string name = "20261120T132028.250Z+60000ms-00000000000000000042.pb.gz";
  const std::string profile = *pprof_of(test::ordinary_snapshot());
  return {as_input({name, profile}), as_input({name, "garbage", "notes.txt", "mine"}),
          as_input({"." + name + ".tmp", profile, name, profile}),
          as_input({"20261120T132028.250Z+1ms-18446744073709551615.pb.gz", profile})};
}

}  // namespace offcpud::fuzz
