// SPDX-License-Identifier: Apache-2.0
// Draws threads that wait over time, stacked by what they wait for, in the steps that were measured.
import { shape } from "./elements.js";
import { STACKED } from "./kinds.js";
import { clock, within } from "./numbers.js";

const MINUTE_MS = 60_000;
const EVERY_MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080];
const LEAST_MARK = 50; // pixels between marks of the time
const LEAST_TICK = 4; // pixels between ticks of snapshots
const LABEL = 50; // pixels that the name of a range takes at most
const NOT_KEPT_WIDTH = 230; // pixels of a text
const GAP_LETTER = 6.5; // pixels of a letter
const NICE = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

// The least round number that is not smaller, and whose half is round.
function roundUp(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  return size * NICE.find((each) => each * size >= value * 0.9999);
}

// Upper edges of the areas: for each kind [kind, below, above]. A step that is not known is 0.
function stacked(series, count) {
  const areas = [];
  let below = new Array(count).fill(0);
  for (const kind of STACKED) {
    if (!series[kind]) continue;
    const above = below.map((value, i) => value + (series[kind][i] ?? 0));
    areas.push([kind, below, above]);
    below = above;
  }
  return areas;
}

function outline(below, above, x, y) {
  const top = above.map((value, i) => `${x(i)} ${y(value)}L${x(i + 1)} ${y(value)}`);
  const bottom = below.map((value, i) => `${x(i + 1)} ${y(value)}L${x(i)} ${y(value)}`).reverse();
  return `M${top.join("L")}L${bottom.join("L")}Z`;
}

// Threads in each step.
export function totalsOf(series, count) {
  return Array.from({ length: count }, (_, i) =>
    STACKED.reduce((all, kind) => all + (series[kind]?.[i] ?? 0), 0),
  );
}

export function drawAreas(series, count, { left, top, width, height, most }) {
  const x = (i) => (left + (width * i) / count).toFixed(1);
  const y = (value) => (top + height * (1 - value / most)).toFixed(1);
  return stacked(series, count).map(([kind, below, above]) =>
    shape("path", { class: `area ${kind}`, d: outline(below, above, x, y) }),
  );
}

// Marks of the vertical axis.
function drawScale(frame) {
  const { left, top, width, height, most } = frame;
  return [0, most / 2, most].flatMap((value) => {
    const y = Math.round(top + height * (1 - value / most)) + 0.5;
    return [
      shape("line", { class: "grid", x1: left, x2: left + width, y1: y, y2: y }),
      shape("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, String(+value.toPrecision(2))),
    ];
  });
}

// Milliseconds between marks of the horizontal axis: at least LEAST_MARK pixels.
function everyOf(width, length) {
  const least = (LEAST_MARK * length) / width / MINUTE_MS;
  return (EVERY_MINUTES.find((each) => each >= least) ?? EVERY_MINUTES.at(-1)) * MINUTE_MS;
}

// The day instead of midnight.
function markOf(at) {
  const text = clock(at).slice(0, 5);
  return text === "00:00" ? new Date(at).toISOString().slice(5, 10) : text;
}

function drawTimes({ left, top, width, height }, { begin, end }) {
  const marks = [];
  const every = everyOf(width, end - begin);
  for (let at = Math.ceil(begin / every) * every; at <= end; at += every) {
    const x = left + (width * (at - begin)) / (end - begin);
    if (x < left + 12 || x > left + width - 18) continue;
    marks.push(
      shape("line", { class: "grid", x1: x, x2: x, y1: top + height, y2: top + height + 4 }),
      shape("text", { x, y: top + height + 15, "text-anchor": "middle" }, markOf(at)),
    );
  }
  return marks;
}

// Where a range is, with its edges if somebody chose it, and its name above. `others`: all ranges, whose
// names are beside this one.
function drawBrush({ left, top, width, height }, { begin, end }, { name, range, isChosen, label }, others) {
  if (!range) return [];
  const x = (at) => left + (width * (Math.min(end, Math.max(begin, at)) - begin)) / (end - begin);
  const [from, to] = range.map(x);
  const wide = Math.max(2, to - from);
  const edges = isChosen ? [from, from + wide] : [];
  const isNext = (other) => other.range && other.range[0] > range[0] && x(other.range[0]) - from < LABEL;
  const isLeft = from > left + width - LABEL || others.some(isNext);
  const place = isLeft ? { x: from + wide - 3, "text-anchor": "end" } : { x: from };
  return [
    shape(
      "g",
      { class: `brush ${name}` },
      shape("rect", { class: "band", x: from, y: top, width: wide, height }),
      ...edges.map((at) => shape("line", { class: "edge", x1: at, x2: at, y1: top, y2: top + height })),
      shape("line", { class: "edge", x1: from, x2: from + wide, y1: top + height, y2: top + height }),
      label ? shape("text", { class: "name", y: top - 4, ...place }, label) : null,
    ),
  ];
}

// The time of which only the snapshots are kept, not what waited: each begins with a tick.
function drawUnknown({ left, top, width, height }, { begin, end }, known, snapshots) {
  if (known <= begin) return [];
  const x = (at) => left + (width * (at - begin)) / (end - begin);
  const wide = x(Math.min(known, end)) - left;
  const bottom = top + height;
  const ticks = snapshots.filter((at) => at >= begin && at <= known);
  const isCrowded = ticks.length * LEAST_TICK > wide;
  return [
    shape("rect", { class: "not-kept", x: left, y: top, width: wide, height }),
    ...(isCrowded ? [] : ticks).map((at) =>
      shape("line", { class: "tick", x1: x(at), x2: x(at), y1: bottom - 5, y2: bottom }),
    ),
  ];
}

// Says so, where there is room.
function sayUnknown({ left, top, width, height }, { begin, end }, known, words) {
  const wide = (width * (Math.min(known, end) - begin)) / (end - begin);
  if (wide < NOT_KEPT_WIDTH) return [];
  const at = { x: left + wide / 2, y: top + height / 2 + 4, "text-anchor": "middle" };
  return [shape("text", { class: "not-kept", ...at }, words)];
}

// Times within the data of which nothing is known, and why, where there is room for it.
function drawGaps({ left, top, width, height }, { begin, end }, gaps) {
  const x = (at) => left + (width * (within(at, begin, end) - begin)) / (end - begin);
  return gaps.flatMap(({ from, to, text }) => {
    const [at, wide] = [x(from), x(to) - x(from)];
    const middle = { x: at + wide / 2, y: top + height / 2 + 4, "text-anchor": "middle" };
    const hasRoom = wide >= text.length * GAP_LETTER;
    return [
      shape("rect", { class: "not-kept gap", x: at, y: top, width: Math.max(1, wide), height }),
      ...(hasRoom ? [shape("text", { class: "not-kept", ...middle }, text)] : []),
    ];
  });
}

// Where somebody is stuck since: a line with a text.
function drawMarks({ left, top, width, height }, begin, end, marks) {
  return marks
    .filter(({ at }) => at >= begin && at <= end)
    .flatMap(({ at, text }) => {
      const x = Math.round(left + (width * (at - begin)) / (end - begin)) + 0.5;
      const isLate = x > left + width - 160;
      return [
        shape("line", { class: "mark", x1: x, x2: x, y1: 0, y2: top + height }),
        shape(
          "text",
          { class: "mark", x: isLate ? x - 5 : x + 5, y: 9, "text-anchor": isLate ? "end" : "start" },
          text,
        ),
      ];
    });
}

// `view`: see strip.js.
export function drawStrip(
  frame,
  { data, axis, brushes, marks = [], snapshots = [], unknown = "", gaps = [] },
) {
  const { left, width } = frame;
  const { begin, end } = axis;
  const known = snapshots.length > 0 ? (data?.known ?? end) : begin;
  const shapes = drawUnknown(frame, axis, known, snapshots);
  if (data !== null) {
    const { series, count } = data;
    const most = roundUp(Math.max(...totalsOf(series, count), 0.4));
    const x = (at) => left + (width * (at - begin)) / (end - begin);
    const inside = { ...frame, most, left: x(data.begin), width: x(data.end) - x(data.begin) };
    shapes.push(...drawScale({ ...frame, most }), ...drawAreas(series, count, inside));
  }
  return [
    ...shapes,
    ...drawGaps(frame, axis, gaps),
    ...drawTimes(frame, axis),
    ...drawMarks(frame, begin, end, marks),
    ...brushes.flatMap((brush) => drawBrush(frame, axis, brush, brushes)),
    ...sayUnknown(frame, axis, known, unknown),
  ];
}
