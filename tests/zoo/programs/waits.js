// SPDX-License-Identifier: Apache-2.0
// Threads that wait at known places until the standard input ends: the main loop in epoll, between
// its turns in a synchronous call; workers in Atomics.wait; the pool in reads of a FIFO.
'use strict';

const fs = require('fs');
const { Worker, isMainThread, workerData } = require('worker_threads');

const cell = () => new Int32Array(new SharedArrayBuffer(4));

function waitInAtomics(depth, milliseconds) {
  if (depth > 0) return waitInAtomics(depth - 1, milliseconds) + 1;
  for (;;) Atomics.wait(cell(), 0, 0, milliseconds);
}

function waitInRead(path) {
  return fs.readSync(fs.openSync(path, 'r+'), Buffer.alloc(1));
}

// Much called, so that it is compiled: frames of optimised code are on the stack as well.
function add(numbers) {
  let sum = 0;
  for (const number of numbers) sum += number & 7;
  return sum;
}

function warmUp() {
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  let sum = 0;
  for (let i = 0; i < 20000; i++) sum += add(numbers);
  return sum;
}

if (!isMainThread) {
  if (workerData.fifo) waitInRead(workerData.fifo);
  warmUp();
  waitInAtomics(workerData.depth, workerData.milliseconds);
} else {
  const fifo = process.argv[2];
  const start = (workerData) => new Worker(__filename, { workerData });
  const workers = [
    start({ depth: 0, milliseconds: 600 }),
    start({ depth: 30, milliseconds: 600 }),
    start({ fifo }),
  ];
  fs.read(fs.openSync(fifo, 'r+'), Buffer.alloc(1), () => {}); // in the pool of libuv
  warmUp();
  setInterval(() => Atomics.wait(cell(), 0, 0, 350), 700); // blocks the loop
  let online = 0;
  for (const worker of workers) {
    worker.on('online', () => {
      if (++online === workers.length) console.log('ready');
    });
  }
  process.stdin.on('end', () => process.exit(0)).resume();
}
