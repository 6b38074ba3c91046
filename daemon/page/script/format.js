// SPDX-License-Identifier: Apache-2.0
// Formats numbers and times.

const MINUTE = 60e9; // in nanoseconds, as all of these
const UNITS = [
  [1440 * MINUTE, "d"],
  [60 * MINUTE, "h"],
  [MINUTE, "min"],
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SECONDS = new Intl.NumberFormat("en", {
  minimumFractionDigits: 3,
  maximumFractionDigits: 3,
});

function unitOf(ns) {
  return UNITS.findIndex(([unit]) => unit <= ns);
}

// What the text is a multiple of.
function stepOf(ns) {
  if (ns >= MINUTE) return UNITS[unitOf(ns) + 1][0];
  if (ns >= 10e9) return 1e9; // whole seconds
  let step = 1;
  while (ns / step >= 1000) step *= 10;
  return step;
}

// The rule of the daemon and of offcpuctl, see duration_text() in base/duration_text.h: "42.1 ms",
// "2 min 5 s".
export function duration(ns) {
  const step = stepOf(ns);
  const rounded = Math.round(ns / step) * step; // perhaps of a larger unit
  if (!(rounded > 0)) return "0 s";
  const at = unitOf(rounded);
  const [unit, name] = UNITS[at];
  if (rounded < MINUTE) return `${rounded / unit} ${name}`;
  const [smaller, smallerName] = UNITS[at + 1];
  const rest = (rounded % unit) / smaller;
  return `${Math.floor(rounded / unit)} ${name}` + (rest > 0 ? ` ${rest} ${smallerName}` : "");
}

// With all milliseconds: for sums that are compared with those of other programs.
export function exactSeconds(ns) {
  return SECONDS.format(ns / 1e9) + " s";
}

// Episodes are estimates, so small numbers may be fractions.
export function episodes(count) {
  const text = count < 10 ? String(+count.toPrecision(2)) : COUNT.format(count);
  return text + (text === "1" ? " episode" : " episodes");
}

// Three digits, as flame graphs divide a part again and again; the page has two (portion()).
export function share(part, whole) {
  if (!(whole > 0)) return "0 %";
  const percent = (100 * part) / whole;
  return (percent >= 10 ? percent.toFixed(1) : percent.toFixed(2)) + " %";
}

export function signed(ns) {
  return (ns > 0 ? "+" : ns < 0 ? "−" : "") + duration(Math.abs(ns));
}

// Frames of time whose stacks are not known (daemon/snapshot/snapshot.h).
const WITHOUT_STACK = new Set([
  "[samples that found no room]",
  "[more different stacks than are kept]",
]);

// As sampling_bound() of offcpuctl: how much may have waited where nothing was sampled. A wait that is
// shorter than the sampling interval is sampled by chance (docs/semantics.md, "Stacks and snapshots").
// "" where waits may be missing for another reason: a filter of the snapshots, unreadable files, lost
// samples. `strings`: those of the rows, which may have such time that the page's filters leave out.
export function boundOf(answer, strings = []) {
  const { sampling_interval_seconds: interval, captured = [], unreadable = 0 } = answer;
  const isLost = answer.lost_of_any_seconds > 0 || strings.some((text) => WITHOUT_STACK.has(text));
  const isComplete = captured.length === 0 && !(unreadable > 0) && !isLost;
  if (!isComplete || !(interval > 0)) return "";
  return `; short waits that sampling missed add up to ${duration(3e9 * interval)} at most, over all threads`;
}

// "2026-11-20 12:00:00": in UTC, as everywhere in offcpud.
export function moment(time) {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}
