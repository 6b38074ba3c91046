// SPDX-License-Identifier: Apache-2.0
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

// A mean or a rate: "0", "0.002", "1.25", "340".
export function amount(value) {
  if (value >= 1000) return WHOLE.format(value);
  if (value < 0.0005) return value > 0 ? "< 0.001" : "0";
  return String(+value.toPrecision(value < 1 ? 2 : 3));
}

export function count(value) {
  return WHOLE.format(value);
}

// A percentile as its upper bound. [lower, upper] is its slot; null: nothing ended.
export function quantile(bounds) {
  if (bounds === null || bounds === undefined) return "–";
  return bounds[1] === null ? `> ${time(bounds[0])}` : time(bounds[1]);
}

export function clockTime(date) {
  return date.toLocaleTimeString("en-GB");
}

export function bytes(size) {
  if (size < 1 << 20) return `${amount(size / 1024)} KiB`;
  return `${amount(size / (1 << 20))} MiB`;
}
