// SPDX-License-Identifier: Apache-2.0
// openmp KIND: threads of a team that take turns (lock), or have nothing to do (idle).
#include <string.h>
#include <unistd.h>

int main(int count, char** arguments) {
  for (;;) {
#pragma omp parallel num_threads(4)
    {
      if (count > 1 && strcmp(arguments[1], "lock") == 0) {
        for (;;) {
#pragma omp critical
          usleep(20000);
          usleep(1000); /* so that another one has it next */
        }
      }
    }
    sleep(600);
  }
}
