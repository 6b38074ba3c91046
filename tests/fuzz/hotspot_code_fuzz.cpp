// SPDX-License-Identifier: Apache-2.0
// The tables and the code of a Java program that has written over them: the input says what, and
// where.
#include "fuzz.h"
#include "jit/hotspot_code.h"
#include "text.h"
#include "unit/jit/fake_hotspot.h"

namespace offcpud::fuzz {
namespace {

using testing_jit::FakeHotspot;

// Of a library of the size of a page, and of the first blobs.
constexpr std::uint64_t kOver = 0x7f8;

}  // namespace

void test(std::string_view input) {
  FakeHotspot process;
  process.add({.offset = 0x400});
  process.add({.offset = 0x600, .size = 512, .kind = "native nmethod"});
  ByteReader reader(bytes_of(input));
  while (!reader.at_end()) {
    const auto at = reader.take<std::uint16_t>();
    const auto word = reader.take<std::uint64_t>();
    const std::uint64_t base = at % 2 == 0 ? FakeHotspot::kBase : FakeHotspot::kHeap + 0x400;
    process.set(base + at / 2 % kOver, word);
  }
  const MemoryWords memory(process, 1);
  const auto layout = read_hotspot_layout(memory, FakeHotspot::kBase);
  if (!layout) return;
  const auto code = HotspotCode(*layout).read(memory);
  if (!code) return;
  std::uint64_t end = 0;
  for (const JitFunction& function : code->functions) {
    require(end <= function.begin && function.begin < function.end, "functions in order");
    require(function.name.size() <= 1024, "names of the length that is shown");
    end = function.end;
  }
  require(code->functions.size() <= HotspotCode::kMostFunctions, "as many as there may be");
}

std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (std::uint64_t word : {std::uint64_t{0}, FakeHotspot::kHeap, FakeHotspot::kBase}) {
    std::string seed;
    for (const int place : {0, 0x401, 0x21, 0x31}) {
      const auto at = static_cast<std::uint16_t>(place);
      seed.append(reinterpret_cast<const char*>(&at), sizeof(at));
      seed.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

}  // namespace offcpud::fuzz
