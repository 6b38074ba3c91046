// SPDX-License-Identifier: Apache-2.0
#include "python/python_runtime.h"

#include <charconv>
#include <utility>

#include "python/dynamic_symbols.h"

namespace offcpud {
namespace {

constexpr std::string_view kLibrary = "lib", kPython = "python";

FoundPython refused(PythonRefusal refusal, std::string why) {
  return {.runtime = std::nullopt, .refusal = refusal, .why = std::move(why)};
}

// What a file's name says: "python3.11d" is 11 with the flags "d".
struct NamedVersion {
  std::uint32_t minor = 0;  // 0: not said
  std::string_view flags;
};

NamedVersion version_of(std::string_view file_name) {
  NamedVersion version;
  const std::size_t at = file_name.find("python3.");
  if (at == std::string_view::npos) return version;
  std::string_view rest = file_name.substr(at + 8);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), version.minor);
  if (error != std::errc{}) return {};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  version.flags = rest.substr(0, rest.find_first_not_of("dmtu"));
  return version;
}

// Which version it is: Py_Version from 3.11 on, PY_VERSION_HEX as in patchlevel.h; before, the
// file's name. 0: nothing says.
struct Version {
  std::uint32_t minor = 0;
  bool is_release = true;
};

Version read_version(const MemoryWords& memory, const DynamicSymbols& symbols,
                     const NamedVersion& named) {
  constexpr std::uint32_t kCandidate = 0xc, kFinal = 0xf;
  const auto symbol = symbols.find("Py_Version");
  if (!symbol) return {.minor = named.minor < 11 ? named.minor : 0};
  const std::uint32_t hex = memory.read<std::uint32_t>(symbol->address).value_or(0);
  if (hex >> 24U != 3) return {};
  const std::uint32_t level = hex >> 4U & 0xfU;
  return {.minor = hex >> 16U & 0xffU, .is_release = level == kCandidate || level == kFinal};
}

FoundPython find_by(const MemoryWords& memory, const PythonLayout& layout,
                    const DynamicSymbols& symbols, std::uint64_t runtime) {
  if (layout.has_debug_offsets()) {
    const auto offsets = compare_debug_offsets(layout, memory.range(runtime, kDebugOffsetsBytes));
    if (offsets == DebugOffsets::FreeThreaded) {
      return refused(PythonRefusal::Build, "it is built without the GIL");
    }
    if (offsets == DebugOffsets::Differ) {
      return refused(PythonRefusal::Memory, "its own table of offsets differs from its version's");
    }
  }
  const auto code_type = symbols.find("PyCode_Type");
  const auto key = memory.read<std::uint32_t>(runtime + layout.thread_key);
  if (!code_type || !key) return refused(PythonRefusal::Memory, "its memory could not be read");
  if (*key >= kThreadKeys) {
    return refused(PythonRefusal::Memory, "it keeps its threads' states under too high a key");
  }
  const auto eval = symbols.find("_PyEval_EvalFrameDefault");
  return {.runtime = PythonRuntime{.layout = &layout,
                                   .address = runtime,
                                   .thread_key = *key,
                                   .code_type = code_type->address,
                                   .eval_begin = eval ? eval->address : 0,
                                   .eval_end = eval ? eval->address + eval->size : 0},
          .why = {}};
}

}  // namespace

bool may_be_python(std::string_view file_name) {
  if (file_name.starts_with(kLibrary)) file_name.remove_prefix(kLibrary.size());
  return file_name.starts_with(kPython);
}

FoundPython find_python(const MemoryWords& memory, std::uint64_t base, std::string_view file_name) {
  const auto symbols = DynamicSymbols::read(memory, base);
  if (!symbols) return refused(PythonRefusal::Memory, "its exported symbols could not be read");
  const auto runtime = symbols->find("_PyRuntime");
  if (!runtime) return refused(PythonRefusal::Memory, "it has no _PyRuntime");
  const NamedVersion named = version_of(file_name);
  const Version version = read_version(memory, *symbols, named);
  if (version.minor == 0)
    return refused(PythonRefusal::Version, "nothing says which version it is");
  const std::string number = "3." + std::to_string(version.minor);
  if (!version.is_release) {
    return refused(PythonRefusal::Version, "its version, " + number + ", is not a release");
  }
  const PythonLayout* const layout = find_python_layout(version.minor);
  if (layout == nullptr) {
    return refused(PythonRefusal::Version, "its version, " + number + ", is not known");
  }
  if (named.flags.find('d') != std::string_view::npos) {
    return refused(PythonRefusal::Build, "it is built for debugging");
  }
  if (named.flags.find('t') != std::string_view::npos) {
    return refused(PythonRefusal::Build, "it is built without the GIL");
  }
  return find_by(memory, *layout, *symbols, runtime->address);
}

}  // namespace offcpud
