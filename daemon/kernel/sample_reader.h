// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "kernel/bpf_session.h"
#include "sample.h"

struct ring_buffer;

namespace offcpud {

// Which blocks are sampled; see bpf/sample.bpf.h.
struct SampleChoice {
  std::uint32_t kinds = 0;  // bits by enum offcpud_hist_kind; 0: none
  std::chrono::nanoseconds least{0};
  std::chrono::nanoseconds most = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds interval = std::chrono::milliseconds(10);
};

// The sampled blocks as the programs hand them over. Used by one thread; the session must outlive
// it.
class SampleReader {
 public:
  static Result<std::unique_ptr<SampleReader>> open(const BpfSession& session);
  ~SampleReader();
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;

  // From now on.
  void choose(const SampleChoice& choice);

  // Hands over every waiting sample; returns how many.
  Result<std::uint64_t> drain(const std::function<void(const offcpud_sample_record&)>& take);

  // Nanoseconds that samples stood for which were lost since the last call.
  std::uint64_t take_lost_ns();

 private:
  explicit SampleReader(const BpfSession& session) : session_(session) {}
  static int on_event(void* self, void* data, std::size_t size);

  const BpfSession& session_;
  ring_buffer* ring_ = nullptr;
  const std::function<void(const offcpud_sample_record&)>* take_ = nullptr;  // during drain()
  std::uint64_t taken_ = 0;
  std::uint64_t lost_ns_ = 0;  // at the last take_lost_ns()
};

}  // namespace offcpud
