// SPDX-License-Identifier: Apache-2.0
// How many threads waited in the last ten minutes, as /api/v1/units tells it in steps.
import { element } from "./elements.js";
import { kindMark, kindWord, STACKED } from "./kinds.js";
import { threads } from "./numbers.js";

const LEAST_THREADS = 0.005; // less is shown as nothing

// What nobody can tell is much on many hosts, and in no picture: a line says how much it is.
export function knownSteps(steps) {
  return Object.fromEntries(Object.entries(steps ?? {}).filter(([kind]) => kind !== "unknown"));
}

// Where the first step begins of which anything is known.
function knownFrom(steps, { begin, end, step, kept }) {
  const all = Object.values(steps ?? {});
  if (all.length === 0) return Math.max(begin, end - kept);
  const firsts = all.map((values) => values.findIndex((value) => value !== null));
  const known = firsts.filter((first) => first !== -1);
  return known.length === 0 ? end : begin + Math.min(...known) * step;
}

// `units`: an answer with steps. Times in milliseconds.
export function stepsOf(units) {
  const { end: text, seconds, count } = units.steps;
  const step = seconds * 1000;
  const end = Date.parse(text);
  const grid = { count, step, end, begin: end - count * step };
  const kept = (units.kept_seconds ?? Infinity) * 1000;
  const known = knownFrom(units.total.steps, { ...grid, kept });
  return { ...grid, known, series: knownSteps(units.total.steps) };
}

// Means over a range, by kind.
export function meansOf({ series, begin, step, count }, [from, to]) {
  const first = Math.max(0, Math.round((from - begin) / step));
  const last = Math.min(count, Math.round((to - begin) / step));
  const means = {};
  for (const kind of STACKED) {
    const known = (series[kind] ?? []).slice(first, last).filter((value) => value !== null);
    if (known.length > 0) means[kind] = known.reduce((all, one) => all + one, 0) / known.length;
  }
  return means;
}

// The kinds of these means, the largest first, with their colours and what `amountOf(kind)` says.
export function legendOf(means, amountOf = (kind) => threads(means[kind])) {
  const kinds = STACKED.filter((kind) => means[kind] >= LEAST_THREADS).sort((a, b) => means[b] - means[a]);
  return kinds.map((kind) =>
    element("span", {}, kindMark(kind), `${kindWord(kind)} `, element("b", {}, amountOf(kind))),
  );
}

// The kinds of one step, as they lie on each other, for the box beside the pointer.
export function linesOf({ series }, step) {
  const kinds = STACKED.filter((kind) => (series[kind]?.[step] ?? 0) >= LEAST_THREADS).reverse();
  return kinds.map((kind) => [
    element("span", {}, kindMark(kind), kindWord(kind)),
    element("b", {}, threads(series[kind][step])),
  ]);
}
