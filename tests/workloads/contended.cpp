// SPDX-License-Identifier: Apache-2.0
// A contended lock of a `kind` (locks.h): `threads`, named "taker", take it in turn, until they did
// so `operations` times while others waited for it; 0: for ever. Of a read-write lock the last one
// of them reads. Once in `hold_each` times whoever has it sleeps `hold_us` with it, and a while
// without it. Truth: the file `word` (locked_word.h). Beside them two threads, named "bystander",
// wait for no lock, and the main thread waits for the end of the others.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "locked_word.h"
#include "locks.h"
#include "workload.h"

using namespace workload;

namespace {

constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  // of the high half
constexpr int kGivesWay = 64;  // once in so many times others run while a thread has the lock
constexpr long long kMostRestNs = 5'000'000;

struct Turns {
  std::int64_t operations = 0;
  int hold_us = 0, hold_each = 1;
};

LockedWord& map_word(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) fail(path);
  void* const memory =
      ::mmap(nullptr, sizeof(LockedWord), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("map " + path);
  ::close(file);
  return *static_cast<LockedWord*>(memory);
}

// Keeps the word right: for as long as it says so, the thread has the lock. Only who has the lock
// to write changes `writer`.
class Turn {
 public:
  Turn(LockedWord& word, bool reads, std::uint32_t tid) : word_(word), reads_(reads) {
    if (reads_) {
      word_.readers += kOne + 1;
    } else {
      word_.writer = (word_.writer & ~(kOne - 1)) + kOne + tid;
    }
  }
  ~Turn() {
    if (reads_) {
      --word_.readers;
    } else {
      word_.writer &= ~(kOne - 1);
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  LockedWord& word_;
  bool reads_;
};

// Condition variables and semaphores have no holder.
class Bystanders {
 public:
  Bystanders() {
    ::sem_init(&semaphore_, 0, 0);
    stand([this] { ::sem_wait(&semaphore_); });
    stand([this] {
      ::pthread_mutex_lock(&mutex_);
      ::pthread_cond_wait(&condition_, &mutex_);
      ::pthread_mutex_unlock(&mutex_);
    });
  }
  void wake() {
    ::sem_post(&semaphore_);
    ::pthread_cond_signal(&condition_);
  }

 private:
  template <class Wait>
  static void stand(Wait wait) {
    std::thread([wait] {
      ::prctl(PR_SET_NAME, "bystander");
      for (;;) wait();
    }).detach();
  }
  sem_t semaphore_{};
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

void take_turns(Lock& lock, bool reads, const Turns& turns, LockedWord& word,
                std::atomic<int>& waiting, Bystanders& bystanders) {
  ::prctl(PR_SET_NAME, "taker");
  const auto tid = static_cast<std::uint32_t>(::gettid());
  for (std::int64_t operation = 1;; ++operation) {
    const bool holds = turns.hold_us > 0 && operation % turns.hold_each == 0;
    ++waiting;
    lock.take(reads ? 1 : 0);
    const bool contended = --waiting > 0;
    std::uint64_t times = 0;
    {
      const Turn turn(word, reads, tid);
      times = contended ? ++word.contended : word.contended.load();
      if (holds) sleep_ns(turns.hold_us * 1000LL);
      if (operation % kGivesWay == 0) ::sched_yield();
    }
    lock.give();
    if (turns.operations > 0 && times >= static_cast<std::uint64_t>(turns.operations)) return;
    if (operation % kGivesWay == 0) bystanders.wake();
    // Whoever was woken takes it, and not this thread again.
    if (holds) sleep_ns(std::min(turns.hold_us * 1000LL, kMostRestNs));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options(argc, argv);
  const std::string kind = options.text("kind", "mutex");
  const int threads = options.number("threads", 6);
  const Turns turns{.operations = options.number("operations", 0),
                    .hold_us = options.number("hold_us", 0),
                    .hold_each = std::max(options.number("hold_each", 1), 1)};
  LockedWord& word = map_word(options.text("word", ""));
  options.done();

  const std::unique_ptr<Lock> lock = lock_of_kind(kind);
  std::atomic<int> waiting = 0;
  static Bystanders bystanders;
  std::vector<std::thread> takers;
  for (int member = 0; member < threads; ++member) {
    const bool reads = kind == "rwlock" && member == threads - 1;
    takers.emplace_back([&lock, reads, &turns, &word, &waiting] {
      take_turns(*lock, reads, turns, word, waiting, bystanders);
    });
  }
  for (std::thread& taker : takers) taker.join();
  ::_exit(0);  // the bystanders go on
}
