// SPDX-License-Identifier: Apache-2.0
#include "api/syscall_names.h"

#include <seccomp.h>

#include <cstdlib>
#include <memory>

namespace offcpud {
namespace {

// The table of this host, and that of the 32-bit programs that also run on it.
#if defined(__x86_64__)
constexpr std::uint32_t kCompatTable = SCMP_ARCH_X86;
#elif defined(__aarch64__)
constexpr std::uint32_t kCompatTable = SCMP_ARCH_ARM;
#else
constexpr std::uint32_t kCompatTable = SCMP_ARCH_NATIVE;
#endif

struct Free {
  void operator()(char* text) const { std::free(text); }  // NOLINT(*-no-malloc): libseccomp's
};

}  // namespace

std::string syscall_name(std::uint32_t number, bool compat) {
  const std::unique_ptr<char, Free> name(seccomp_syscall_resolve_num_arch(
      compat ? kCompatTable : SCMP_ARCH_NATIVE, static_cast<int>(number)));
  return name ? name.get() : std::string();
}

}  // namespace offcpud
