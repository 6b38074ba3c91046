// SPDX-License-Identifier: Apache-2.0
// The pages write durations by the same rule as the daemon: one table of cases for both.
import { readFileSync } from "node:fs";

const [format, cases] = process.argv.slice(2).map((file) => readFileSync(file, "utf8"));
const { boundOf, duration, signed } = await import(`data:text/javascript,${encodeURIComponent(format)}`);
const lines = cases.trimEnd().split("\n").map((line) => line.split("\t"));
const wrong = [];
const check = (shown, text) => shown === text || wrong.push(`${shown}: ${text} is wanted`);
for (const [ns, text] of lines) {
  check(duration(Number(ns)), text);
  const isNone = Number(ns) === 0;
  check(signed(Number(ns)), (isNone ? "" : "+") + text);
  check(signed(-Number(ns)), (isNone ? "" : "\u2212") + text);
}
const complete = { sampling_interval_seconds: 0.01, captured: [], unreadable: 0, lost_of_any_seconds: 0 };
check(boundOf(complete), `; short waits that sampling missed add up to ${duration(3e7)} at most, over all threads`);
check(boundOf(complete, ["main", "libc.so.6"]), boundOf(complete));
check(boundOf({ ...complete, sampling_interval_seconds: null }), "");
check(boundOf({ ...complete, captured: ["snapshots.reasons=[disk]"] }), "");
check(boundOf({ ...complete, unreadable: 1 }), "");
check(boundOf({ ...complete, lost_of_any_seconds: 1e-9 }), "");
check(boundOf(complete, ["main", "[samples that found no room]"]), "");
for (const line of wrong) console.log(line);
console.log(`${lines.length} cases, ${wrong.length} wrong`);
process.exit(lines.length > 0 && wrong.length === 0 ? 0 : 1);
