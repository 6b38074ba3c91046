// SPDX-License-Identifier: Apache-2.0
// Goroutines and variables of a Go program that has written over them: the input says which version
// it is, what it wrote, and where.
#include <array>

#include "fuzz.h"
#include "golang/goroutine_groups.h"
#include "golang/goroutine_reader.h"
#include "support/fake_clock.h"
#include "text.h"
#include "unit/golang/fake_go.h"

namespace offcpud::fuzz {
namespace {

using testing_go::FakeGo;

constexpr std::uint64_t kMostBytes = 64;  // of the smallest part that is written over

void require_look(const GoroutineLook& look, const GoroutineReader& reader, std::uint64_t reads) {
  require(look.waiting.size() <= look.looked_at, "no more wait than were looked at");
  require(look.looked_at <= look.all, "no more were looked at than there are");
  require(look.changed + look.lost <= look.waiting.size(), "who has no stack waits");
  require(reads <= 16 + 4 * look.looked_at, "few reads a goroutine");
  for (const WaitingGoroutine& goroutine : look.waiting) {
    const GoStack& stack = reader.stack(goroutine.stack);
    require(stack.functions.size() <= GoStack::kMostFrames, "as many frames as there may be");
  }
}

}  // namespace

void test(std::string_view input) {
  ByteReader reader(bytes_of(input));
  FakeGo go({.minor = 16 + reader.take<std::uint8_t>() % 11U});
  const std::uint64_t one = go.add({.id = 1});
  const std::uint64_t other =
      go.add({.id = 2, .since_ns = 5, .functions = {FakeGo::kPark, FakeGo::kServe, FakeGo::kMain}});
  const std::uint64_t info = go.file().build_info.start + FakeGo::kBias;
  const std::uint64_t code = FakeGo::kCode + FakeGo::kBias;
  const std::array places{info,
                          go.file().data.start + FakeGo::kBias + 0x40,
                          go.all(),
                          go.list(),
                          one,
                          one + 128,
                          other,
                          other + 128,
                          go.stack_of(one),
                          go.stack_of(other),
                          code + FakeGo::kAdds,
                          code + FakeGo::kChanges};
  const auto overwrite = [&](std::size_t most) {
    for (std::size_t i = 0; i < most && !reader.at_end(); ++i) {
      const auto place = reader.take<std::uint8_t>();
      const auto offset = reader.take<std::uint8_t>();
      auto word = reader.take<std::uint64_t>();
      if ((place & 0x80U) != 0) word = places[word % places.size()] + (word >> 32U) % 64;
      go.set(places[(place & 0x7fU) % places.size()] + offset % (kMostBytes - 8), word);
    }
  };
  overwrite(8);
  const FoundGo found = go.find();
  require(go.reads <= 400, "a process is looked at with few reads");
  require(is_printable(found.why), "why it is refused is one line of text");
  if (!found.runtime) return;
  for (const std::string& reason : found.runtime->reasons) {
    require(is_printable(reason), "reasons are one line of text");
  }
  const FakeClock clock;
  GoFunctions functions(go.table(), FakeGo::kBias);
  GoroutineReader goroutines(go, clock, FakeGo::kTgid, *found.runtime, functions);
  for (int looks = 0; looks < 3; ++looks) {
    go.reads = 0;
    const auto look = goroutines.look();
    if (!look) return;
    require_look(*look, goroutines, go.reads);
    std::uint64_t number = 0;
    const auto groups = group_goroutines(*look, goroutines, *found.runtime, functions, 1'000);
    for (const GoroutineGroup& group : groups.shown) number += group.number;
    require(groups.left_out + groups.of_runtime_left_out == 0, "few groups are all shown");
    require(number == look->waiting.size(), "each that waits is in one group");
    overwrite(8);
  }
}

std::vector<std::string> seeds() {
  return seeds_of_versions(11);
}

}  // namespace offcpud::fuzz
