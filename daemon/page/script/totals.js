// SPDX-License-Identifier: Apache-2.0
import { isIdle } from "./idle.js";
import { isAtOrBelow, pathsAbove } from "./names.js";

function isIdleRow(table, row) {
  return isIdle(table.text(row, "for"), table.text(row, "reason"), table.isKernelThread(row));
}

export function nothing() {
  return { ns: 0, episodes: 0, beforeNs: 0, beforeEpisodes: 0, progressNs: 0 };
}

export function add(sum, amounts) {
  sum.ns += amounts.ns;
  sum.episodes += amounts.episodes;
  sum.beforeNs += amounts.beforeNs;
  sum.beforeEpisodes += amounts.beforeEpisodes;
  sum.progressNs += amounts.progressNs;
}

export function sumOf(table, rows) {
  const sum = nothing();
  for (const row of rows) add(sum, table.amounts(row));
  return sum;
}

// Sums by `keysOf(row)`, as pairs, the largest first.
function amountsBy(table, keysOf) {
  const sums = new Map();
  for (const row of table.rows) {
    const amounts = table.amounts(row);
    for (const key of keysOf(row)) {
      if (!sums.has(key)) sums.set(key, nothing());
      add(sums.get(key), amounts);
    }
  }
  const size = ([, sum]) => Math.max(sum.ns, sum.beforeNs);
  return [...sums].sort((a, b) => size(b) - size(a));
}

export function reasonsOf(table) {
  return amountsBy(table, (row) => [table.text(row, "reason")]);
}

// By what the threads waited for.
export function purposesOf(table) {
  return amountsBy(table, (row) => [table.text(row, "for")]);
}

// The values of `column` in rows of waits that are not idle.
export function valuesNotIdle(table, column) {
  const rows = table.rows.filter((row) => !isIdleRow(table, row));
  return new Set(rows.map((row) => table.text(row, column)));
}

// The sum of the cgroups selected by `wanted`; null: none.
export function sumIn(table, wanted) {
  const rows = table.rows.filter((row) => isAtOrBelow(table.text(row, "cgroup"), wanted));
  return rows.length === 0 ? null : sumOf(table, rows);
}

// Every cgroup with its descendants, by path.
export function cgroupsOf(table) {
  const all = amountsBy(table, (row) => pathsAbove(table.text(row, "cgroup")));
  return all.sort(([a], [b]) => (a < b ? -1 : 1));
}

// The rows admitted by `filter`: {idle, reasons and purposes (the hidden ones), cgroup}.
export function admitted(table, filter) {
  return table.rows.filter((row) => {
    if (filter.reasons.has(table.text(row, "reason"))) return false;
    if (filter.purposes.has(table.text(row, "for"))) return false;
    if (!filter.idle && isIdleRow(table, row)) return false;
    return filter.cgroup === "" || isAtOrBelow(table.text(row, "cgroup"), filter.cgroup);
  });
}
