// SPDX-License-Identifier: Apache-2.0
// Loaded by stack_zoo while it runs.
extern "C" [[gnu::visibility("default")]] int stack_zoo_visit(int (*call)(void*), void* argument) {
  volatile int result = call(argument);
  return result + 1;
}
