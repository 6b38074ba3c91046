// SPDX-License-Identifier: Apache-2.0
// waits.js KIND PORT-OR-FILE: a loop that waits for one thing.
const http = require('http');
const [kind, port] = process.argv.slice(2);

function ask() {
  http.get({ host: '127.0.0.1', port }, (answer) => answer.resume().on('end', ask));
}

if (kind === 'answer') ask();
if (kind === 'work') http.createServer(() => {}).listen(0, '127.0.0.1');
if (kind === 'timer') setInterval(() => {}, 200);
if (kind === 'child') require('child_process').execSync('sleep 3600');
if (kind === 'atomics') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
if (kind === 'fifo') require('fs').readFileSync(port);
