// SPDX-License-Identifier: Apache-2.0
#include "kernel/feature_probe.h"

#include <bpf/btf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>

#include "attribution/cgroup_mount.h"
#include "base/file_io.h"

namespace offcpud {
namespace {

const btf_type* type_of(const btf* types, const char* name, std::uint32_t kind) {
  const int id = types ? btf__find_by_name_kind(types, name, kind) : -1;
  return id > 0 ? btf__type_by_id(types, static_cast<std::uint32_t>(id)) : nullptr;
}

bool has_member(const btf* types, const char* structure, std::string_view member) {
  const btf_type* type = type_of(types, structure, BTF_KIND_STRUCT);
  if (!type) return false;
  const btf_member* members = btf_members(type);
  return std::any_of(members, members + btf_vlen(type), [&](const btf_member& m) {
    return btf__name_by_offset(types, m.name_off) == member;
  });
}

// The tracepoint's callback type, `typedef void (*btf_trace_NAME)(void *, ...)`.
const btf_type* tracepoint(const btf* types, const char* name) {
  const btf_type* type =
      type_of(types, (std::string("btf_trace_") + name).c_str(), BTF_KIND_TYPEDEF);
  if (type) type = btf__type_by_id(types, type->type);
  if (type && btf_is_ptr(type)) type = btf__type_by_id(types, type->type);
  return type && btf_is_func_proto(type) ? type : nullptr;
}

bool is_int(const btf* types, const btf_param& parameter, std::uint32_t bytes) {
  const int id = btf__resolve_type(types, parameter.type);
  const btf_type* type = id > 0 ? btf__type_by_id(types, static_cast<std::uint32_t>(id)) : nullptr;
  return type && btf_is_int(type) && type->size == bytes;
}

// The arguments must be (preempt, prev, next, prev_state). 5.18 inserted prev_state second
// (fa2c3254d7cf); its first stable release moved it to the end (9c2136be0878). Without prev_state
// the sleeping state can only be read from the task, where a waker may already have overwritten it.
bool switch_tells_prev_state(const btf* types) {
  const btf_type* callback = tracepoint(types, "sched_switch");
  if (!callback || btf_vlen(callback) < 5) return false;
  const btf_param* parameters = btf_params(callback);
  return is_int(types, parameters[1], 1) && is_int(types, parameters[4], 4);
}

// Whether state may be allocated under a run-queue lock, which only allocators that wake nobody
// allow: a pre-filled cache (6.4 to 6.18, 08a7ce384e33) or kmalloc_nolock (since 6.19,
// f484f4a3e058). Since 7.2 local storage has no other allocator, so nothing names it; owner_refcnt
// is newer than that change.
bool allocates_anywhere(const btf* types) {
  return has_member(types, "bpf_local_storage_map", "selem_ma") ||
         has_member(types, "bpf_local_storage_map", "use_kmalloc_nolock") ||
         has_member(types, "bpf_local_storage", "owner_refcnt");
}

// The offset of a per-CPU variable in the kernel's per-CPU section.
std::optional<std::int64_t> percpu_offset(const btf* types, std::string_view name) {
  const btf_type* section = type_of(types, ".data..percpu", BTF_KIND_DATASEC);
  if (!section) return std::nullopt;
  const btf_var_secinfo* variables = btf_var_secinfos(section);
  for (int i = 0; i < btf_vlen(section); ++i) {
    const btf_type* variable = btf__type_by_id(types, variables[i].type);
    if (btf__name_by_offset(types, variable->name_off) == name) return variables[i].offset;
  }
  return std::nullopt;
}

// The offset of a member in a structure, in bytes; also searches unnamed structures inside.
std::optional<std::int64_t> member_offset(const btf* types, const btf_type* structure,
                                          std::string_view member) {
  if (!structure || !btf_is_composite(structure)) return std::nullopt;
  for (std::uint32_t i = 0; i < btf_vlen(structure); ++i) {
    const btf_member& candidate = btf_members(structure)[i];
    const std::string_view name = btf__name_by_offset(types, candidate.name_off);
    const std::int64_t at = btf_member_bit_offset(structure, i) / 8;
    if (name == member) return at;
    if (!name.empty()) continue;
    const auto inside = member_offset(types, btf__type_by_id(types, candidate.type), member);
    if (inside) return at + *inside;
  }
  return std::nullopt;
}

// preempt_count is a per-CPU variable of its own; from 6.2 to 6.14 it is a member of `pcpu_hot`
// (64701838bf05, ab2bb9c084f7). Programs get to a CPU's run queue from the task that runs there
// (sched_entity.cfs_rq, cfs_rq.rq), and from there to any other per-CPU variable.
std::optional<std::int64_t> preempt_count_at(const btf* types) {
  const auto queue = percpu_offset(types, "runqueues");
  if (!queue || !has_member(types, "sched_entity", "cfs_rq") ||
      !has_member(types, "cfs_rq", "rq")) {
    return std::nullopt;
  }
  if (const auto count = percpu_offset(types, "__preempt_count")) return *count - *queue;
  const auto hot = percpu_offset(types, "pcpu_hot");
  if (!hot) return std::nullopt;
  const auto within =
      member_offset(types, type_of(types, "pcpu_hot", BTF_KIND_STRUCT), "preempt_count");
  if (!within) return std::nullopt;
  return *hot + *within - *queue;
}

// Looks for a layout in the types of the kernel, and then in those of a module. Everybody may read
// the file of a module's types; libbpf's way to them, by their ids, needs CAP_SYS_ADMIN.
template <class Layout>
std::optional<Layout> layout_of_host(const btf* kernel_btf, const std::string& module,
                                     std::optional<Layout> (&layout_in)(const btf*)) {
  if (auto layout = layout_in(kernel_btf)) return layout;
  struct stat file {};
  if (::stat(("/sys/kernel/btf/" + module).c_str(), &file) != 0) return std::nullopt;
  const std::unique_ptr<btf, decltype(&btf__free)> types(
      btf__load_module_btf(module.c_str(), const_cast<btf*>(kernel_btf)), &btf__free);
  return layout_in(types.get());
}

// The programs read the fields by their types (bpf/disk_types.bpf.h).
bool follows_requests(const btf* types) {
  return tracepoint(types, "block_getrq") != nullptr &&
         tracepoint(types, "block_rq_complete") != nullptr && has_member(types, "bio", "bi_bdev") &&
         has_member(types, "request_queue", "disk") &&
         has_member(types, "request", "start_time_ns");
}

std::vector<Feature> required_features(const btf* types, const HostFacts& host) {
  return {
      {"btf", types != nullptr, true, "type information of the running kernel",
       "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, such as Debian's 6.1 or newer"},
      {"sched_switch_prev_state", switch_tells_prev_state(types), true,
       "the tracepoint sched_switch tells in which state a thread leaves the CPU",
       "boot kernel 6.1 or newer"},
      {"task_storage", has_member(types, "task_struct", "bpf_storage"), true,
       "state kept with each thread", "boot kernel 6.1 or newer, built with CONFIG_BPF_SYSCALL=y"},
      {"cgroup2", host.cgroup2_mounted, true, "waits are counted by cgroup of the v2 hierarchy",
       "mount it: mount -t cgroup2 none /sys/fs/cgroup/unified, or boot with "
       "systemd.unified_cgroup_hierarchy=1"},
  };
}

// Who was woken by whom is part of a sample.
constexpr std::array kForStacks = {"wakers", "stacks"};

}  // namespace

bool FeatureReport::has(std::string_view name) const {
  return std::any_of(features.begin(), features.end(),
                     [&](const Feature& f) { return f.name == name && f.enabled; });
}

bool FeatureReport::has_stacks() const {
  return std::ranges::all_of(kForStacks, [this](const char* name) { return has(name); });
}

std::string FeatureReport::why_no_stacks() const {
  std::string text;
  for (const Feature& feature : features) {
    if (feature.enabled || std::ranges::count(kForStacks, feature.name) == 0) continue;
    text += (text.empty() ? "" : "; ") + feature.name + ": " + feature.remedy;
  }
  return text;
}

void FeatureReport::refuse(std::string_view name, std::string_view verdict) {
  const auto found = std::ranges::find(features, name, &Feature::name);
  if (found == features.end()) return;
  found->enabled = false;
  found->refused = true;
  found->remedy = "this kernel refuses its programs";
  if (!verdict.empty()) found->remedy += " (" + std::string(verdict) + ")";
  found->remedy += "; boot another kernel";
}

Status FeatureReport::require() const {
  for (const Feature& feature : features) {
    if (feature.required && !feature.enabled) {
      return Error(
          "this host lacks " + feature.name + " (" + feature.detail + "): " + feature.remedy + ".",
          ErrorKind::Unsupported);
    }
  }
  return {};
}

std::optional<FeatureReport::BtrfsLayout> btrfs_layout(const btf* types) {
  const btf_type* inode = type_of(types, "btrfs_inode", BTF_KIND_STRUCT);
  const auto root = member_offset(types, inode, "root");
  const auto common = member_offset(types, inode, "vfs_inode");
  const auto device =
      member_offset(types, type_of(types, "btrfs_root", BTF_KIND_STRUCT), "anon_dev");
  if (!root || !common || !device) return std::nullopt;
  return FeatureReport::BtrfsLayout{.root_at = *root - *common, .device_at = *device};
}

std::optional<FeatureReport::FuseLayout> fuse_layout(const btf* types) {
  const auto at = [types](const char* structure, const char* member) {
    return member_offset(types, type_of(types, structure, BTF_KIND_STRUCT), member);
  };
  const auto wait = at("fuse_req", "waitq"), mount = at("fuse_req", "fm");
  const auto super = at("fuse_mount", "sb"), link = at("fuse_mount", "fc");
  const auto device = at("fuse_conn", "dev"), file_link = at("fuse_dev", "fc");
  if (!wait || !mount || !super || !link || !device || !file_link) return std::nullopt;
  return FeatureReport::FuseLayout{.request_wait_at = *wait,
                                   .request_mount_at = *mount,
                                   .mount_super_at = *super,
                                   .mount_link_at = *link,
                                   .link_device_at = *device,
                                   .file_link_at = *file_link};
}

HostFacts read_host_facts() {
  HostFacts facts;
  // PROC_PID_INIT_INO of include/linux/proc_ns.h.
  struct stat own {};
  facts.initial_pid_namespace = ::stat("/proc/self/ns/pid", &own) == 0 && own.st_ino == 0xEFFFFFFCU;
  if (auto text = read_file("/sys/kernel/security/lockdown", 4096)) facts.lockdown = *text;
  if (auto mounts = read_file("/proc/self/mountinfo", 4 << 20)) {
    facts.cgroup2_mounted = cgroup2_mount(*mounts).has_value();
  }
  return facts;
}

FeatureReport probe_features(const btf* kernel_btf, const HostFacts& host) {
  const bool readable = host.lockdown.find("[confidentiality]") == std::string::npos;
  FeatureReport report{.features = required_features(kernel_btf, host),
                       .preempt_count_at = preempt_count_at(kernel_btf),
                       .btrfs = btrfs_layout(kernel_btf),
                       .fuse = fuse_layout(kernel_btf)};
  const auto offer = [&](std::string name, bool enabled, std::string detail, std::string remedy) {
    report.features.push_back(
        {std::move(name), enabled, false, std::move(detail), std::move(remedy)});
  };
  offer("file_kind", readable,
        "read and write waits are told apart by kind of file; without it they are 'other'",
        "boot without lockdown=confidentiality");
  offer("cgroup_events", readable && tracepoint(kernel_btf, "cgroup_mkdir") != nullptr,
        "cgroups are named as they are created; without it short-lived ones are '(unknown)'",
        "boot without lockdown=confidentiality");
  offer("throttled",
        has_member(kernel_btf, "task_struct", "throttled") ||
            has_member(kernel_btf, "cfs_rq", "throttle_count"),
        "waits for cpu.max are told apart; without it they count as 'preempted'",
        "boot a kernel built with CONFIG_CFS_BANDWIDTH=y");
  offer("wakers", readable && report.preempt_count_at.has_value(),
        "wakeups are counted, by thread or interrupt as their cause; without it they are not",
        "boot a kernel built with CONFIG_FAIR_GROUP_SCHED=y, without lockdown=confidentiality");
  const bool stacks = readable && tracepoint(kernel_btf, "irq_work_exit") != nullptr;
  offer("stacks", stacks, "stacks of sampled blocks; without it there are none",
        "boot a kernel built with CONFIG_X86_LOCAL_APIC=y, without lockdown=confidentiality");
  offer("task_by_number",
        stacks && type_of(kernel_btf, "bpf_task_from_pid", BTF_KIND_FUNC) != nullptr &&
            type_of(kernel_btf, "bpf_task_release", BTF_KIND_FUNC) != nullptr,
        "chains of short waits are followed over three threads; without it, over one",
        "boot kernel 6.2 or newer, without lockdown=confidentiality");
  offer("wait_details", true,
        "stalls show what they wait for: system call, file, lock and its owner, functions of the "
        "kernel; without it they show only the reason",
        "boot another kernel");
  offer("kernel_names", true,
        "functions of the kernel have their names in stacks; without it they are '[unknown]'",
        "boot another kernel");
  offer("disk_loads", follows_requests(kernel_btf),
        "cgroups that load a disk are told by their requests; without it by io.stat, where the io "
        "controller is on",
        "boot a kernel built with CONFIG_BLOCK=y, 6.1 or newer");
  offer("all_threads", host.initial_pid_namespace,
        "threads that slept before the start are known, and all waits show while in progress; in a "
        "PID namespace of its own the daemon sees only its threads that way, and those outside "
        "once they run",
        "run offcpud on the host, or a container with the host's PID namespace");
  offer("late_thread_state", allocates_anywhere(kernel_btf),
        "a thread whose start was missed gets its state at its first event",
        "boot kernel 6.4 or newer");
  return report;
}

FeatureReport probe_features() {
  const std::unique_ptr<btf, decltype(&btf__free)> types(btf__load_vmlinux_btf(), &btf__free);
  FeatureReport report = probe_features(types.get(), read_host_facts());
  report.btrfs = layout_of_host(types.get(), "btrfs", btrfs_layout);
  report.fuse = layout_of_host(types.get(), "fuse", fuse_layout);
  return report;
}

}  // namespace offcpud
