// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct btf;

namespace offcpud {

// One thing that the kernel may or may not offer, in words.
struct Feature {
  std::string name;  // label `feature` of offcpud_feature_enabled
  bool enabled = false;
  bool required = false;
  std::string detail;    // what it gives, or what is lost without it
  std::string remedy;    // what to do about a missing one
  bool refused = false;  // the kernel has it, but refuses the programs; `remedy` has its words
};

// What this host offers, decided by its BTF and files and never by its version number, which
// backports make meaningless.
struct FeatureReport {
  // How to get from a btrfs file's inode to the device that stat() reports; see unwind_maps.bpf.h.
  struct BtrfsLayout {
    std::int64_t root_at = 0;
    std::int64_t device_at = 0;
  };
  std::vector<Feature> features;
  // Bytes from a CPU's run queue (runqueues) to its preempt_count, both per-CPU variables; with
  // the feature "wakers".
  std::optional<std::int64_t> preempt_count_at;
  // Nothing: there is no btrfs, or it says nothing of its types.
  std::optional<BtrfsLayout> btrfs;

  [[nodiscard]] bool has(std::string_view name) const;
  // Whether blocks can be sampled, for which "stacks" alone is not enough.
  [[nodiscard]] bool has_stacks() const;
  // Why not, and what would help: "stacks: this kernel refuses its programs (...); boot another
  // one". Empty if has_stacks().
  [[nodiscard]] std::string why_no_stacks() const;
  // Turns a feature off whose programs the kernel refuses, with what it said.
  void refuse(std::string_view name, std::string_view verdict);
  // ErrorKind::Unsupported with one sentence for the first required feature that is missing.
  [[nodiscard]] Status require() const;
};

struct HostFacts {
  std::string lockdown;          // text of /sys/kernel/security/lockdown, may be empty
  bool cgroup2_mounted = false;  // a cgroup2 file system is visible
  bool initial_pid_namespace = true;
};

HostFacts read_host_facts();

// From the type information of whatever contains btrfs, the kernel or its module; may be null.
std::optional<FeatureReport::BtrfsLayout> btrfs_layout(const btf* types);

// `btf`: the kernel's type information; null if it has none.
FeatureReport probe_features(const btf* kernel_btf, const HostFacts& host);

// The same for the running kernel.
FeatureReport probe_features();

}  // namespace offcpud
