// SPDX-License-Identifier: Apache-2.0
// Draws threads that wait over time, stacked by what they wait for, in the steps that were measured.
import { shape } from "./elements.js";
import { STACKED } from "./kinds.js";
import { clock } from "./numbers.js";

const MINUTE_MS = 60_000;
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

function drawTimes({ left, top, width, height }, begin, end) {
  const marks = [];
  const every = width < 500 ? 2 * MINUTE_MS : MINUTE_MS;
  for (let at = Math.ceil(begin / every) * every; at <= end; at += every) {
    const x = left + (width * (at - begin)) / (end - begin);
    if (x < left + 12 || x > left + width - 18) continue;
    marks.push(
      shape("line", { class: "grid", x1: x, x2: x, y1: top + height, y2: top + height + 4 }),
      shape("text", { x, y: top + height + 15, "text-anchor": "middle" }, clock(at).slice(0, 5)),
    );
  }
  return marks;
}

// Where the range is, with its edges if somebody chose it.
function drawRange({ left, top, width, height }, begin, end, { range, isChosen }) {
  const x = (at) => left + (width * (Math.min(end, Math.max(begin, at)) - begin)) / (end - begin);
  const [from, to] = range.map(x);
  const wide = Math.max(2, to - from);
  const edges = isChosen ? [from, from + wide] : [];
  return [
    shape("rect", { class: "band", x: from, y: top, width: wide, height }),
    ...edges.map((at) => shape("line", { class: "edge", x1: at, x2: at, y1: top, y2: top + height })),
    shape("line", { class: "edge", x1: from, x2: from + wide, y1: top + height, y2: top + height }),
  ];
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

// `data`: {series, begin, end, count}, times in milliseconds; `show`: {range, isChosen, marks}.
export function drawStrip(frame, data, show) {
  const { series, begin, end, count } = data;
  const most = roundUp(Math.max(...totalsOf(series, count), 0.4));
  const inside = { ...frame, most };
  return [
    ...drawScale(inside),
    ...drawAreas(series, count, inside),
    ...drawTimes(inside, begin, end),
    ...drawMarks(inside, begin, end, show.marks),
    ...drawRange(inside, begin, end, show),
  ];
}
