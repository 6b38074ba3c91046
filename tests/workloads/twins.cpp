// SPDX-License-Identifier: Apache-2.0
// For `ms`, threads that wait in the same functions for different things. Four "holder" take a
// semaphore, keep it for 2 ms of sleep, and give it back: it is a mutex, though made of a
// condition. Three "consumer" take from another one what "producer" gives each millisecond: it is a
// queue. "timed" waits on a condition that nobody signals, 3 ms each time. Truth: their own clocks
// around each wait.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "workload.h"

using namespace workload;

namespace {

class Semaphore {
 public:
  explicit Semaphore(int count) : count_(count) {}

  [[gnu::noinline]] void take() {
    ::pthread_mutex_lock(&mutex_);
    while (count_ == 0) ::pthread_cond_wait(&condition_, &mutex_);
    --count_;
    ::pthread_mutex_unlock(&mutex_);
  }
  void give() {
    ::pthread_mutex_lock(&mutex_);
    ++count_;
    ::pthread_cond_signal(&condition_);
    ::pthread_mutex_unlock(&mutex_);
  }

 private:
  int count_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

Semaphore lock{1}, queue{0};
std::atomic<bool> over{false};

// The one call that both kinds of threads make.
void take_and_keep(Semaphore& semaphore, std::int64_t keep_ns, bool give_back, Waits& waits) {
  while (!over) {
    timed(waits, [&] { return semaphore.take(), 0; });
    if (keep_ns != 0) sleep_ns(keep_ns);
    if (!give_back) continue;
    semaphore.give();
    sleep_ns(500'000);  // or it would take it again before anybody else can
  }
}

void produce() {
  while (!over) {
    sleep_ns(1'000'000);
    queue.give();
  }
  for (int consumer = 0; consumer < 3; ++consumer) queue.give();
}

void wait_in_vain() {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  ::pthread_mutex_lock(&mutex);
  while (!over) {
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 3'000'000;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    ::pthread_cond_timedwait(&condition, &mutex, &until);
  }
  ::pthread_mutex_unlock(&mutex);
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const int ms = options.number("ms", 6'000);
  options.done();
  static Waits waits[7];
  const auto part = [&](int member) {
    if (member < 7) {
      const bool holds = member < 4;
      take_and_keep(holds ? lock : queue, holds ? 2'000'000 : 0, holds, waits[member]);
    }
    if (member == 7) produce();
    if (member == 8) wait_in_vain();
  };
  Crew crew(Crew::Of::Threads, 9, part, [](int member) {
    ::prctl(PR_SET_NAME, member < 4    ? "holder"
                         : member < 7  ? "consumer"
                         : member == 7 ? "producer"
                                       : "timed");
  });
  first_gate();
  crew.go();
  sleep_ns(ms * 1'000'000LL);
  over = true;
  crew.finished();
  Waits held, consumed;
  for (int member = 0; member < 7; ++member) {
    Waits& sum = member < 4 ? held : consumed;
    sum.count += waits[member].count;
    sum.sum_ns += waits[member].sum_ns;
  }
  Report report;
  report.add("lock", held);
  report.add("queue", consumed);
  report.second_gate();
}
