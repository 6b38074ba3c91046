// SPDX-License-Identifier: Apache-2.0
// Threads, frames, code and GIL of a Python program that has written over them: the input says
// which version it is, what it wrote, and where.
#include <array>

#include "fuzz.h"
#include "python/python_gil.h"
#include "python/python_reader.h"
#include "text.h"
#include "unit/python/fake_python.h"

namespace offcpud::fuzz {
namespace {

using testing_python::FakePython;

constexpr std::uint64_t kHost = FakePython::kStack + 0x180;

}  // namespace

void test(std::string_view input) {
  ByteReader reader(bytes_of(input));
  FakePython python(8 + reader.take<std::uint8_t>() % 7U);
  const std::uint64_t inner = python.add_code({.name = "pay", .lines = "\x80\x02\xd8\x02\x04\x01"});
  const std::uint64_t outer = python.add_code({.wide = u"\u4e2d", .lines = "\x02\x01"});
  const std::uint64_t thread = python.add_thread({{.code = inner, .offset = 2},
                                                  {.code = inner, .host = kHost},
                                                  {.code = outer, .host = kHost + 0x100}});
  python.number_thread(thread, 2);
  const std::uint64_t gil = python.add_gil();
  python.set_gil({.holder = python.state(), .switches = 7});
  const MemoryWords memory(python, 1);
  const auto word_at = [&](std::uint64_t at) { return memory.read<std::uint64_t>(at).value_or(0); };
  const PythonLayout& layout = python.layout();
  const std::array places{FakePython::kBase,
                          python.runtime(),
                          thread + 0x310,
                          python.state(),
                          python.frame(0),
                          python.frame(2),
                          kHost,
                          inner,
                          outer,
                          word_at(inner + layout.name),
                          word_at(inner + layout.lines),
                          word_at(outer + layout.file),
                          gil,
                          python.state() + layout.thread_id};
  while (!reader.at_end()) {
    const auto place = reader.take<std::uint8_t>();
    const auto offset = reader.take<std::uint8_t>();
    auto word = reader.take<std::uint64_t>();
    if ((place & 0x80U) != 0) word = places[word % places.size()] + (word >> 32U) % 64;
    const std::uint64_t at = places[(place & 0x7fU) % places.size()];
    // The smallest part is a text.
    python.set(at + offset % (at == places[9] || at == places[10] || at == places[11] ? 24 : 120),
               word);
  }
  python.reads = 0;
  const FoundPython found = find_python(memory, FakePython::kBase, python.file_name());
  require(python.reads <= 60, "a process is looked at with few reads");
  require(is_printable(found.why), "why it is refused is one line of text");
  if (!found.runtime) return;
  python.reads = 0;
  if (const auto found_gil = find_python_gil(memory, *found.runtime)) {
    const auto state = read_python_gil(memory, *found.runtime, *found_gil);
    require(!state || state->tid < (1U << 22U), "the holder of the GIL has a number of a thread");
  }
  require(python.reads <= 6, "the GIL takes few reads");
  const PythonThread asked{
      .tgid = 1, .tid = 1, .thread_pointer = thread, .runtime = &*found.runtime};
  python.reads = 0;
  const auto calls = read_python_calls(python, {&asked, 1});
  require(calls.size() == 1, "one answer for each thread");
  require(calls[0].frames.size() <= PythonFrames::kMost, "as many frames as there may be");
  require(python.reads <= PythonFrames::kMostSteps + 6 * PythonFrames::kMost, "few reads a frame");
  for (const PythonFrame& frame : calls[0].frames) {
    require(frame.function.size() <= 1024, "names of the length that is shown");
    require(is_printable(frame.function), "names are UTF-8 without control characters");
    require(frame.line <= 0x7fffffff, "a line is one");
  }
}

std::vector<std::string> seeds() {
  return seeds_of_versions(7);
}

}  // namespace offcpud::fuzz
