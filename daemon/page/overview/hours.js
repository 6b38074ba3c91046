// SPDX-License-Identifier: Apache-2.0
// What snapshots say of the last hours: how many threads waited, by what for.
import { STACKED } from "../shared/kinds.js";

const SECOND_MS = 1000;
const A_MINUTE = 60 * SECOND_MS;
const CHUNK_MS = 60 * A_MINUTE; // of one request: the daemon reads the files of that time
const FRESH_MS = 20 * SECOND_MS; // a snapshot comes once a minute
const RETRY_MS = 60 * SECOND_MS; // after a refusal
const LEAST_KNOWN_PART = 0.2; // less of a step does not stand for it

// How long the strip of time may be: its steps, and their length. "" is not from snapshots.
export const SPANS = {
  "1h": { name: "1 h", long: "the last hour", count: 60, step: A_MINUTE },
  "6h": { name: "6 h", long: "the last 6 hours", count: 72, step: 5 * A_MINUTE },
  "24h": { name: "24 h", long: "the last 24 hours", count: 96, step: 15 * A_MINUTE },
};

// The end of the strip when it is `now`: steps are whole ones of the clock.
function gridOf({ count, step }, now) {
  const end = Math.ceil(now / step) * step;
  return { count, step, end, begin: end - count * step };
}

// Means over the steps of a grid, from sums of seconds over any times.
class StepSums {
  constructor(grid) {
    this.grid = grid;
    this.known = new Array(grid.count).fill(0); // milliseconds
    this.sums = Object.fromEntries(STACKED.map((kind) => [kind, null]));
  }

  // Calls each(step, milliseconds) for the steps in which a time lies.
  within(begin, end, each) {
    const { grid } = this;
    const last = Math.min(grid.count - 1, Math.floor((end - grid.begin) / grid.step));
    for (let i = Math.max(0, Math.floor((begin - grid.begin) / grid.step)); i <= last; i += 1) {
      const from = grid.begin + i * grid.step;
      const length = Math.min(end, from + grid.step) - Math.max(begin, from);
      if (length > 0) each(i, length);
    }
  }

  // `threads`: on average in this time, by kind.
  add(begin, end, threads) {
    this.within(begin, end, (i, length) => {
      this.known[i] += length;
      for (const [kind, value] of Object.entries(threads)) {
        if (!(kind in this.sums)) continue;
        this.sums[kind] ??= new Array(this.grid.count).fill(0);
        this.sums[kind][i] += value * length;
      }
    });
  }

  isKnown(i) {
    return this.known[i] >= LEAST_KNOWN_PART * this.grid.step;
  }

  get series() {
    const told = Object.entries(this.sums).filter(([kind, sums]) => sums !== null && kind !== "unknown");
    const mean = (sum, i) => (this.isKnown(i) ? sum / this.known[i] : null);
    return Object.fromEntries(told.map(([kind, sums]) => [kind, sums.map(mean)]));
  }
}

// Steps of the last ten minutes that began after the last snapshot, which has not come yet. Without
// waits for a CPU, as snapshots have none.
function addRecent(steps, recent, since) {
  const kinds = Object.keys(recent.series).filter((kind) => kind !== "cpu");
  for (let i = 0; i < recent.count; i += 1) {
    const from = recent.begin + i * recent.step;
    const isKnown = kinds.length === 0 || kinds.some((kind) => recent.series[kind][i] !== null);
    if (from < since || from < recent.known || !isKnown) continue;
    const threads = Object.fromEntries(kinds.map((kind) => [kind, recent.series[kind][i] ?? 0]));
    steps.add(from, from + recent.step, threads);
  }
}

// Reads the snapshots of a time an hour at a time, the latest hour first, and only those that are not
// known yet.
export class Hours {
  // `ask(path, parameters, signal)`: as Questions.once(); `changed()`: more is known.
  constructor(ask, changed) {
    Object.assign(this, { ask, changed, running: new AbortController() });
    Object.assign(this, { begin: Infinity, now: Date.now() }); // of the strip
    this.forget();
  }

  forget() {
    this.running.abort();
    this.running = new AbortController();
    this.isReading = false;
    this.kept = new Map(); // {begin, end, threads} by sequence; no `threads`: its file is damaged
    this.asked = null; // [from, to], without a gap
    this.error = undefined;
    this.failed = -Infinity;
  }

  // The strip is `span` long and ends `now`. null: nothing of this is wanted any more.
  want(span, now) {
    this.begin = span === null ? Infinity : gridOf(span, now).begin;
    this.now = now;
    if (!this.isReading && span !== null) this.read();
  }

  // What is to be asked next; null: nothing.
  next() {
    const { asked, now, begin } = this;
    if (begin === Infinity || document.hidden) return null;
    if (asked === null) return [Math.max(begin, now - CHUNK_MS), now];
    if (now - asked[1] >= FRESH_MS) return [Math.min(this.lastEnd ?? asked[1], asked[1]), now];
    return begin < asked[0] ? [Math.max(begin, asked[0] - CHUNK_MS), asked[0]] : null;
  }

  get lastEnd() {
    const ends = [...this.kept.values()].map((one) => one.end);
    return ends.length === 0 ? undefined : Math.max(...ends);
  }

  async read() {
    if (performance.now() - this.failed < RETRY_MS) return;
    const { signal } = this.running;
    this.isReading = true;
    try {
      for (let range = this.next(); range !== null; range = this.next()) {
        const [from, to] = range.map((at) => new Date(at).toISOString());
        const answer = await this.ask("api/v1/snapshots", { from, to, by: "for" }, signal);
        if (signal.aborted) return;
        this.error = answer.error;
        if (answer.error === undefined) this.take(range, answer.value);
        else this.failed = performance.now();
        this.changed();
        if (answer.error !== undefined) break;
      }
    } catch (error) {
      // What is gone is told by the poll, which asks again.
      if (!signal.aborted && error.name !== "Gone") throw error;
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }

  take([from, to], { snapshots }) {
    this.asked =
      this.asked === null ? [from, to] : [Math.min(from, this.asked[0]), Math.max(to, this.asked[1])];
    for (const snapshot of snapshots) {
      const [begin, end] = [Date.parse(snapshot.begin), Date.parse(snapshot.end)];
      const seconds = Math.max(1, end - begin) / SECOND_MS;
      const sums = Object.entries(snapshot.for ?? {});
      const threads = snapshot.for && Object.fromEntries(sums.map(([kind, sum]) => [kind, sum / seconds]));
      this.kept.set(snapshot.sequence, { begin, end, threads });
    }
    const oldest = this.now - SPANS["24h"].count * SPANS["24h"].step;
    for (const [sequence, { end }] of this.kept) if (end < oldest) this.kept.delete(sequence);
  }

  // What is shown of a span, as stepsOf() tells it; and `gaps` {from, to, text}: why nothing is known of a
  // time. `recent`: of stepsOf().
  data(span, recent) {
    const grid = gridOf(span, this.now);
    const steps = new StepSums(grid);
    const damaged = new Set();
    for (const { begin, end, threads } of this.kept.values()) {
      if (threads) steps.add(begin, end, threads);
      else steps.within(begin, end, (i) => damaged.add(i));
    }
    addRecent(steps, recent, this.lastEnd ?? recent.begin);
    return { ...grid, known: grid.begin, series: steps.series, gaps: this.gaps(steps, damaged) };
  }

  // Neighbours with one reason are one gap.
  gaps(steps, damaged) {
    const { begin, step, count } = steps.grid;
    const first = Math.min(...[...this.kept.values()].map((one) => one.begin));
    const gaps = [];
    for (let i = 0; i < count; i += 1) {
      const from = begin + i * step;
      if (steps.isKnown(i) || from >= this.now) continue;
      const text = this.whyUnknown(from, from + step, damaged.has(i), first);
      const before = gaps.at(-1);
      if (before?.to === from && before.text === text) before.to = from + step;
      else gaps.push({ from, to: from + step, text });
    }
    return gaps;
  }

  whyUnknown(from, to, isDamaged, first) {
    if (isDamaged) return "the snapshot's file is damaged";
    if (this.asked === null || from < this.asked[0]) return this.error ?? "reading snapshots…";
    if (to <= first) return "no snapshot is kept of this time";
    if (from >= this.lastEnd) return "its snapshot has not come yet";
    return "no snapshot: the daemon did not run";
  }
}
