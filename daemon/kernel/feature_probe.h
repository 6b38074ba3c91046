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

// Something that the kernel may or may not offer, described for people.
struct Feature {
  std::string name;  // label `feature` of offcpud_feature_enabled
  bool enabled = false;
  bool required = false;
  std::string detail;    // what it gives, or what is missing without it
  std::string remedy;    // how to get it
  bool refused = false;  // the kernel has it but refuses the programs; `remedy` says why
};

// What this host offers, found from its BTF and files. The version number is ignored: backports
// make it meaningless.
struct FeatureReport {
  // The way from a btrfs file's inode to the device that stat() reports; see unwind_maps.bpf.h.
  struct BtrfsLayout {
    std::int64_t root_at = 0;
    std::int64_t device_at = 0;
  };
  // Offsets in structures of FUSE, in bytes; bpf/fuse.bpf.h names the fields.
  struct FuseLayout {
    std::int64_t request_wait_at = 0, request_mount_at = 0;
    std::int64_t mount_super_at = 0, mount_link_at = 0;
    std::int64_t link_device_at = 0;
    std::int64_t file_link_at = 0;
  };
  std::vector<Feature> features;
  // Offset from a CPU's run queue (runqueues) to its preempt_count, both per-CPU variables, in
  // bytes. Set with the feature "wakers".
  std::optional<std::int64_t> preempt_count_at;
  // nullopt: there is no btrfs, or its types are unknown.
  std::optional<BtrfsLayout> btrfs;
  // nullopt: there is no FUSE, its module was not loaded yet, or its types are unknown.
  std::optional<FuseLayout> fuse;

  [[nodiscard]] bool has(std::string_view name) const;
  // Whether blocks can be sampled, for which "stacks" alone is not enough.
  [[nodiscard]] bool has_stacks() const;
  // Why not, and what would help: "stacks: this kernel refuses its programs (...); boot another
  // kernel". Empty if has_stacks().
  [[nodiscard]] std::string why_no_stacks() const;
  // Turns off a feature whose programs the kernel refuses; `verdict` is the reason.
  void refuse(std::string_view name, std::string_view verdict);
  // ErrorKind::Unsupported, with one sentence about the first required feature that is missing.
  [[nodiscard]] Status require() const;
};

struct HostFacts {
  std::string lockdown;          // text of /sys/kernel/security/lockdown, may be empty
  bool cgroup2_mounted = false;  // a cgroup2 file system is visible
  bool initial_pid_namespace = true;
};

HostFacts read_host_facts();

// `types`: type information of the kernel or of a module; may be null. nullopt: it does not have
// these types.
std::optional<FeatureReport::BtrfsLayout> btrfs_layout(const btf* types);
std::optional<FeatureReport::FuseLayout> fuse_layout(const btf* types);

// `kernel_btf`: the kernel's type information; null if it has none.
FeatureReport probe_features(const btf* kernel_btf, const HostFacts& host);

// The features of the running kernel.
FeatureReport probe_features();

}  // namespace offcpud
