// SPDX-License-Identifier: Apache-2.0
#include "unwind_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "elf/vdso.h"
#include "unwind_probe.skel.h"

namespace offcpud {
namespace {

// One line of /proc/PID/maps.
struct MapsLine {
  std::uint64_t begin = 0, end = 0, offset = 0, inode = 0;
  bool executable = false;
  std::string name;
};

// "BEGIN-END PERMISSIONS OFFSET DEVICE INODE NAME"
MapsLine parse(const std::string& line) {
  MapsLine parsed;
  std::istringstream fields(line);
  char dash = 0;
  std::string permissions, device;
  fields >> std::hex >> parsed.begin >> dash >> parsed.end >> permissions >> parsed.offset >>
      device >> std::dec >> parsed.inode >> std::ws;
  std::getline(fields, parsed.name);
  parsed.executable = permissions.size() > 2 && permissions[2] == 'x';
  return parsed;
}

Result<UniqueFd> open_mapping(pid_t process, const MapsLine& line) {
  if (line.name == "[vdso]") return vdso_file();
  char path[96];
  std::snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, process, line.begin,
                line.end);
  UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return Error::from_errno(errno, "open", path);
  return file;
}

}  // namespace

UnwindProbe::UnwindProbe() = default;
UnwindProbe::UnwindProbe(UnwindProbe&&) noexcept = default;
UnwindProbe::~UnwindProbe() = default;

void UnwindProbe::SkeletonDeleter::operator()(unwind_probe_bpf* skeleton) const noexcept {
  unwind_probe_bpf::destroy(skeleton);
}

Result<UnwindProbe> UnwindProbe::start() {
  UnwindProbe probe;
  probe.skeleton_.reset(unwind_probe_bpf::open());
  if (!probe.skeleton_) return Error::from_errno(errno, "open the programs");
  const bool has_exit = libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;
  bpf_program__set_autoload(probe.skeleton_->progs.on_sched_exit, has_exit);
  bpf_program__set_autoload(probe.skeleton_->progs.on_sched_switch, !has_exit);
  if (const int error = unwind_probe_bpf::load(probe.skeleton_.get())) {
    return Error::from_errno(-error, "load the programs");
  }
  const auto& maps = probe.skeleton_->maps;
  TRY(auto unwind_maps, BpfUnwindMaps::open({.mappings = maps.unwind_mappings,
                                             .pages = maps.unwind_pages,
                                             .chunks = maps.unwind_chunks,
                                             .rules = maps.unwind_rules,
                                             .files = maps.unwind_files}));
  probe.maps_ = std::make_unique<BpfUnwindMaps>(std::move(unwind_maps));
  TRY(auto store, TableStore::create(*probe.maps_));
  probe.store_ = std::make_unique<TableStore>(std::move(store));
  if (const int error = unwind_probe_bpf::attach(probe.skeleton_.get())) {
    return Error::from_errno(-error, "attach the programs");
  }
  return probe;
}

Status UnwindProbe::track(pid_t process) {
  const auto tgid = static_cast<std::uint32_t>(process);
  TRY_VOID(store_->remove_process(tgid));
  std::ifstream file("/proc/" + std::to_string(process) + "/maps");
  for (std::string text; std::getline(file, text);) {
    const MapsLine line = parse(text);
    if (!line.executable) continue;
    UnwindObjectId object = OFFCPUD_UNWIND_NO_OBJECT;
    if (line.inode != 0 || line.name == "[vdso]") {
      TRY(const UniqueFd fd, open_mapping(process, line));
      TRY(object, store_->add_object(fd.get()));
    }
    TRY_VOID(store_->add_mapping(tgid, line.begin, line.end, line.offset, object));
  }
  return {};
}

Result<std::vector<unwind_probe_sample>> UnwindProbe::watch(pid_t process,
                                                            std::chrono::milliseconds time) {
  std::vector<unwind_probe_sample> samples;
  const auto add = [](void* to, void* data, std::size_t size) {
    if (size == sizeof(unwind_probe_sample)) {
      static_cast<std::vector<unwind_probe_sample>*>(to)->push_back(
          *static_cast<const unwind_probe_sample*>(data));
    }
    return 0;
  };
  const std::unique_ptr<ring_buffer, decltype(&ring_buffer__free)> ring(
      ring_buffer__new(bpf_map__fd(skeleton_->maps.samples), add, &samples, nullptr),
      &ring_buffer__free);
  if (!ring) return Error::from_errno(errno, "open the ring of samples");
  skeleton_->bss->target_tgid = static_cast<std::uint32_t>(process);
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    (void)ring_buffer__consume(ring.get());
  }
  skeleton_->bss->target_tgid = 0;
  (void)ring_buffer__consume(ring.get());
  return samples;
}

std::uint64_t UnwindProbe::lost() const {
  return skeleton_->bss->lost;
}

}  // namespace offcpud
