// SPDX-License-Identifier: Apache-2.0
#include "python/python_frames.h"

#include <algorithm>

#include "reader/memory_words.h"

namespace offcpud {
namespace {

// glibc's struct pthread has the values of the first keys in place, in pairs of a serial number and
// the value (nptl/descr.h, specific_1stblock; x86-64, unchanged since 2.17 at least).
constexpr std::uint64_t kFirstBlock = 0x310, kPair = 16, kValue = 8;

// From 3.11 on the frames of calls lie side by side, so one read gets several. It stays within the
// page of the frame, as the one before need not exist.
constexpr std::uint64_t kPage = 4096, kBefore = 2048;

constexpr std::uint8_t kLeastShim = 3;  // FRAME_OWNED_BY_CSTACK, _BY_INTERPRETER

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t offset) {
  return value_at<std::uint64_t>(bytes, offset);
}

}  // namespace

PythonFrames::PythonFrames(const PythonRuntime& runtime, std::uint64_t thread_pointer)
    : runtime_(runtime), thread_pointer_(thread_pointer) {
  if (thread_pointer == 0) {
    finish(End::NoState);
    return;
  }
  want(Step::Slot,
       thread_pointer + kFirstBlock + std::uint64_t{runtime.thread_key} * kPair + kValue,
       sizeof(std::uint64_t));
}

void PythonFrames::want(Step step, std::uint64_t address, std::size_t size) {
  step_ = step;
  from_ = address;
  size_ = size;
}

void PythonFrames::want_frame(std::uint64_t address) {
  at_ = address;
  const std::uint64_t in_page = address & (kPage - 1);
  const std::uint64_t before =
      runtime_.layout->is_one_each() ? 0 : std::min<std::uint64_t>(in_page, kBefore);
  want(Step::Frame, address - before, before + runtime_.layout->frame_bytes);
}

void PythonFrames::finish(End end) {
  step_ = Step::Done;
  end_ = end;
}

void PythonFrames::take(std::span<const std::byte> bytes) {
  const bool is_whole = bytes.size() >= size_;
  if (!is_whole) return finish(step_ == Step::Slot ? End::NoState : End::Mismatch);
  if (++steps_ > kMostSteps) return finish(End::Depth);
  switch (step_) {
    case Step::Slot: {
      const std::uint64_t state = word_at(bytes, 0);
      if (state == 0) return finish(End::NoState);
      const PythonLayout& layout = *runtime_.layout;
      return want(Step::State, state,
                  std::max(layout.thread_id, layout.frame) + sizeof(std::uint64_t));
    }
    case Step::State:
      return take_state(bytes);
    case Step::CFrame:
      return take_cframe(bytes);
    case Step::Frame:
      return take_frames(bytes);
    case Step::Done:
      return;
  }
}

// What is under the key is a thread state only if it says the same thread.
void PythonFrames::take_state(std::span<const std::byte> bytes) {
  const PythonLayout& layout = *runtime_.layout;
  if (word_at(bytes, layout.thread_id) != thread_pointer_) return finish(End::Mismatch);
  const std::uint64_t frame = word_at(bytes, layout.frame);
  if (frame == 0) return finish(End::Root);
  if (!layout.has_cframes) return want_frame(frame);
  cframe_ = frame;
  want(Step::CFrame, frame, 3 * sizeof(std::uint64_t));
}

void PythonFrames::take_cframe(std::span<const std::byte> bytes) {
  const PythonLayout& layout = *runtime_.layout;
  cframe_previous_ = word_at(bytes, layout.cframe_previous);
  const std::uint64_t frame = resumes_ != 0 ? resumes_ : word_at(bytes, layout.cframe_frame);
  if (frame == 0) return finish(End::Root);
  want_frame(frame);
}

void PythonFrames::take_frames(std::span<const std::byte> bytes) {
  const std::size_t frame_bytes = runtime_.layout->frame_bytes;
  const std::uint64_t end = from_ + bytes.size();
  for (std::uint64_t at = at_;;) {
    const std::uint64_t next = take_frame(at, bytes.subspan(at - from_, frame_bytes));
    if (next == 0 || step_ != Step::Frame) return;
    if (++steps_ > kMostSteps) return finish(End::Depth);
    const bool is_here = next >= from_ && next < end && frame_bytes <= end - next;
    if (!is_here) return want_frame(next);
    at = next;
  }
}

void PythonFrames::set_host(std::uint64_t host) {
  for (; hosted_ < frames_.size(); ++hosted_) frames_[hosted_].host = host;
}

std::uint64_t PythonFrames::take_frame(std::uint64_t address, std::span<const std::byte> bytes) {
  const PythonLayout& layout = *runtime_.layout;
  constexpr std::uint64_t kTags = 3;  // from 3.14 on, references have tags in the lowest bits
  const std::uint64_t previous = word_at(bytes, layout.previous);
  const bool is_shim =
      layout.has_shims() && value_at<std::uint8_t>(bytes, layout.owner) >= kLeastShim;
  if (is_shim) {
    set_host(address);
    if (left_out_) {
      finish(End::Depth);
      return 0;
    }
  } else if (frames_.size() < kMost) {
    const std::uint64_t instruction = word_at(bytes, layout.instruction);
    const bool is_short = layout.instruction_unit() != 0;
    frames_.push_back({.code = word_at(bytes, layout.code) & ~kTags,
                       .instruction = is_short ? instruction & 0xffffffffU : instruction,
                       .host = 0});
  } else {
    // The walk goes on to the shim, which says where the last frame that is kept is.
    left_out_ = true;
    if (!layout.has_shims()) {
      finish(End::Depth);
      return 0;
    }
  }
  if (layout.is_entry != 0) {
    set_host(cframe_);
    if (value_at<std::uint8_t>(bytes, layout.is_entry) != 0 && previous != 0) {
      resumes_ = previous;
      cframe_ = cframe_previous_;
      want(Step::CFrame, cframe_, 3 * sizeof(std::uint64_t));
      return 0;
    }
  }
  if (previous == 0) finish(left_out_ ? End::Depth : End::Root);
  return previous;
}

}  // namespace offcpud
