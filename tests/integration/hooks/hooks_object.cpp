// SPDX-License-Identifier: Apache-2.0
#include "hooks_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/unique_handle.h"
#include "hooks.skel.h"
#include "kernel/map_view.h"
#include "unwind.h"

namespace offcpud {
namespace {

Status fill(const bpf_map* list, std::uint32_t elements) {
  for (std::uint32_t element = elements; element > 0; --element) {
    const int error = bpf_map_update_elem(bpf_map__fd(list), nullptr, &element, BPF_ANY);
    if (error != 0) return Error::from_errno(-error, "fill map", bpf_map__name(list));
  }
  return {};
}

}  // namespace

void HooksObject::Destroy::operator()(hooks_bpf* skeleton) const noexcept {
  hooks_bpf::destroy(skeleton);
}

Result<HooksObject> HooksObject::load(Disks disks) {
  HooksObject object;
  object.skeleton_.reset(hooks_bpf::open(nullptr));
  if (!object.skeleton_) return Error::from_errno(errno, "open the programs");
  hooks_bpf& skeleton = *object;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton.obj) {
    const std::string name = bpf_program__name(program);
    const bool is_of_disks = disks == Disks::Counted && name.starts_with("on_block_");
    bpf_program__set_autoload(program, name.starts_with("run_") || is_of_disks);
  }
  const auto& maps = skeleton.maps;
  const std::array<std::pair<bpf_map*, std::uint32_t>, 10> sizes = {{
      {maps.processes, kProcesses + 1},
      {maps.free_processes, kProcesses},
      {maps.process_hists, kHists + 1},
      {maps.free_process_hists, kHists},
      {maps.subjects, kCgroups + 1},
      {maps.cgroup_subjects, kCgroups},
      {maps.free_subjects, 64},
      {maps.self_interrupts, 1},
      {maps.chosen_blocks, kChosen},
      {maps.disk_loads, kDiskLoaders},
  }};
  for (const auto& [map, entries] : sizes) {
    if (const int error = bpf_map__set_max_entries(map, entries); error != 0) {
      return Error::from_errno(-error, "size map", bpf_map__name(map));
    }
  }
  skeleton.rodata->free_mask = 63;
  skeleton.rodata->create_flags = BPF_LOCAL_STORAGE_GET_F_CREATE;
  skeleton.rodata->take_samples = skeleton.rodata->tell_wakers = 1;
  if (const int error = hooks_bpf::load(&skeleton); error != 0) {
    return Error::from_errno(-error, "load the programs");
  }
  const std::uint32_t no_fde = OFFCPUD_UNWIND_RULE_NO_FDE;
  const offcpud_unwind_rule rule{.kind = OFFCPUD_UNWIND_NO_FDE};
  const int error = bpf_map_update_elem(bpf_map__fd(maps.unwind_rules), &no_fde, &rule, BPF_ANY);
  if (error != 0) return Error::from_errno(-error, "write a rule");
  TRY_VOID(fill(maps.free_processes, kProcesses));
  TRY_VOID(fill(maps.free_process_hists, kHists));
  return object;
}

Status HooksObject::run(const bpf_program* program) {
  bpf_test_run_opts options{.sz = sizeof(options)};
  const int error = bpf_prog_test_run_opts(bpf_program__fd(program), &options);
  if (error != 0) return Error::from_errno(-error, "run program", bpf_program__name(program));
  return {};
}

Status HooksObject::walk(const bpf_program* program) {
  const std::unique_ptr<bpf_link, int (*)(bpf_link*)> link(
      bpf_program__attach_iter(program, nullptr), &bpf_link__destroy);
  if (!link) return Error::from_errno(errno, "attach iterator", bpf_program__name(program));
  const UniqueFd walk(bpf_iter_create(bpf_link__fd(link.get())));
  std::array<char, 256> nothing{};
  if (!walk || ::read(walk.get(), nothing.data(), nothing.size()) < 0) {
    return Error::from_errno(errno, "walk the threads");
  }
  return {};
}

std::uint64_t HooksObject::lost(offcpud_loss cause) const {
  const auto total = sum_percpu(skeleton_->maps.losses, cause);
  return total ? *total : ~std::uint64_t{0};
}

offcpud_process HooksObject::process(std::uint32_t index) const {
  offcpud_process process{};
  (void)bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.processes), &index, &process);
  return process;
}

Status HooksObject::set_process(std::uint32_t index, const offcpud_process& process) const {
  const int map = bpf_map__fd(skeleton_->maps.processes);
  const int error = bpf_map_update_elem(map, &index, &process, BPF_ANY);
  if (error != 0) return Error::from_errno(-error, "write a process");
  return {};
}

offcpud_subject HooksObject::subject(std::uint32_t index) const {
  offcpud_subject subject{};
  (void)bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.subjects), &index, &subject);
  return subject;
}

std::uint32_t HooksObject::drain(const bpf_map* list) {
  std::uint32_t element = 0, drained = 0;
  while (bpf_map_lookup_and_delete_elem(bpf_map__fd(list), nullptr, &element) == 0) ++drained;
  return drained;
}

}  // namespace offcpud
