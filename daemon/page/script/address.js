// SPDX-License-Identifier: Apache-2.0
// Parses the address of the page: /flame?from=TIME&to=TIME&base_from=TIME&base_to=TIME&cgroup=PATH.

const TIME = "a time such as 2026-11-20T12:00:00Z, or seconds since 1970";

// In milliseconds; `missing` if there is no such parameter.
function timeOf(parameters, name, missing) {
  const text = parameters.get(name) ?? "";
  if (text === "") return missing;
  const time = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
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

export function rangeOf(query) {
  return spanIn(query, "");
}

// Of what to compare with.
export function baseOf(query) {
  return spanIn(query, "base_");
}
