// SPDX-License-Identifier: Apache-2.0
// An idle service: an HTTP server, a worker thread, timers, files and a connection to Redis that it
// keeps. arguments: PORT REDIS_PORT
const fs = require("fs");
const http = require("http");
const net = require("net");
const { Worker } = require("worker_threads");

const [port, redisPort] = process.argv.slice(2).map(Number);
const worker = new Worker(
  'const { parentPort } = require("worker_threads"); parentPort.on("message", (m) => parentPort.postMessage(m));',
  { eval: true },
);
let echoes = 0;
worker.on("message", () => ++echoes);

const redis = net.connect(redisPort, "127.0.0.1");
redis.on("data", () => {});
setInterval(() => redis.write("INCR node\r\n"), 7000);

http.createServer((_request, response) => {
  worker.postMessage("hello");
  fs.readFile(__filename, () => response.end("ok"));
}).listen(port, "127.0.0.1");
