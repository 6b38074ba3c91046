// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangle.h"

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <optional>

// Debian has the header in its own directory, others beside the headers of binutils.
#define HAVE_DECL_BASENAME 1  // libiberty.h declares it otherwise than the C library
#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

#include "base/text.h"
#include "base/utf8_prefix.h"

namespace offcpud {
namespace {

constexpr std::string_view kEllipsis = "\u2026";

// A mangled name of a few hundred bytes can expand to gigabytes, because each part may repeat
// everything before it twice. libiberty's callback cannot stop it, so it leaves by longjmp. The
// skipped frames lose nothing: libiberty prints C++ names without allocating; for an identifier of
// Rust in Punycode it holds one small array, which only hostile names can leak.
struct Output {
  std::array<char, kMaxShownName> text;
  std::size_t size = 0;
  std::size_t calls = 0;
  std::jmp_buf full;
};

// Real names need only a few parts per byte. One with more calls than this, most of them with
// empty parts, is none.
constexpr std::size_t kMaxCalls = 16'384;

void append(const char* part, std::size_t size, void* opaque) {
  auto& output = *static_cast<Output*>(opaque);
  const std::size_t fits = std::min(size, output.text.size() - output.size);
  // Rust's demangler passes empty parts as null pointers, which memcpy() does not allow.
  if (fits > 0) std::memcpy(output.text.data() + output.size, part, fits);
  output.size += fits;
  // NOLINTNEXTLINE(cert-err52-cpp)
  if (fits < size || ++output.calls > kMaxCalls) std::longjmp(output.full, 1);
}

enum class Outcome { Done, Full, NotMangled };

using Demangler = int (*)(const char*, int, demangle_callbackref, void*);

// Must have no object with a destructor on the stack, because longjmp skips it.
Outcome run(Demangler demangler, const char* symbol, Output& output) {
  output.size = 0;
  output.calls = 0;
  // NOLINTNEXTLINE(cert-err52-cpp)
  if (setjmp(output.full) != 0) return Outcome::Full;
  return demangler(symbol, DMGL_NO_OPTS, append, &output) != 0 ? Outcome::Done
                                                               : Outcome::NotMangled;
}

std::optional<std::string> run_all(const std::string& symbol) {
  static constexpr std::array<Demangler, 2> kDemanglers{rust_demangle_callback,
                                                        cplus_demangle_v3_callback};
  Output output;
  // Rust first, because its legacy names are also C++ names with a hash at the end.
  for (const Demangler demangler : kDemanglers) {
    const Outcome outcome = run(demangler, symbol.c_str(), output);
    if (outcome == Outcome::NotMangled) continue;
    std::string name(output.text.data(), output.size);
    return outcome == Outcome::Full ? name.append(kEllipsis) : name;
  }
  return std::nullopt;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::string demangle(std::string_view symbol) {
  // "_Z..." and "_R...", or "__Z..." and "__R..." of some linkers; nothing else is mangled.
  const std::string_view start = symbol.substr(0, symbol.find_first_not_of('_') + 1);
  if (!start.starts_with('_') || (start.back() != 'Z' && start.back() != 'R')) {
    return shown_name(symbol);
  }
  // libiberty refuses longer names for having too many parts, and what remains would be of no use.
  constexpr std::size_t kMaxMangled = 4096;
  if (symbol.size() > kMaxMangled) return shown_name(symbol);
  const std::optional<std::string> name = run_all(std::string(symbol));
  return shown_name(name ? std::string_view(*name) : symbol);
}

std::string shown_name(std::string_view name) {
  std::string text = to_valid_utf8(name.substr(0, kMaxShownName + kEllipsis.size()));
  std::replace_if(text.begin(), text.end(), is_control, '?');
  if (name.size() <= kMaxShownName && text.size() <= kMaxShownName) return text;
  text.resize(utf8_prefix(text, kMaxShownName - kEllipsis.size()).size());
  return text.append(kEllipsis);
}

}  // namespace offcpud
