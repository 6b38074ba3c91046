// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "offcpud.h"

struct hooks_bpf;
struct bpf_program;
struct bpf_map;

namespace offcpud {

// The programs with small maps and without any attached: nothing happens but what a test asks for.
class HooksObject {
 public:
  static constexpr std::uint32_t kProcesses = 2, kHists = 2, kCgroups = 4, kChosen = 1,
                                 kDiskLoaders = 64;
  // Counted: loads also the programs at the tracepoints of disks, for the test to attach.
  enum class Disks { Ignored, Counted };

  static Result<HooksObject> load(Disks disks = Disks::Ignored);

  hooks_bpf& operator*() const { return *skeleton_; }
  hooks_bpf* operator->() const { return skeleton_.get(); }

  // Runs one of the programs here, in the calling thread.
  static Status run(const bpf_program* program);
  // Runs an iterator of the tests over all threads.
  static Status walk(const bpf_program* program);
  [[nodiscard]] std::uint64_t lost(offcpud_loss cause) const;
  [[nodiscard]] offcpud_process process(std::uint32_t index) const;
  [[nodiscard]] Status set_process(std::uint32_t index, const offcpud_process& process) const;
  [[nodiscard]] offcpud_subject subject(std::uint32_t index) const;
  // Takes everything out of a list of free elements; how many there were.
  static std::uint32_t drain(const bpf_map* list);

 private:
  struct Destroy {
    void operator()(hooks_bpf* skeleton) const noexcept;
  };
  std::unique_ptr<hooks_bpf, Destroy> skeleton_;
};

}  // namespace offcpud
