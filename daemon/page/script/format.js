// SPDX-License-Identifier: Apache-2.0
// Numbers and times as the page writes them.

const UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
];
const COUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SECONDS = new Intl.NumberFormat("en", {
  minimumFractionDigits: 3,
  maximumFractionDigits: 3,
});

// 87092400 as "87.1 ms": three digits; whole seconds from 1000 s.
export function duration(ns) {
  const size = Math.abs(ns);
  for (const [unit, name] of UNITS) {
    if (size >= unit) {
      const value = ns / unit;
      const text = Math.abs(value) >= 1000 ? COUNT.format(value) : String(+value.toPrecision(3));
      return text + " " + name;
    }
  }
  return COUNT.format(ns) + " ns";
}

// With all milliseconds: for sums, which are compared with other programs.
export function exactSeconds(ns) {
  return SECONDS.format(ns / 1e9) + " s";
}

// Episodes are estimates: few of them can be a fraction.
export function episodes(count) {
  const text = count < 10 ? String(+count.toPrecision(2)) : COUNT.format(count);
  return text + (text === "1" ? " episode" : " episodes");
}

export function share(part, whole) {
  if (!(whole > 0)) return "0 %";
  const percent = (100 * part) / whole;
  return (percent >= 10 ? percent.toFixed(1) : percent.toFixed(2)) + " %";
}

export function signed(ns) {
  return (ns > 0 ? "+" : "") + duration(ns);
}

// How much may have waited where nothing was sampled: a wait that is shorter than the sampling
// interval is sampled by chance (docs/semantics.md, "Stacks and snapshots").
export function boundOf({ sampling_interval_seconds: interval }) {
  return interval > 0 ? `; such waits may add up to ${duration(3e9 * interval)}` : "";
}

// "2026-11-20 12:00:00" in the time zone of the browser.
export function moment(text) {
  const date = new Date(text);
  const two = (number) => String(number).padStart(2, "0");
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  return day + " " + [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}
