#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a runner of a build server does: every 20 s it builds and tests something small. arguments: FOLDER
set -euo pipefail
cd "$1"
for n in {1..12}; do
  printf 'int part%d(int n) { return n + %d; }\n' "$n" "$n" >"part$n.c"
done
cat >main.c <<'END'
#include <stdio.h>
int part1(int n);
int main(void) { return printf("%d\n", part1(1)) < 0; }
END
cat >Makefile <<'END'
objects := $(patsubst %.c,out/%.o,$(wildcard *.c))
out/program: $(objects) ; $(CC) -o $@ $^
out/%.o: %.c ; $(CC) -O2 -c -o $@ $<
END
while true; do
  rm -rf out && mkdir out
  make -j 2 2>&1 | tee build.log | tail -n 1 >last-line
  out/program | grep -qx 2
  find . -name '*.c' -print0 | xargs -0 cat | sort | uniq -c | sort -rn | head -n 5 >common
  tar -cf - ./*.c out | gzip -9 >artefact.tar.gz
  echo "$(sha256sum <artefact.tar.gz) $(date +%s)" >>"$1/builds"
  sleep 20
done
