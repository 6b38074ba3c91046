// SPDX-License-Identifier: Apache-2.0
// waits.js KIND PORT: a loop that waits for one thing.
const http = require('http');
const [kind, port] = process.argv.slice(2);

function ask() {
  http.get({ host: '127.0.0.1', port }, (answer) => answer.resume().on('end', ask));
}

if (kind === 'answer') ask();
if (kind === 'work') http.createServer(() => {}).listen(0, '127.0.0.1');
if (kind === 'timer') setInterval(() => {}, 200);
