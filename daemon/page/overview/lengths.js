// SPDX-License-Identifier: Apache-2.0
// How long the waits of a unit were over the last ten minutes: the cells of the heat map.
import { within } from "../shared/numbers.js";
import { stepsOf } from "../shared/steps.js";

const AROUND_STEP = 2; // seconds by which a window may end beside its step
const MEAN_OF_OCTAVE = 0.75; // of the upper bound of an octave
// Octaves that are always shown, so that the picture does not jump: 61 µs to 64 s.
const LOW_SECONDS = 2 ** -14;
const HIGH_SECONDS = 2 ** 6;

// The octave of a length.
function octaveOf(bounds, seconds) {
  const found = bounds.findIndex((bound) => bound === null || seconds <= bound);
  return found === -1 ? bounds.length - 1 : found;
}

// An octave and a step: `threads` that waited on average in waits of such a length which ended, `ended` of
// them a second, and `kinds`, the threads by what for.
function cellOf(cells, step, octave) {
  const key = `${step} ${octave}`;
  if (!cells.has(key)) cells.set(key, { step, octave, threads: 0, ended: 0, kinds: {} });
  return cells.get(key);
}

function endedCells({ ended, bounds_seconds: bounds }, seconds) {
  const cells = new Map();
  for (const [kind, list] of Object.entries(ended)) {
    for (const [step, octave, rate] of list) {
      const cell = cellOf(cells, step, octave);
      const upper = bounds[octave] ?? 2 * bounds[octave - 1];
      // Of a wait that is longer than the step, that much is in it at most.
      const threads = rate * Math.min(upper * MEAN_OF_OCTAVE, seconds);
      cell.ended += rate;
      cell.threads += threads;
      cell.kinds[kind] = (cell.kinds[kind] ?? 0) + threads;
    }
  }
  return cells;
}

// Whether somebody of the unit is stuck for what lasted then: since the same time.
function isStuck(stalls, kind, end, { seconds, length }) {
  const since = end - seconds * 1000;
  return stalls.some(
    (stall) =>
      (stall.for ?? stall.reason) === kind &&
      Math.abs(Date.parse(stall.since) - since) <= (length + AROUND_STEP) * 1000,
  );
}

// `units`: an answer with steps and lengths; `stalls`: of the unit.
export class Lengths {
  constructor(units, stalls) {
    const { lengths, steps } = units;
    const grid = stepsOf(units);
    Object.assign(this, { begin: grid.begin, end: grid.end, count: steps.count, seconds: steps.seconds });
    this.taken = Date.parse(units.taken);
    this.bounds = lengths.bounds_seconds;
    const known = Math.round((grid.known - grid.begin) / grid.step);
    this.known = within(known, 0, grid.count); // the first step of which anything is known
    this.cells = endedCells(lengths, steps.seconds);
    this.lasting = Object.entries(lengths.lasting).flatMap(([kind, list]) =>
      list.map(([step, waits, seconds]) => ({
        kind,
        step,
        waits,
        seconds,
        octave: octaveOf(this.bounds, seconds),
        stuck: isStuck(stalls, kind, this.timeOf(step + 1), { seconds, length: steps.seconds }),
      })),
    );
    const used = [...this.cells.values(), ...this.lasting].map((one) => one.octave);
    this.isEmpty = used.length === 0;
    this.low = Math.min(octaveOf(this.bounds, LOW_SECONDS), ...used);
    this.high = Math.max(octaveOf(this.bounds, HIGH_SECONDS), ...used);
  }

  // When a step begins.
  timeOf(step) {
    return this.begin + step * this.seconds * 1000;
  }

  // Lower and upper bound of an octave, in seconds; the upper is null if it has none.
  boundsOf(octave) {
    return [octave === 0 ? 0 : this.bounds[octave - 1], this.bounds[octave]];
  }

  cell(step, octave) {
    return this.cells.get(`${step} ${octave}`);
  }

  lastingAt(step, octave) {
    return this.lasting.filter((one) => one.step === step && one.octave === octave);
  }

  // The longest that lasts at the end, as old as it is now; undefined: nothing does.
  get oldest() {
    const last = Math.max(...this.lasting.map((one) => one.step), this.count - 2);
    const now = this.lasting.filter((one) => one.step === last);
    const [longest] = now.sort((a, b) => b.seconds - a.seconds);
    const since = Math.max(0, (this.taken - this.timeOf(last + 1)) / 1000);
    return longest && { ...longest, seconds: longest.seconds + since };
  }

  // Over all steps, the longest octave first: {octave, threads, ended, kinds}, means and waits a second.
  get octaves() {
    const sums = new Map();
    const steps = Math.max(1, this.count - this.known);
    for (const { octave, threads, ended, kinds } of this.cells.values()) {
      const sum = cellOf(sums, 0, octave);
      sum.threads += threads / steps;
      sum.ended += ended * this.seconds;
      for (const [kind, value] of Object.entries(kinds))
        sum.kinds[kind] = (sum.kinds[kind] ?? 0) + value / steps;
    }
    return [...sums.values()].sort((a, b) => b.octave - a.octave);
  }
}
