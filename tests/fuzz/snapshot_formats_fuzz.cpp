// SPDX-License-Identifier: Apache-2.0
// Snapshots with any names, in every format: what is read back is what was written, and no name
// breaks out of its place.
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/snapshot_json.h"
#include "ctl/stack_listing.h"
#include "ctl/stacks_total.h"
#include "fuzz.h"
#include "snapshot/folded_text.h"
#include "snapshot/pprof.h"
#include "snapshots_input.h"
#include "support/snapshots.h"

namespace offcpud::fuzz {
namespace {

std::uint64_t total_of(const std::string& folded) {
  std::uint64_t total = 0;
  for (std::size_t at = 0; at < folded.size();) {
    const std::size_t end = folded.find('\n', at);
    require(end != std::string::npos, "every line of folded text ends");
    const std::string line = folded.substr(at, end - at);
    require(line.size() <= FoldedText::kMostLineBytes, "and has its length at most");
    const std::size_t space = line.rfind(' ');
    require(space != std::string::npos && space > 0, "it has a stack and a number");
    require(line.find_first_not_of("0123456789", space + 1) == std::string::npos, "a whole one");
    total += std::stoull(line.substr(space + 1));
    at = end + 1;
  }
  return total;
}

void require_folded(const Snapshot& snapshot, bool wakers) {
  const std::string text = test::read_all(FoldedText(snapshot, {.wakers = wakers}));
  require(is_printable(text, "\n"), "folded text is UTF-8 without control characters");
  const std::uint64_t microseconds = test::total_ns(snapshot) / 1'000;
  require(total_of(text) == microseconds, "its sum is that of the snapshot");
}

void require_json(const Snapshot& snapshot) {
  const std::string json = snapshot_json(snapshot, {.snapshots = 1});
  require(is_utf8(json), "JSON is UTF-8");
  require(nlohmann::json::accept(json), "and JSON");
  require(!has_control_bytes(json, "\n") && !has_invisible_orders(json),
          "without what a terminal obeys");
  const auto total = stacks_total(json);
  require(total && total->ns == test::total_ns(snapshot),
          "offcpuctl adds up what the daemon answers");
  const auto listing = stack_listing(json, true);
  require(listing && is_printable(*listing, "\n"), "a list holds no control characters");
}

}  // namespace

void test(std::string_view input) {
  ByteReader in(bytes_of(input));
  const Snapshot snapshot = take_snapshot(in);
  const auto profile = pprof_of(snapshot);
  require(static_cast<bool>(profile), "a profile is written");
  const auto read = snapshot_of_pprof(*profile);
  require(static_cast<bool>(read), "and read");
  require(test::amounts(*read) == test::amounts(as_text(snapshot)), "as it was");
  require(read->begin == snapshot.begin && read->duration == snapshot.duration &&
              read->partial == snapshot.partial && read->sequence == snapshot.sequence,
          "so is what it says of itself");
  require_folded(snapshot, false);
  require_folded(snapshot, true);
  require_json(snapshot);
}

std::vector<std::string> seeds() {
  return snapshot_seeds();
}

}  // namespace offcpud::fuzz
