// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpf_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <time.h>  // NOLINT(modernize-deprecated-headers): clock_getres() is POSIX's
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <vector>

#include "base/unique_handle.h"
#include "kernel/bpf_iterator.h"
#include "kernel/bpf_log.h"
#include "kernel/optional_features.h"
#include "kernel/syscall_classes.h"
#include "offcpud.h"
#include "offcpud.skel.h"

namespace offcpud {

// A part of BpfSession::State, so not in the unnamed namespace.
struct SkeletonDeleter {
  void operator()(offcpud_bpf* skeleton) const noexcept { offcpud_bpf::destroy(skeleton); }
};

namespace {

using Skeleton = std::unique_ptr<offcpud_bpf, SkeletonDeleter>;

Status set_size(bpf_map* map, std::uint32_t entries) {
  if (const int error = bpf_map__set_max_entries(map, entries); error != 0) {
    return Error::from_errno(-error, "size map", bpf_map__name(map));
  }
  return {};
}

Status size_process_maps(offcpud_bpf& skeleton, std::uint32_t processes) {
  const std::uint32_t hists = processes * kHistogramsPerProcess;
  TRY_VOID(set_size(skeleton.maps.processes, processes + 1));
  TRY_VOID(set_size(skeleton.maps.free_processes, processes));
  TRY_VOID(set_size(skeleton.maps.process_hists, hists + 1));
  return set_size(skeleton.maps.free_process_hists, hists);
}

// Loads those programs of optional features whose feature is wanted.
void choose_programs(offcpud_bpf& skeleton, const FeatureReport& features) {
  for (const OptionalFeature& feature : optional_features()) {
    const bool wanted =
        feature.name == "stacks" ? features.has_stacks() : features.has(feature.name);
    for (const std::string_view name : feature.own) {
      bpf_program__set_autoload(bpf_object__find_program_by_name(skeleton.obj, name.data()),
                                wanted);
    }
  }
}

// Loads only programs with a part in the feature.
void keep_only(offcpud_bpf& skeleton, const OptionalFeature& feature) {
  const auto has = [](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton.obj) {
    const std::string_view name = bpf_program__name(program);
    if (!has(feature.own, name) && !has(feature.shared, name)) {
      bpf_program__set_autoload(program, false);
    }
  }
}

// Constants by which programs identify files of processes that the daemon does not know yet; see
// take_area() in unwind.bpf.h.
void describe_files(offcpud_bpf& skeleton, const FeatureReport& features) {
  auto& constants = *skeleton.rodata;
  constants.unwind_page_shift = static_cast<std::uint32_t>(
      std::countr_zero(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))));
  if (!features.btrfs) return;
  constants.unwind_btrfs_root_at = features.btrfs->root_at;
  constants.unwind_btrfs_device_at = static_cast<std::uint64_t>(features.btrfs->device_at);
}

void describe_fuse(offcpud_bpf& skeleton, const FeatureReport& features) {
  if (!features.fuse) return;
  auto& constants = *skeleton.rodata;
  const auto set = [](volatile __u64& to, std::int64_t at) { to = static_cast<__u64>(at); };
  set(constants.fuse_request_wait_at, features.fuse->request_wait_at);
  set(constants.fuse_request_mount_at, features.fuse->request_mount_at);
  set(constants.fuse_mount_super_at, features.fuse->mount_super_at);
  set(constants.fuse_mount_link_at, features.fuse->mount_link_at);
  set(constants.fuse_link_device_at, features.fuse->link_device_at);
  set(constants.fuse_file_link_at, features.fuse->file_link_at);
  constants.fuse_known = 1;
}

// The clock that ticks with jiffies has their length (kernel/time/posix-timers.c).
std::uint64_t jiffy_ns() {
  timespec length{};
  if (::clock_getres(CLOCK_MONOTONIC_COARSE, &length) != 0 || length.tv_nsec <= 0)
    return 10'000'000;
  return static_cast<std::uint64_t>(length.tv_nsec);
}

Status configure_takers(offcpud_bpf& skeleton, const SubjectPlan& plan, bool wanted) {
  const auto cpus = static_cast<std::uint32_t>(libbpf_num_possible_cpus());
  skeleton.rodata->tell_takers = wanted;
  TRY_VOID(set_size(skeleton.maps.histories, wanted ? cpus : 1));
  return set_size(skeleton.maps.kept_off, wanted ? plan.subjects * plan.shards : 1);
}

// After configure(), which loads the programs of every feature that there is.
Status configure_disks(offcpud_bpf& skeleton, bool wanted) {
  if (wanted) return {};
  bpf_program__set_autoload(skeleton.progs.on_block_getrq, false);
  bpf_program__set_autoload(skeleton.progs.on_block_rq_complete, false);
  return set_size(skeleton.maps.disk_requests, 1);
}

Status configure(offcpud_bpf& skeleton, const SubjectPlan& plan, const FeatureReport& features) {
  TRY_VOID(set_size(skeleton.maps.subjects, plan.subjects * plan.shards));
  TRY_VOID(set_size(skeleton.maps.cgroup_subjects, plan.subjects - 1));
  TRY_VOID(set_size(skeleton.maps.free_subjects, plan.ring_size));
  const auto cpus = static_cast<std::uint32_t>(libbpf_num_possible_cpus());
  TRY_VOID(set_size(skeleton.maps.self_interrupts, cpus));
  auto& constants = *skeleton.rodata;
  constants.shards = plan.shards;
  constants.cpu_bits = plan.cpu_bits;
  constants.own_shards = plan.own_shards;
  constants.tell_wakers = features.has("wakers");
  constants.take_samples = features.has_stacks();
  constants.find_tasks = features.has("task_by_number");
  constants.free_mask = plan.ring_size - 1;
  constants.read_files = features.has("file_kind");
  constants.jiffy_ns = jiffy_ns();
  constants.create_flags = features.has("late_thread_state") ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0;
  constants.preempt_count_at = features.preempt_count_at.value_or(0);
  describe_files(skeleton, features);
  describe_fuse(skeleton, features);
  std::ranges::copy(native_syscall_classes(), constants.syscall_class);
  std::ranges::copy(compat_syscall_classes(), constants.compat_syscall_class);
  choose_programs(skeleton, features);
  return {};
}

// Marks all elements but 0 as free: 0 means none, or "(other)".
Status fill_stack(const bpf_map* stack, std::uint32_t elements) {
  for (std::uint32_t element = elements; element > 0; --element) {
    if (const int error = bpf_map_update_elem(bpf_map__fd(stack), nullptr, &element, BPF_ANY);
        error != 0) {
      return Error::from_errno(-error, "fill map", bpf_map__name(stack));
    }
  }
  return {};
}

Status fill_free_lists(offcpud_bpf& skeleton, const SubjectPlan& plan) {
  for (std::uint32_t i = 0; i + 1 < plan.subjects; ++i) {
    const std::uint32_t subject = i + 1;
    if (const int error =
            bpf_map_update_elem(bpf_map__fd(skeleton.maps.free_subjects), &i, &subject, BPF_ANY);
        error != 0) {
      return Error::from_errno(-error, "fill map", "free_subjects");
    }
  }
  skeleton.bss->free_tail = plan.subjects - 1;
  for (const bpf_map* stack : {skeleton.maps.free_processes, skeleton.maps.free_process_hists}) {
    TRY_VOID(fill_stack(stack, bpf_map__max_entries(stack)));
  }
  return {};
}

Error load_error(int code, const BpfLog& log) {
  if (code == EPERM || code == EACCES) {
    // EACCES can also come from the verifier; then there is a log.
    if (code == EPERM || !log.has_verifier_log()) {
      return Error(
          "the kernel refused to load BPF programs: CAP_BPF and CAP_PERFMON are needed; "
          "start offcpud as its systemd unit or with sudo.",
          ErrorKind::Permission);
    }
  }
  if (code == ENOMEM) {
    return Error(
        "the kernel has no memory for the BPF maps: lower max_cgroups, or raise MemoryMax of the "
        "service (systemctl edit offcpud).");
  }
  auto error = Error::from_errno(code, "load the BPF programs");
  return Error(error.message() + "; the kernel says:\n" + log.tail(20), ErrorKind::Unsupported);
}

struct LoadPlan {
  SessionLimits limits;
  SubjectPlan subjects;
};

// Loads the programs of these features; with `alone`, only programs with a part in that feature.
Result<Skeleton> load_programs(const LoadPlan& plan, const FeatureReport& features,
                               const BpfLog& log, const OptionalFeature* alone = nullptr) {
  Skeleton skeleton(offcpud_bpf::open(nullptr));
  if (!skeleton) return load_error(errno, log);
  TRY_VOID(configure(*skeleton, plan.subjects, features));
  TRY_VOID(configure_takers(*skeleton, plan.subjects, plan.limits.takers));
  TRY_VOID(configure_disks(*skeleton, plan.limits.disk_loads));
  TRY_VOID(size_process_maps(*skeleton, plan.limits.processes));
  if (alone != nullptr) keep_only(*skeleton, *alone);
  if (const int error = offcpud_bpf::load(skeleton.get()); error != 0) {
    return load_error(-error, log);
  }
  return skeleton;
}

// Turns off every feature whose programs the kernel refuses even when they are loaded alone.
void give_up_refused(const LoadPlan& plan, FeatureReport& features) {
  for (const OptionalFeature& feature : optional_features()) {
    if (!features.has(feature.name)) continue;
    const BpfLog log;
    const auto loaded = load_programs(plan, features, log, &feature);
    if (!loaded && loaded.error().kind() == ErrorKind::Unsupported) {
      features.refuse(feature.name, log.verdict());
    }
  }
}

Result<Skeleton> load_all(const LoadPlan& plan, const FeatureReport& features) {
  const BpfLog log;
  return load_programs(plan, features, log);
}

// Most kernels accept all programs, so single features are tried only after a refusal
// (docs/decisions/0017-one-object.md).
Result<Skeleton> load_accepted(const LoadPlan& plan, FeatureReport& features) {
  auto loaded = load_all(plan, features);
  if (loaded || loaded.error().kind() != ErrorKind::Unsupported) return loaded;
  give_up_refused(plan, features);
  return load_all(plan, features);
}

}  // namespace

struct BpfSession::State {
  SubjectPlan plan;
  FeatureReport features;
  std::unique_ptr<offcpud_bpf, SkeletonDeleter> skeleton;
  BpfLink iterator;
  std::vector<BpfLink> links;  // declared after the skeleton, so destroyed before it
};

BpfSession::BpfSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
BpfSession::BpfSession(BpfSession&&) noexcept = default;
BpfSession& BpfSession::operator=(BpfSession&&) noexcept = default;
BpfSession::~BpfSession() = default;

const SubjectPlan& BpfSession::plan() const {
  return state_->plan;
}
const FeatureReport& BpfSession::features() const {
  return state_->features;
}
offcpud_bpf& BpfSession::skeleton() const {
  return *state_->skeleton;
}

bool BpfSession::tells_wakers() const {
  return state_->skeleton->rodata->tell_wakers != 0;
}

bool BpfSession::tells_takers() const {
  return state_->skeleton->rodata->tell_takers != 0;
}

bool BpfSession::counts_disk_loads() const {
  return bpf_program__autoload(state_->skeleton->progs.on_block_rq_complete);
}

bool BpfSession::takes_stacks() const {
  return state_->skeleton->rodata->take_samples != 0;
}

bool BpfSession::tells_cgroup_changes() const {
  return state_->features.has("cgroup_events");
}

Result<BpfSession> BpfSession::load(const SessionLimits& limits, FeatureReport features) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return Error::from_errno(-cpus, "count the possible CPUs");

  auto state = std::make_unique<State>();
  state->plan = plan_subjects(limits.cgroups, static_cast<std::uint32_t>(cpus));
  TRY(state->skeleton, load_accepted({limits, state->plan}, features));
  state->features = std::move(features);
  TRY_VOID(fill_free_lists(*state->skeleton, state->plan));
  return BpfSession(std::move(state));
}

Status BpfSession::attach() {
  const BpfLog log;
  offcpud_bpf& skeleton = *state_->skeleton;
  state_->iterator.reset(bpf_program__attach_iter(skeleton.progs.walk_threads, nullptr));
  if (!state_->iterator) return Error::from_errno(errno, "attach the task iterator");
  TRY_VOID(seed());  // creates states, so that the programs find one from their first event on

  // Forks first, so that no thread is missed. sched_switch last: for a block that it sees begin,
  // the wakeup is seen, too.
  for (bpf_program* program : {skeleton.progs.on_cgroup_mkdir, skeleton.progs.on_cgroup_rmdir,
                               skeleton.progs.on_block_getrq, skeleton.progs.on_block_rq_complete,
                               skeleton.progs.on_task_newtask, skeleton.progs.on_sched_wakeup_new,
                               skeleton.progs.on_irq_work, skeleton.progs.on_sched_waking,
                               skeleton.progs.on_sched_switch}) {
    if (!bpf_program__autoload(program)) continue;
    BpfLink link(bpf_program__attach(program));
    if (!link) return Error::from_errno(errno, "attach program", bpf_program__name(program));
    state_->links.push_back(std::move(link));
  }
  skeleton.data_settings->attached = 1;
  return seed();
}

void BpfSession::detach() {
  while (!state_->links.empty()) state_->links.pop_back();  // last attached, first detached
}

Result<UniqueFd> BpfSession::open_walk() const {
  return begin_iteration(state_->iterator, "walk the threads");
}

Status BpfSession::seed() {
  TRY(const UniqueFd walk, open_walk());
  // Discards the records; reading them drives the walk.
  std::vector<std::byte> records(std::size_t{32} << 10);
  for (std::size_t got = 1; got != 0;) {
    TRY(got, read_iteration(walk, records, "walk the threads"));
  }
  return {};
}

void BpfSession::tell_stalls(std::uint64_t longer_than_ns, std::uint32_t kinds) {
  state_->skeleton->data_settings->stall_ns = longer_than_ns;
  state_->skeleton->data_settings->stall_kinds = kinds;
}

Result<std::uint64_t> BpfSession::recursion_misses() const {
  std::uint64_t misses = 0;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, state_->skeleton->obj) {
    // Nothing is lost at a fork: a thread whose fork was missed gets its state at its first event,
    // or that event counts as lost.
    if (program == state_->skeleton->progs.on_task_newtask) continue;
    if (!bpf_program__autoload(program)) continue;
    bpf_prog_info info{};
    std::uint32_t size = sizeof(info);
    if (const int error = bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size);
        error != 0) {
      return Error::from_errno(-error, "read the state of program", bpf_program__name(program));
    }
    misses += info.recursion_misses;
  }
  return misses;
}

}  // namespace offcpud
