// SPDX-License-Identifier: Apache-2.0
#include "kernel/block_samples.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "kernel/bpf_iterator.h"
#include "kernel/map_view.h"
#include "kernel/self_interrupts.h"
#include "offcpud.skel.h"

namespace offcpud {
namespace {

constexpr const char* kWalk = "walk the blocked threads";

using Ring = UniqueHandle<&ring_buffer__free, static_cast<ring_buffer*>(nullptr)>;

}  // namespace

struct BlockSamples::Open {
  Ring ring;
  BpfLink blocked;
  SelfInterrupts interrupts;
  BpfLink sockets{};
  BpfLink owners{};
  UniqueFd socket_walk{};  // under way
  std::shared_ptr<SocketTable> socket_table{};
};

BlockSamples::BlockSamples(const BpfSession& session, std::unique_ptr<Open> open)
    : session_(session), open_(std::move(open)) {}
BlockSamples::~BlockSamples() = default;

Result<std::unique_ptr<BlockSamples>> BlockSamples::open(const BpfSession& session) {
  const offcpud_bpf& skeleton = session.skeleton();
  TRY(SelfInterrupts interrupts, SelfInterrupts::make(skeleton.maps.self_interrupts));
  // Not make_unique: clang before 16 cannot initialize an aggregate in parentheses (P0960).
  std::unique_ptr<Open> open(new Open{Ring(), BpfLink(), std::move(interrupts)});
  std::unique_ptr<BlockSamples> samples(new BlockSamples(session, std::move(open)));
  samples->open_->ring.reset(
      ring_buffer__new(bpf_map__fd(skeleton.maps.samples), on_event, samples.get(), nullptr));
  if (!samples->open_->ring) return Error::from_errno(errno, "open the ring of samples");
  if (!session.takes_stacks()) return samples;
  if (session.features().has("wait_details")) {
    samples->open_->sockets.reset(bpf_program__attach_iter(skeleton.progs.walk_sockets, nullptr));
    if (!samples->open_->sockets)
      return Error::from_errno(errno, "attach the iterator over sockets");
    samples->open_->owners.reset(bpf_program__attach_iter(skeleton.progs.walk_owners, nullptr));
    if (!samples->open_->owners)
      return Error::from_errno(errno, "attach the iterator over holders of locks");
  }
  samples->open_->blocked.reset(bpf_program__attach_iter(skeleton.progs.walk_blocked, nullptr));
  if (!samples->open_->blocked) {
    return Error::from_errno(errno, "attach the iterator over blocked threads");
  }
  return samples;
}

void BlockSamples::choose(const SampleChoice& choice) {
  auto& shared = *session_.skeleton().data_settings;
  // One store for each, so that no program reads half of an old one.
  for (std::size_t i = 0; i < kStrata; ++i) {
    std::atomic_ref(shared.sample_intervals_ns[i])
        .store(static_cast<std::uint64_t>(choice.intervals.of[i].count()),
               std::memory_order_relaxed);
  }
  shared.target_interval_ns = static_cast<std::uint64_t>(choice.target_interval.count());
  const std::size_t targets = std::min(choice.targets.size(), std::size(shared.targets));
  std::ranges::copy_n(choice.targets.begin(), static_cast<std::ptrdiff_t>(targets), shared.targets);
  shared.target_count = static_cast<std::uint32_t>(targets);
  const BlockFilter& blocks = choice.blocks;
  shared.sample_min_ns = blocks.min_ns;
  shared.sample_max_ns = blocks.max_ns;
  shared.sample_threads = (blocks.user_threads ? OFFCPUD_SAMPLE_PROGRAMS : 0U) |
                          (blocks.kernel_threads ? OFFCPUD_SAMPLE_KERNEL_THREADS : 0U);
  shared.sample_states = blocks.task_state.value_or(0);  // 0: any
  shared.sample_kinds = blocks.kinds;                    // last: turns the sampling on
}

bool BlockSamples::has_hooks() const {
  return session_.takes_stacks();
}

int BlockSamples::on_event(void* self, void* data, std::size_t size) {
  auto& samples = *static_cast<BlockSamples*>(self);
  constexpr std::size_t kHead = offsetof(offcpud_sample_record, frames);
  if (size < kHead) return 0;
  const auto& record = *static_cast<const offcpud_sample_record*>(data);
  const std::size_t frames = (size - kHead) / sizeof(std::uint64_t);
  ++samples.taken_;
  SampledBlock block = sampled_block(record.sample, record.peer, std::span(record.frames, frames));
  block.past = record.past;
  (*samples.take_)(block);
  return 0;
}

Result<std::uint64_t> BlockSamples::drain(const std::function<void(const SampledBlock&)>& take) {
  take_ = &take;
  taken_ = 0;
  const int drained = ring_buffer__consume(open_->ring.get());
  take_ = nullptr;
  open_->interrupts.empty();
  if (drained < 0) return Error::from_errno(-drained, "read the ring of samples");
  return taken_;
}

Status BlockSamples::walk_blocked(BlockAge age,
                                  const std::function<void(const offcpud_blocked_record&)>& take) {
  if (!open_->blocked) return {};
  session_.skeleton().data_settings->walk_young = age == BlockAge::Any ? 1 : 0;
  return read_records<offcpud_blocked_record>(open_->blocked, kWalk, take);
}

Status BlockSamples::look_at(std::uint32_t local_tgid,
                             const std::function<void(const offcpud_blocked_record&)>& take) {
  constexpr const char* kLook = "look at the blocked threads of a process";
  if (!open_->blocked) return {};
  bpf_iter_link_info info{};
  info.task.pid = local_tgid;
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));
  const BpfLink link(bpf_program__attach_iter(session_.skeleton().progs.look_blocked, &options));
  if (!link) return Error::from_errno(errno, kLook);
  return read_records<offcpud_blocked_record>(link, kLook, take);
}

// The program ends a read once its time is over, as a host may have very many files.
Result<std::shared_ptr<const SocketTable>> BlockSamples::walk_sockets(
    std::chrono::nanoseconds budget) {
  constexpr const char* kWalkSockets = "walk the sockets";
  using Walked = std::shared_ptr<const SocketTable>;
  if (!open_->sockets) return Walked();
  if (!open_->socket_walk) {
    TRY(open_->socket_walk, begin_iteration(open_->sockets, kWalkSockets));
    open_->socket_table = std::make_shared<SocketTable>();
  }
  const auto until = std::chrono::steady_clock::now() + budget;
  std::atomic_ref(session_.skeleton().bss->sockets_until_ns)
      .store(ns_of(until), std::memory_order_relaxed);
  std::vector<offcpud_held_socket> records((std::size_t{32} << 10) / sizeof(offcpud_held_socket));
  do {
    const ssize_t got =
        ::read(open_->socket_walk.get(), records.data(), records.size() * sizeof(records[0]));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Walked();
    if (got <= 0) open_->socket_walk.reset();
    if (got < 0) return Error::from_errno(errno, kWalkSockets);
    if (got == 0) return Walked(std::exchange(open_->socket_table, nullptr));
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(records[0]); ++i) {
      open_->socket_table->add(records[i]);
    }
  } while (std::chrono::steady_clock::now() < until);
  return Walked();
}

Result<std::vector<offcpud_owner>> BlockSamples::find_owners(std::span<const std::uint64_t> keys) {
  constexpr const char* kWalkOwners = "walk the holders of locks";
  std::vector<offcpud_owner> found;
  if (!open_->owners) return found;
  TRY_VOID(refill_keys(session_.skeleton().maps.owners_asked, keys));
  TRY_VOID(read_records<offcpud_owner>(
      open_->owners, kWalkOwners, [&](const offcpud_owner& owner) { found.push_back(owner); }));
  return found;
}

LostSamples BlockSamples::take_lost() {
  const auto& counters = *session_.skeleton().bss;
  const LostSamples now{counters.samples_lost_ns, counters.samples_lost_whole_ns};
  const LostSamples before = std::exchange(lost_, now);
  return {now.ns - before.ns, now.whole_ns - before.whole_ns};
}

Result<std::vector<std::string>> BlockSamples::kernel_names(
    std::span<const std::uint64_t> addresses) {
  if (!session_.features().has("kernel_names")) return std::vector<std::string>(addresses.size());
  const offcpud_bpf& skeleton = session_.skeleton();
  std::vector<std::string> names;
  names.reserve(addresses.size());
  while (!addresses.empty()) {
    const auto some = addresses.first(std::min<std::size_t>(addresses.size(), OFFCPUD_NAMES));
    addresses = addresses.subspan(some.size());
    auto& asked = skeleton.bss->named_addresses;
    std::fill(std::ranges::copy(some, asked).out, std::end(asked), 0);
    bpf_test_run_opts options{.sz = sizeof(options)};
    const int fd = bpf_program__fd(skeleton.progs.name_addresses);
    if (const int error = bpf_prog_test_run_opts(fd, &options); error != 0) {
      return Error::from_errno(-error, "ask the kernel for names of functions");
    }
    for (std::size_t i = 0; i < some.size(); ++i) {
      names.emplace_back(up_to_nul(skeleton.bss->kernel_names[i]));
    }
  }
  return names;
}

}  // namespace offcpud
