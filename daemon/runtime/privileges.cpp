// SPDX-License-Identifier: Apache-2.0
#include "runtime/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>

namespace offcpud {
namespace {

struct CapabilitySets {
  std::uint64_t effective = 0;
  std::uint64_t permitted = 0;
  std::uint64_t inheritable = 0;
};

constexpr std::uint64_t bit(unsigned capability) {
  return std::uint64_t{1} << capability;
}
constexpr std::uint64_t bit(Capability capability) {
  return bit(static_cast<unsigned>(capability));
}

// The bare system calls: glibc has no wrappers, and two calls do not justify a library.
using KernelSets = std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3>;

Result<CapabilitySets> read_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  KernelSets kernel{};
  if (::syscall(SYS_capget, &header, kernel.data()) != 0) return Error::from_errno(errno, "capget");
  const auto join = [](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32U | low;
  };
  return CapabilitySets{join(kernel[0].effective, kernel[1].effective),
                        join(kernel[0].permitted, kernel[1].permitted),
                        join(kernel[0].inheritable, kernel[1].inheritable)};
}

Status write_capabilities(const CapabilitySets& sets) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  KernelSets kernel{};
  const auto low = [](std::uint64_t set) { return static_cast<std::uint32_t>(set); };
  const auto high = [](std::uint64_t set) { return static_cast<std::uint32_t>(set >> 32U); };
  kernel[0] = {low(sets.effective), low(sets.permitted), low(sets.inheritable)};
  kernel[1] = {high(sets.effective), high(sets.permitted), high(sets.inheritable)};
  if (::syscall(SYS_capset, &header, kernel.data()) != 0) return Error::from_errno(errno, "capset");
  return {};
}

std::string_view name_of(Capability capability) {
  switch (capability) {
    case Capability::DacReadSearch:
      return "CAP_DAC_READ_SEARCH";
    case Capability::CheckpointRestore:
      return "CAP_CHECKPOINT_RESTORE";
    case Capability::SysPtrace:
      return "CAP_SYS_PTRACE";
    case Capability::Bpf:
      return "CAP_BPF";
    case Capability::Perfmon:
      return "CAP_PERFMON";
  }
  return "unknown";
}

// The bounding set limits what execve() could restore. Shrinking it needs CAP_SETPCAP, which the
// service lacks; there systemd has already shrunk it.
Status drop_bounding(std::uint64_t keep) {
  for (unsigned capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if ((keep & bit(capability)) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability) == 0) continue;
    if (errno == EPERM) return {};
    return Error::from_errno(errno, "drop capability from the bounding set",
                             std::to_string(capability));
  }
  return {};
}

}  // namespace

Status require_capabilities() {
  TRY(const CapabilitySets sets, read_capabilities());
  if ((sets.effective & bit(CAP_SYS_ADMIN)) != 0) return {};
  std::string missing;
  for (const Capability capability : {Capability::Bpf, Capability::Perfmon}) {
    if ((sets.effective & bit(capability)) != 0) continue;
    missing.append(missing.empty() ? "" : " and ").append(name_of(capability));
  }
  if (missing.empty()) return {};
  return Error("offcpud needs " + missing +
                   ", which this process does not have: start it with `systemctl start offcpud` "
                   "or with sudo",
               ErrorKind::Permission);
}

bool has_capability(Capability capability) {
  const auto sets = read_capabilities();
  return sets && (sets->effective & bit(capability)) != 0;
}

Status drop_capabilities(std::span<const Capability> keep) {
  std::uint64_t kept = 0;
  for (const Capability capability : keep) kept |= bit(capability);
  TRY(CapabilitySets sets, read_capabilities());
  TRY_VOID(drop_bounding(kept));
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    return Error::from_errno(errno, "clear the ambient capabilities");
  }
  sets.permitted &= kept;
  sets.effective = sets.permitted;
  sets.inheritable = 0;
  return write_capabilities(sets);
}

}  // namespace offcpud
