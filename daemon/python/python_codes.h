// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/python_frames.h"
#include "python/python_text.h"
#include "reader/process_memory.h"

namespace offcpud {

struct PythonFrame {
  std::string function;    // as it may be shown: python_function_name()
  std::uint32_t line = 0;  // 0: unknown
  std::uint64_t host = 0;  // PythonCodeFrame::host
};

// The names and lines of some functions, read together with three requests for memory. Use an
// object only once, for frames of threads at rest: their code objects stay, but other ones may be
// freed and their addresses used again. The memory is untrusted: each count and length is bounded.
// Used by one thread.
class PythonCodes {
 public:
  // Limits of one process: different functions, and bytes of their tables of lines.
  static constexpr std::size_t kMostFunctions = 1'024, kMostTables = std::size_t{512} << 10;
  static constexpr std::size_t kMostTable = std::size_t{64} << 10;  // of one function
  // Characters that are kept: the first of a function's name, the last of a path.
  static constexpr std::uint64_t kMostCharacters = 200;
  static constexpr const char* kLeftOut = "[python]";  // the name of functions beyond the limits

  // `tid`: a thread of the process that has this code in a frame. `runtime` must outlive the
  // object.
  void add(std::uint32_t tgid, std::uint32_t tid, const PythonRuntime& runtime, std::uint64_t code);
  // Reads all that were added.
  void read(ProcessMemory& memory);
  // Nothing: the frame's code is no code object.
  [[nodiscard]] std::optional<PythonFrame> describe(std::uint32_t tgid,
                                                    const PythonCodeFrame& frame) const;

 private:
  // A part of memory that takes one read, or two if it is long.
  struct Part {
    std::uint64_t address = 0;
    std::vector<std::byte> bytes;
    std::size_t wanted = 0;  // bytes
    [[nodiscard]] bool is_whole() const { return bytes.size() == wanted; }
  };
  struct Code {
    const PythonRuntime* runtime = nullptr;
    std::uint32_t tgid = 0, tid = 0;
    bool is_code = false;
    Part head, name, file, lines;
    std::uint32_t name_width = 1, file_width = 1;  // bytes of a character
    std::uint32_t first_line = 0;
    std::uint64_t instructions = 0;  // how many, from 3.11 on
    bool has_lines = false;
    std::string function;
  };
  class Batch;

  void read_heads(ProcessMemory& memory);
  void read_beginnings(ProcessMemory& memory);
  void read_rest(ProcessMemory& memory);
  static bool want_text(Batch& batch, const Code& code, Part& part, std::uint32_t& width,
                        bool is_path);
  void want_lines(Batch& batch, Code& code);
  [[nodiscard]] static std::uint32_t line_of(const Code& code, std::uint64_t address,
                                             std::uint64_t instruction);

  std::map<std::pair<std::uint32_t, std::uint64_t>, Code> codes_;  // by process and address
  std::map<std::uint32_t, std::size_t> functions_, tables_;        // by process
};

}  // namespace offcpud
