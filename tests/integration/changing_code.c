/* SPDX-License-Identifier: Apache-2.0 */
/* For changing_code_test: threads that wait in a function WAIT, whose name says what for, and that
 * are named after that. Built twice, WAIT is at the same address both times: as a library, one of
 * which is opened after the other was closed, and as a program, which becomes the other one while
 * its threads wait. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4, kTurnMs = 10, kTurns = 100 };

/* Both builds have the code of both. */
static const volatile int is_lock = IS_LOCK;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static atomic_int over;

static void nap(void) {
  const struct timespec time = {.tv_nsec = kTurnMs * 1000000L};
  nanosleep(&time, NULL);
}

__attribute__((noinline)) void WAIT(int for_long);
void WAIT(int for_long) {
  pthread_mutex_t* const mutex = is_lock && for_long ? &held : &turn;
  pthread_mutex_lock(mutex);
  if (!is_lock)
    pthread_cond_wait(for_long ? &never : &filled, mutex);
  else if (!for_long)
    nap(); /* with the lock */
  pthread_mutex_unlock(mutex);
}

static void* run(void* number) {
  char name[16];
  snprintf(name, sizeof name, "%s-%d", LABEL, (int)(intptr_t)number);
  pthread_setname_np(pthread_self(), name);
  /* The first one waits once, as long as the phase lasts. */
  do WAIT(number == NULL);
  while (!over);
  return NULL;
}

/* One second; then its threads end, or they are left as they are. */
void phase(int they_end);
void phase(int they_end) {
  pthread_t threads[kThreads];
  over = 0;
  pthread_mutex_lock(&held);
  for (intptr_t i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, run, (void*)i) != 0) abort();
  }
  for (int i = 0; i < kTurns; ++i) {
    nap();
    pthread_cond_broadcast(&filled);
  }
  if (!they_end) return;
  over = 1;
  pthread_mutex_unlock(&held);
  for (int i = 0; i < kThreads; ++i) {
    while (pthread_tryjoin_np(threads[i], NULL) != 0) {
      pthread_cond_broadcast(&filled);
      pthread_cond_broadcast(&never);
      nap();
    }
  }
}

#ifdef IS_PROGRAM
/* PROGRAM OTHER TIMES: a phase, and then the other program as long as there are TIMES left. */
int main(int count, char** arguments) {
  char left[16];
  if (count != 3) return 64;
  phase(0);
  snprintf(left, sizeof left, "%d", atoi(arguments[2]) - 1);
  if (atoi(arguments[2]) > 0) execl(arguments[1], arguments[1], arguments[0], left, (char*)NULL);
  return 0;
}
#endif
