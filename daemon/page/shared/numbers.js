// SPDX-License-Identifier: Apache-2.0
// Numbers and times in the forms of offcpuctl (base/amount_text.h, base/duration_text.h).
import { duration } from "../script/format.js";

const NANOSECONDS = 1e9;
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

// As duration(), of seconds; "–" for null.
export function time(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  return duration(Math.round(seconds * NANOSECONDS));
}

// "~25 s" of a block that began before the daemon did, as in `offcpuctl stalls`.
export function age(seconds, isEstimated) {
  return isEstimated ? `~${time(seconds)}` : time(seconds);
}

// Threads on average: "8.1", "0.45", "31", "< 0.01", "0".
export function threads(value) {
  if (!(value > 0)) return "0";
  if (value < 0.005) return "< 0.01";
  if (value < 0.995) return value.toFixed(2);
  return value < 9.95 ? value.toFixed(1) : WHOLE.format(value);
}

// A part of a whole, from 0 to 1: "98 %", "1.0 %", "< 0.1 %".
export function portion(part) {
  const percent = part * 100;
  if (!(percent > 0)) return "0 %";
  if (percent < 0.1) return "< 0.1 %";
  return `${percent < 9.95 ? percent.toFixed(1) : WHOLE.format(percent)} %`;
}

// The nearest number to `value` from `least` to `most`.
export function within(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

// How many times as much: "2.2×", "22×", "> 100×".
export function times(factor) {
  if (factor > 100) return "> 100×";
  return `${factor < 9.95 ? factor.toFixed(1) : WHOLE.format(factor)}×`;
}

export function count(value) {
  return WHOLE.format(value);
}

// "1 thread", "1,200 threads"
export function counted(value, what) {
  return `${count(value)} ${what}${value === 1 ? "" : "s"}`;
}

// A percentile as its upper bound. [lower, upper] is its slot; null: nothing ended.
export function upperBound(bounds) {
  if (bounds === null || bounds === undefined) return null;
  return bounds[1] ?? bounds[0];
}

export function bytes(size) {
  return size >= 1e9 ? `${(size / 1e9).toPrecision(3)} GB` : `${(size / 1e6).toPrecision(3)} MB`;
}

// Times of day are in UTC, as everywhere in offcpud. `at`: milliseconds since 1970.
export function clock(at) {
  return new Date(at).toISOString().slice(11, 19);
}

// "2026-11-20T12:00:00Z", as addresses have it; with milliseconds if there are any.
export function exactTime(at) {
  return new Date(at).toISOString().replace(".000Z", "Z");
}

// clock() with the day, unless that is the day of `now`.
export function dayAndTime(at, now) {
  const [day, today] = [at, now].map((each) => new Date(each).toISOString().slice(0, 10));
  return day === today ? clock(at) : `${day} ${clock(at)}`;
}
