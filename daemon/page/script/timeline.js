// SPDX-License-Identifier: Apache-2.0
// The strip of time: how many threads waited, and where in it the range and the baseline are.
import { element, setText } from "../shared/elements.js";
import { clock, threads, time } from "../shared/numbers.js";
import { legendOf, meansOf, stepsOf } from "../shared/steps.js";
import { TimeStrip } from "../shared/strip.js";
import { timeBeside } from "./range.js";
import { threadsThatWaited } from "./source.js";

const HEIGHT = 100;
const NOT_TOLD = "how many threads waited is not known";
const NOT_KEPT_THEN = "only the stacks are kept of this time";
const MEMORY_MS = 600_000; // what the strip shows if nobody says what waited
const MOST_UNKNOWN = 0.2; // of a range whose mean is told all the same
const MARGIN = 0.04; // of a strip that reaches back further than memory

// Ranges are whole snapshots, at least one.
function snapshotRuler(spans) {
  const rangeOf = (first, last) => [spans[first][0], spans[last][1]];
  const snap = (from, to) => {
    const first = spans.findIndex(([, end]) => end > from);
    if (first === -1) return spans.at(-1);
    return rangeOf(first, Math.max(first, spans.findLastIndex(([begin]) => begin < to)));
  };
  return {
    snap,
    around: (at) => snap(at, at),
    moved([from, to], by, isEnd) {
      const first = spans.findIndex(([begin]) => begin === from) + (isEnd ? 0 : by);
      const last = spans.findLastIndex(([, end]) => end === to) + by;
      return first >= 0 && first <= last && last < spans.length ? rangeOf(first, last) : null;
    },
  };
}

// Waits for a CPU have no stacks.
function withStacks(data) {
  const kinds = Object.entries(data.series).filter(([kind]) => kind !== "cpu");
  return { ...data, series: Object.fromEntries(kinds) };
}

// From where to where the strip goes: the ten minutes of memory, or as far back as there are ranges.
function axisOf(data, spans, ranges) {
  const newest = Math.max(data?.end ?? -Infinity, spans.at(-1)[1]);
  const memory = data?.begin ?? newest - MEMORY_MS;
  const earliest = Math.min(...ranges.map(([from]) => from));
  if (earliest >= memory) return { begin: memory, end: newest };
  const margin = (newest - earliest) * MARGIN;
  return { begin: Math.min(memory, Math.max(spans[0][0], earliest - margin)), end: newest };
}

export class Timeline {
  constructor(document, hint, ranges) {
    const find = (id) => document.getElementById(id);
    this.ranges = ranges;
    this.legend = find("waits");
    this.note = find("time-note");
    this.data = null;
    this.isAsked = false; // else the strip would be drawn twice, the first time without its data
    this.problem = ""; // why it is not known what waited
    this.pending = new AbortController();
    const label =
      "Threads that wait, by what for, over time. Left and right move the range that is shown, with " +
      "Shift its end; if the baseline is chosen, they move that.";
    const options = { height: HEIGHT, label, describedBy: "range-text base-text", shifted: "base" };
    this.strip = new TimeStrip(find("strip"), hint, options, (...brush) => this.brushed(...brush));
    this.choices = document.querySelectorAll("[name=brush]");
    for (const choice of this.choices) {
      choice.addEventListener("change", () => {
        this.strip.active = choice.value;
      });
    }
  }

  // Asks what waited in the last ten minutes; `cgroup`: "" for all.
  async ask(cgroup) {
    this.pending.abort();
    const mine = new AbortController();
    this.pending = mine;
    try {
      this.data = withStacks(stepsOf(await threadsThatWaited(cgroup, mine.signal)));
      this.problem = "";
    } catch (error) {
      if (mine.signal.aborted) return;
      this.data = null;
      this.problem = error.message;
    }
    this.isAsked = true;
    this.show();
  }

  brushed(name, range, isDone) {
    if (range === null) return;
    this.ranges.put(name, range, isDone);
    if (isDone) return; // show() follows
    if (name === "range") this.strip.brush("base").range = this.ranges.baseTimes;
    this.describe();
  }

  show() {
    const { ranges, data } = this;
    if (ranges.snapshots.length === 0 || !this.isAsked) return;
    if (!ranges.isComparing) this.activate("range");
    const spans = ranges.snapshots.map(({ begin, end }) => [Date.parse(begin), Date.parse(end)]);
    const [range, base] = [ranges.shown.times, ranges.baseTimes];
    this.strip.show({
      data,
      axis: axisOf(data, spans, base === null ? [range] : [range, base]),
      brushes: [
        { name: "base", range: base, isChosen: true, label: "baseline" },
        { name: "range", range, isChosen: true, label: "range" },
      ],
      ruler: snapshotRuler(spans),
      snapshots: spans.map(([begin]) => begin),
      until: spans.at(-1)[1],
      unknown: data === null ? NOT_TOLD : NOT_KEPT_THEN,
    });
    this.describe();
  }

  // Which brush the pointer drags and keys move.
  activate(name) {
    this.strip.active = name;
    for (const choice of this.choices) choice.checked = choice.value === name;
  }

  describe() {
    const sentences = [...this.ranges.sentences, ...this.memorySentences()];
    this.note.hidden = sentences.length === 0;
    setText(this.note, sentences.join(" "));
    this.legend.replaceChildren(...(this.data === null ? [] : this.legendItems()));
  }

  legendItems() {
    const { data, ranges } = this;
    const [range, base] = [ranges.shown.times, ranges.baseTimes];
    // The mean of a part would be taken for that of the whole.
    if (this.isForgotten) {
      const most = Object.entries(data.series).map(([kind, values]) => [kind, Math.max(...values)]);
      return legendOf(Object.fromEntries(most), () => "");
    }
    const now = meansOf(data, range);
    if (base === null) return this.orNothing(legendOf(now));
    const before = meansOf(data, base);
    const kinds = [...new Set([...Object.keys(now), ...Object.keys(before)])];
    const larger = kinds.map((kind) => [kind, Math.max(now[kind] ?? 0, before[kind] ?? 0)]);
    const amountOf = (kind) => `${threads(before[kind] ?? 0)} → ${threads(now[kind] ?? 0)}`;
    return this.orNothing(legendOf(Object.fromEntries(larger), amountOf));
  }

  orNothing(items) {
    return items.length > 0 ? items : [element("span", {}, "hardly any in this range")];
  }

  // Whether memory does not reach back to one of the ranges. The snapshots of ten minutes have always
  // begun a little before those of memory.
  get isForgotten() {
    const shown = [this.ranges.shown.times, this.ranges.baseTimes].filter((range) => range !== null);
    return shown.some(([from, to]) => this.data.known - from > MOST_UNKNOWN * (to - from));
  }

  memorySentences() {
    const { data, ranges, problem } = this;
    if (problem !== "") return [`How many threads waited is not shown: ${problem}.`];
    if (data === null || !this.isForgotten) return [];
    const length = time(Math.round((data.end - data.known) / 1000));
    const oldest = timeBeside(ranges.snapshots[0].begin, data.known);
    return [
      `How many threads waited is in memory for the last ${length}, from ${clock(data.known)}; before ` +
        `that the strip has stacks only, from ${oldest}.`,
    ];
  }
}
