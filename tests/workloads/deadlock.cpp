// SPDX-License-Identifier: Apache-2.0
// Two threads, "transfer" and "auditor", each hold a mutex and want the other's, for ever.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

pthread_mutex_t accounts = PTHREAD_MUTEX_INITIALIZER, audit = PTHREAD_MUTEX_INITIALIZER;
pthread_barrier_t both_hold;

void take(pthread_mutex_t& first, pthread_mutex_t& second) {
  ::pthread_mutex_lock(&first);
  ::pthread_barrier_wait(&both_hold);
  ::pthread_mutex_lock(&second);
}

void* write_audit(void*) {
  ::prctl(PR_SET_NAME, "auditor");
  take(audit, accounts);
  return nullptr;
}

}  // namespace

int main() {
  ::pthread_barrier_init(&both_hold, nullptr, 2);
  pthread_t auditor;
  if (::pthread_create(&auditor, nullptr, write_audit, nullptr) != 0) return 1;
  ::prctl(PR_SET_NAME, "transfer");
  take(accounts, audit);
}
