// SPDX-License-Identifier: Apache-2.0
#include "kernel/wait_details.h"

#include <asm/unistd_64.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <span>

#include "base/text.h"
#include "kernel/bpf_iterator.h"
#include "kernel/map_view.h"
#include "kernel/wait_text.h"
#include "offcpud.skel.h"
#include "pipeline/thread_record.h"

namespace offcpud {
namespace {

constexpr const char* kLook = "look at waiting threads";

Result<std::string> read_iterator(const BpfLink& link) {
  TRY(const UniqueFd run, begin_iteration(link, kLook));
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    TRY(const std::size_t got, read_iteration(run, std::as_writable_bytes(std::span(some)), kLook));
    if (got == 0) return text;
    text.append(some.data(), got);
  }
}

// Whether the first argument of each system call of a class is a descriptor. There is no default,
// so that the compiler asks this of a new class, too.
bool all_take_descriptors(offcpud_syscall_class what) {
  switch (what) {
    case OFFCPUD_CLASS_NETWORK:
    case OFFCPUD_CLASS_FILE:
      return true;
    case OFFCPUD_CLASS_OTHER:
    case OFFCPUD_CLASS_DISK:
    case OFFCPUD_CLASS_LOCK:
    case OFFCPUD_CLASS_CONDVAR:
    case OFFCPUD_CLASS_PIPE:
    case OFFCPUD_CLASS_POLL:
    case OFFCPUD_CLASS_SLEEP:
    case OFFCPUD_CLASS_CHILD:
    case OFFCPUD_CLASS_FUTEX:
    case OFFCPUD_CLASS_RESTART:
      break;
  }
  return false;
}

}  // namespace

struct WaitDetails::Links {
  BpfLink stacks, calls;
};

WaitDetails::WaitDetails(const BpfSession& session, std::unique_ptr<Links> links)
    : session_(session), links_(std::move(links)) {}
WaitDetails::~WaitDetails() = default;

Result<std::unique_ptr<WaitDetails>> WaitDetails::open(const BpfSession& session) {
  const offcpud_bpf& skeleton = session.skeleton();
  auto links = std::make_unique<Links>();
  if (!session.features().has("wait_details")) {
    return std::unique_ptr<WaitDetails>(new WaitDetails(session, std::move(links)));
  }
  links->stacks.reset(bpf_program__attach_iter(skeleton.progs.describe_stacks, nullptr));
  links->calls.reset(bpf_program__attach_iter(skeleton.progs.describe_calls, nullptr));
  if (!links->stacks || !links->calls) {
    return Error::from_errno(errno, "attach the iterators over waiting threads");
  }
  return std::unique_ptr<WaitDetails>(new WaitDetails(session, std::move(links)));
}

Result<std::vector<WaitReport>> WaitDetails::look_up(const ThreadWalk& walk,
                                                     std::span<const std::uint32_t> tids) {
  if (tids.empty() || !links_->stacks) return std::vector<WaitReport>();
  TRY_VOID(refill_keys(session_.skeleton().maps.asked, tids.first(std::min(tids.size(), kMost))));
  std::map<BlockId, WaitDetail> details;
  for (const BpfLink* link : {&links_->stacks, &links_->calls}) {
    TRY(const std::string text, read_iterator(*link));
    add_wait_text(text, details);
  }
  std::vector<WaitReport> reports;
  const MonotonicTime until = std::chrono::steady_clock::now() + kLongest;
  for (auto& [block, detail] : details) {
    const offcpud_thread* thread = find_thread(walk, block.tid);
    if (!thread) continue;
    if (!reports.empty() && std::chrono::steady_clock::now() > until) break;
    if (detail.syscall == __NR_futex && !detail.compat && !detail.arguments.empty()) {
      detail.futex_address = detail.arguments.front();
    }
    name_owner(walk, detail);
    if (detail.path) {
      describe_path(*thread, detail);
    } else if (takes_descriptor(detail)) {
      detail.fd = static_cast<std::int32_t>(detail.arguments.front());
      describe_descriptor(*thread, *detail.fd, detail);
    }
    reports.push_back({block.tid, block.since_ns, std::move(detail)});
  }
  return reports;
}

// Names the owner of a PI mutex. Of other locks see daemon/holders.
void WaitDetails::name_owner(const ThreadWalk& walk, WaitDetail& detail) {
  if (!detail.owner_tid) return;
  if (const offcpud_thread* owner = find_thread(walk, *detail.owner_tid)) {
    detail.owner_comm = comm_text(owner->comm);
  }
}

// Whether the first argument of the system call is a descriptor.
bool WaitDetails::takes_descriptor(const WaitDetail& detail) const {
  static constexpr std::array<std::uint32_t, 12> kOthers = {__NR_fsync,
                                                            __NR_fdatasync,
                                                            __NR_syncfs,
                                                            __NR_sync_file_range,
                                                            __NR_flock,
                                                            __NR_fcntl,
                                                            __NR_ioctl,
                                                            __NR_lseek,
                                                            __NR_epoll_wait,
                                                            __NR_epoll_pwait,
                                                            441 /* epoll_pwait2 */,
                                                            426 /* io_uring_enter */};
  if (!detail.syscall || *detail.syscall >= OFFCPUD_SYSCALLS || detail.arguments.empty()) {
    return false;
  }
  const std::uint8_t what = (detail.compat ? compat_ : native_).at(*detail.syscall);
  if (all_take_descriptors(static_cast<offcpud_syscall_class>(what))) return true;
  return !detail.compat && std::ranges::find(kOthers, *detail.syscall) != kOthers.end();
}

// A relative path whose directory the kernel did not tell begins at a descriptor.
void WaitDetails::describe_path(const offcpud_thread& thread, WaitDetail& detail) {
  CallPath& path = *detail.path;
  if (path.is_relative() && path.directory.empty() && path.directory_fd >= 0) {
    WaitDetail directory;
    describe_descriptor(thread, path.directory_fd, directory);
    path.directory = directory.file;
    path.is_whole = true;
  }
  detail.file = file_of(path);
  if (path.is_fifo) detail.fifo_lacks = fifo_end_of(detail);
}

// Leaves `detail` incomplete if the thread has ended or closed the descriptor.
void WaitDetails::describe_descriptor(const offcpud_thread& thread, std::int32_t fd,
                                      WaitDetail& detail) {
  if (fd < 0) return;
  offcpud_bpf& skeleton = session_.skeleton();
  skeleton.bss->asked_fd = static_cast<std::uint32_t>(fd);
  bpf_iter_link_info info{};
  info.task.tid = thread.local_tid;
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info, .link_info_len = sizeof(info));
  const BpfLink link(bpf_program__attach_iter(skeleton.progs.describe_file, &options));
  if (!link) return;
  if (auto text = read_iterator(link)) add_file_text(*text, detail);
}

}  // namespace offcpud
