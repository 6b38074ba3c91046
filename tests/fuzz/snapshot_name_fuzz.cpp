// SPDX-License-Identifier: Apache-2.0
// Names of files in the state directory, and numbers of stacks in requests.
#include <cctype>

#include "fuzz.h"
#include "snapshot/snapshot_name.h"
#include "snapshot/stack_id.h"
#include "text.h"

namespace offcpud::fuzz {

void test(std::string_view input) {
  if (const auto name = SnapshotName::parse(input)) {
    require(name->text() == input, "a name means one snapshot");
    require(name->begin <= name->end, "that ends after it began");
    require(is_temporary_name(temporary_name(input)), "its temporary name is known");
    require(!SnapshotName::parse(temporary_name(input)), "and is no snapshot's");
  }
  (void)is_temporary_name(input);
  if (const auto id = parse_stack_id(input)) {
    std::string text(input);
    for (char& c : text) c = static_cast<char>(std::tolower(c));
    require(stack_id_text(*id) == text, "a number has one text");
  }
  ByteReader in(bytes_of(input));
  Snapshot snapshot;
  snapshot.sequence = in.take<std::uint64_t>();
  snapshot.begin = WallTime(std::chrono::nanoseconds(in.take<std::uint64_t>() >> 1U));
  snapshot.end = WallTime(std::chrono::nanoseconds(in.take<std::uint64_t>() >> 1U));
  snapshot.partial = in.take<std::uint8_t>() % 2 != 0;
  const SnapshotName name = SnapshotName::of(snapshot);
  const auto again = SnapshotName::parse(name.text());
  require(!again || *again == name, "what is written is read alike");
}

std::vector<std::string> seeds() {
  return {"20261120T132028.250Z+60000ms-00000000000000000042.pb.gz",
          "20261120T132028.250Z+0ms-18446744073709551615-partial.pb.gz",
          ".20261120T132028.250Z+60000ms-00000000000000000042.pb.gz.tmp",
          "19700101T000000.000Z+4294967295ms-00000000000000000000.pb.gz",
          "00c0ffee00c0ffee",
          std::string(25, '\x7f')};
}

}  // namespace offcpud::fuzz
