// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "kernel/syscall_classes.h"
#include "pipeline/reading_source.h"

namespace offcpud {

// Looks up what blocked threads wait for. Used by one thread; the session must outlive it. A
// look-up walks twice over all threads, and over the descriptors of each thread that waits for one.
class WaitDetails {
 public:
  static constexpr std::size_t kMost = 64;  // threads in one look-up
  // Time limit: a process may have a hundred thousand descriptors. A look-up handles at least one
  // thread; callers ask again for those left out.
  static constexpr std::chrono::milliseconds kLongest{50};

  // Needs CAP_BPF, as the other functions do. Without the feature wait_details, look-ups find
  // nothing.
  static Result<std::unique_ptr<WaitDetails>> open(const BpfSession& session);
  ~WaitDetails();
  WaitDetails(const WaitDetails&) = delete;
  WaitDetails& operator=(const WaitDetails&) = delete;

  // For threads of the walk that are still blocked. Leaves out `tids` beyond kMost.
  Result<std::vector<WaitReport>> look_up(const ThreadWalk& walk,
                                          std::span<const std::uint32_t> tids);

 private:
  struct Links;
  WaitDetails(const BpfSession& session, std::unique_ptr<Links> links);

  void describe_path(const offcpud_thread& thread, WaitDetail& detail);
  void describe_descriptor(const offcpud_thread& thread, std::int32_t fd, WaitDetail& detail);
  [[nodiscard]] bool takes_descriptor(const WaitDetail& detail) const;
  static void name_owner(const ThreadWalk& walk, WaitDetail& detail);

  const BpfSession& session_;
  std::unique_ptr<Links> links_;
  SyscallClasses native_ = native_syscall_classes();
  SyscallClasses compat_ = compat_syscall_classes();
};

}  // namespace offcpud
