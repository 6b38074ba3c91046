// SPDX-License-Identifier: Apache-2.0
// The page hides idle waits by the same rule as the daemon: one table of cases for both.
import { readFileSync } from "node:fs";

const [script, cases] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const { isIdle } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
const lines = cases.trimEnd().split("\n").map((line) => line.split("\t"));
const wrong = lines.filter(([purpose, reason, whose, idle]) =>
  isIdle(purpose, reason, whose === "kernel") !== (idle === "yes"));
for (const [purpose, reason, whose, idle] of wrong) {
  console.log(`for ${purpose}, reason ${reason}, of a ${whose} thread: ${idle} is wanted`);
}
console.log(`${lines.length} cases, ${wrong.length} wrong`);
process.exit(lines.length >= 60 && wrong.length === 0 ? 0 : 1);
