// SPDX-License-Identifier: Apache-2.0
#include "measured_process.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child_process.h"
#include "report.h"

namespace offcpud::test {
namespace {

constexpr unsigned kPings = 1000;

std::uint64_t voluntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return static_cast<std::uint64_t>(usage.ru_nvcsw);
}

}  // namespace

Pipe::Pipe() {
  must(::pipe(ends_.data()) == 0, "pipe");
}

Pipe::~Pipe() {
  ::close(ends_[0]);
  ::close(ends_[1]);
}

void Pipe::put() const {
  must(::write(ends_[1], "x", 1) == 1, "write to pipe");
}

void Pipe::take() const {
  char byte = 0;
  must(::read(ends_[0], &byte, 1) == 1, "read from pipe");
}

MeasuredProcess::Shared* MeasuredProcess::map_shared() {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(memory != MAP_FAILED, "mmap");
  auto* shared = static_cast<Shared*>(memory);
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutex_init(&shared->mutex, &attributes);
  return shared;
}

MeasuredProcess::MeasuredProcess(const Cgroup& cgroup) : shared_(map_shared()) {
  load_ = fork_to([&] { run_load(); });
  cgroup.add(load_);
  partner_ = fork_to([&] { run_partner(); });
}

std::uint64_t MeasuredProcess::settle() const {
  ready_.take();
  for (int i = 0; i < 2000 && !is_asleep(load_); ++i) sleep_for(std::chrono::milliseconds(1));
  const std::uint64_t asleep_ns = now_ns();
  sleep_for(std::chrono::milliseconds(100));  // also its partner's last switch is over then
  return asleep_ns;
}

void MeasuredProcess::leave() const {
  leave_.put();
  reap(load_);
  reap(partner_);
}

Switches MeasuredProcess::switches() const {
  return {status_number(load_, "voluntary_ctxt_switches"),
          status_number(load_, "nonvoluntary_ctxt_switches")};
}

void MeasuredProcess::run_load() const {
  Truth& truth = shared_->truth;
  ready_.put();
  truth.first_wait_ns = now_ns();
  go_.take();

  std::uint64_t before = voluntary_switches();
  for (unsigned i = 0; i < kSleeps; ++i) sleep_for(kSleep);
  truth.sleeps = voluntary_switches() - before;

  before = voluntary_switches();
  for (unsigned i = 0; i < kPings; ++i) {
    ping_.put();
    pong_.take();
  }
  truth.pings = voluntary_switches() - before;

  for (unsigned i = 0; i < kHandOffs; ++i) {
    ping_.put();
    pong_.take();  // the partner has the mutex now
    before = voluntary_switches();
    ::pthread_mutex_lock(&shared_->mutex);
    truth.locks += voluntary_switches() - before;
    ::pthread_mutex_unlock(&shared_->mutex);
  }

  ready_.put();
  truth.last_wait_ns = now_ns();
  leave_.take();
  ::_exit(0);
}

void MeasuredProcess::run_partner() const {
  for (unsigned i = 0; i < kPings; ++i) {
    ping_.take();
    pong_.put();
  }
  for (unsigned i = 0; i < kHandOffs; ++i) {
    ping_.take();
    ::pthread_mutex_lock(&shared_->mutex);
    pong_.put();
    sleep_for(kSleep);
    ::pthread_mutex_unlock(&shared_->mutex);
  }
  ::_exit(0);
}

}  // namespace offcpud::test
