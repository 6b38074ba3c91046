// SPDX-License-Identifier: Apache-2.0
// Locks of the C library and of C++, by name: mutex, recursive, errorcheck, adaptive, robust, pi,
// std (std::mutex), rwlock, rwlock_readers.
#pragma once

#include <pthread.h>

#include <memory>
#include <mutex>
#include <string>

namespace workload {

class Lock {
 public:
  virtual ~Lock() = default;
  // Odd sides of `rwlock` read, others write; side 0 of `rwlock_readers` reads, others write.
  virtual void take(int side) = 0;
  virtual void give() = 0;
};

class Mutex final : public Lock {
 public:
  explicit Mutex(const std::string& kind) {
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    if (kind == "recursive") ::pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    if (kind == "errorcheck") ::pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    if (kind == "adaptive") ::pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    if (kind == "robust") ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (kind == "pi") ::pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    ::pthread_mutex_init(&mutex_, &attributes);
  }
  void take(int /*side*/) override { ::pthread_mutex_lock(&mutex_); }
  void give() override { ::pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

class StdMutex final : public Lock {
 public:
  void take(int /*side*/) override { mutex_.lock(); }
  void give() override { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class ReadWrite final : public Lock {
 public:
  explicit ReadWrite(bool is_read_first) : is_read_first_(is_read_first) {}
  void take(int side) override {
    if (is_read_first_ ? side == 0 : side % 2 == 1) {
      ::pthread_rwlock_rdlock(&lock_);
    } else {
      ::pthread_rwlock_wrlock(&lock_);
    }
  }
  void give() override { ::pthread_rwlock_unlock(&lock_); }

 private:
  bool is_read_first_;
  pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

inline std::unique_ptr<Lock> lock_of_kind(const std::string& kind) {
  if (kind == "std") return std::make_unique<StdMutex>();
  if (kind == "rwlock") return std::make_unique<ReadWrite>(false);
  if (kind == "rwlock_readers") return std::make_unique<ReadWrite>(true);
  return std::make_unique<Mutex>(kind);
}

}  // namespace workload
