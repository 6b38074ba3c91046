// SPDX-License-Identifier: Apache-2.0
#include "symbols/kernel_symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace offcpud {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMaxText = 256 << 20;  // 10 MiB are usual
constexpr seconds kLeastInterval{1};
constexpr seconds kFirstPatience{10};
constexpr seconds kLastPatience{600};

// The whole list as it is now. The kernel makes it while it is read in order, so the descriptor is
// wound back, rather than read at offsets, for each of which the kernel would begin anew.
Result<std::string> read_again(int fd, const char* name) {
  if (::lseek(fd, 0, SEEK_SET) != 0) return Error::from_errno(errno, "seek", name);
  std::string text;
  for (;;) {
    constexpr std::size_t kAtOnce = 256 << 10;
    const std::size_t size = text.size();
    text.resize(size + kAtOnce);
    const ssize_t got = ::read(fd, text.data() + size, kAtOnce);
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read", name);
    if (got == 0) return text;
    if (text.size() > kMaxText) return Error(std::string("read '") + name + "': too long");
  }
}

}  // namespace

Result<KernelSymbols> KernelSymbols::open(const Paths& paths) {
  UniqueFd kallsyms(::open(paths.kallsyms, O_RDONLY | O_CLOEXEC));
  if (!kallsyms) return Error::from_errno(errno, "open", paths.kallsyms);
  UniqueFd modules(::open(paths.modules, O_RDONLY | O_CLOEXEC));
  return KernelSymbols(std::move(kallsyms), std::move(modules));
}

std::optional<KernelFunction> KernelSymbols::find(std::uint64_t address, MonotonicTime now) {
  const auto age = now - read_at_;
  if (readings_ == 0 || (changed_ && age >= kLeastInterval)) read(now);
  if (const auto found = table_.find(address)) return found;

  if (now - read_at_ < std::max(patience_, kLeastInterval)) return std::nullopt;
  read(now);
  const auto found = table_.find(address);
  patience_ = found ? kFirstPatience : std::min(patience_ * 2, kLastPatience);
  return found;
}

void KernelSymbols::read(MonotonicTime now) {
  if (readings_ == 0) patience_ = kFirstPatience;
  ++readings_;
  read_at_ = now;
  changed_ = false;
  auto table = read_table();
  if (!table) {
    failure_ = std::move(table).error();  // names known so far are better than none
    return;
  }
  failure_.reset();
  table_ = *std::move(table);
}

Result<KernelSymbolTable> KernelSymbols::read_table() const {
  TRY(const std::string kallsyms, read_again(kallsyms_.get(), "/proc/kallsyms"));
  std::string modules;
  if (modules_) {
    if (auto text = read_again(modules_.get(), "/proc/modules")) modules = *std::move(text);
  }
  return KernelSymbolTable::parse(kallsyms, modules);
}

}  // namespace offcpud
