// SPDX-License-Identifier: Apache-2.0
// Parses the address of the page: /flame?from=TIME&to=TIME&base_from=TIME&base_to=TIME&at=TIME&cgroup=PATH.

const TIME = "a time such as 2026-11-20T12:00:00Z, or seconds or milliseconds since 1970";
const LEAST_MILLISECONDS = 1e11; // as seconds, this is beyond the year 5000
const AROUND_MS = 30_000; // of a moment

// In milliseconds; `missing` if there is no such parameter.
function timeOf(parameters, name, missing) {
  const text = parameters.get(name) ?? "";
  if (text === "") return missing;
  const isNumber = /^\d+(\.\d+)?$/.test(text);
  const unit = Number(text) >= LEAST_MILLISECONDS ? 1 : 1000;
  const time = isNumber ? Number(text) * unit : Date.parse(text);
  if (Number.isNaN(time)) throw new Error(`The address says ${name}=${text}: use ${TIME}.`);
  return time;
}

export function cgroupOf(query) {
  return new URLSearchParams(query).get("cgroup") ?? "";
}

// {from, to} in milliseconds; null if the address has no range.
function spanIn(query, prefix) {
  const parameters = new URLSearchParams(query);
  const from = timeOf(parameters, prefix + "from", -Infinity);
  const to = timeOf(parameters, prefix + "to", Infinity);
  if (from > to) throw new Error(`The address says ${prefix}from a time after ${prefix}to: turn them round.`);
  return from === -Infinity && to === Infinity ? null : { from, to };
}

// at=TIME is the minute around a time, such as that of a point in a dashboard, which has milliseconds.
export function rangeOf(query) {
  const at = timeOf(new URLSearchParams(query), "at", null);
  return spanIn(query, "") ?? (at === null ? null : { from: at - AROUND_MS, to: at + AROUND_MS });
}

// Of what to compare with.
export function baseOf(query) {
  return spanIn(query, "base_");
}
