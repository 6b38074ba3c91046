// SPDX-License-Identifier: Apache-2.0
// Draws Lengths: time to the right, length upwards by octaves, the darker the more threads.
import { shape } from "../shared/elements.js";
import { clock, time, within } from "../shared/numbers.js";

// Threads from which a cell is darker: always the same ones, so that units and times compare.
export const SHADES = [0.001, 0.01, 0.1, 1, 10];
const LENGTH_LABELS = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000, 10_000];
const LEAST_LABEL_GAP = 15; // pixels between labels
const LEAST_LASTING = 3; // pixels of what lasts
const EVERY_STEPS = 12; // steps between times

export function shadeOf(threads) {
  const shade = SHADES.findIndex((least) => threads < least);
  return shade === -1 ? SHADES.length : shade;
}

// Places of steps and octaves. `frame`: {left, top, width, height}.
export class HeatScale {
  constructor({ left, top, width, height }, { count, low, high }) {
    Object.assign(this, { left, top, width, height, count, low, high });
    this.wide = width / count;
    this.octaveHeight = height / (high - low + 1);
  }

  x(step) {
    return this.left + step * this.wide;
  }

  // The upper edge of an octave.
  y(octave) {
    return this.top + (this.high - octave) * this.octaveHeight;
  }

  // {step, octave} at a place within the picture.
  at(x, y) {
    return {
      step: within(Math.floor((x - this.left) / this.wide), 0, this.count - 1),
      octave: within(this.high - Math.floor((y - this.top) / this.octaveHeight), this.low, this.high),
    };
  }

  box(step, octave, least = 0) {
    const [x, y] = [this.x(step), this.y(octave)];
    const tall = Math.max(least, this.octaveHeight - 0.6);
    const top = y + (this.octaveHeight - 0.6 - tall) / 2;
    const [left, wide] = [x.toFixed(1), Math.max(0.8, this.wide - 0.6).toFixed(1)];
    return `M${left} ${top.toFixed(1)}h${wide}v${tall.toFixed(1)}H${left}Z`;
  }
}

// The height of a length: bounds of octaves are powers of two.
function heightOfLength(scale, lengths, seconds) {
  const low = lengths.bounds[scale.low] / 2;
  return scale.top + scale.height - Math.log2(seconds / low) * scale.octaveHeight;
}

function drawLengthScale(scale, lengths) {
  const shapes = [];
  let last = Infinity;
  for (const seconds of LENGTH_LABELS) {
    const y = heightOfLength(scale, lengths, seconds);
    if (y > scale.top + scale.height - 2 || y < scale.top + 4 || last - y < LEAST_LABEL_GAP) continue;
    last = y;
    const at = Math.round(y) + 0.5;
    shapes.push(
      shape("line", { class: "grid", x1: scale.left, x2: scale.left + scale.width, y1: at, y2: at }),
      shape("text", { x: scale.left - 6, y: at + 4, "text-anchor": "end" }, time(seconds)),
    );
  }
  return shapes;
}

function drawStepTimes(scale, lengths) {
  const shapes = [];
  for (let step = 0; step <= scale.count; step += EVERY_STEPS) {
    const x = scale.x(step);
    const anchor = step === 0 ? "start" : step === scale.count ? "end" : "middle";
    const text = clock(lengths.timeOf(step)).slice(0, 5);
    shapes.push(shape("text", { x, y: scale.top + scale.height + 13, "text-anchor": anchor }, text));
  }
  return shapes;
}

// One path of each shade: a thousand cells are no thousand elements.
function drawCells(scale, lengths) {
  const paths = new Array(SHADES.length + 1).fill("");
  for (const { step, octave, threads } of lengths.cells.values())
    paths[shadeOf(threads)] += scale.box(step, octave);
  return paths.map((d, shade) => (d === "" ? null : shape("path", { class: `heat heat-${shade}`, d })));
}

function drawLasting(scale, lengths) {
  return [false, true].map((stuck) => {
    const shown = lengths.lasting.filter((one) => one.stuck === stuck);
    const d = shown.map(({ step, octave }) => scale.box(step, octave, LEAST_LASTING)).join("");
    return d === "" ? null : shape("path", { class: stuck ? "lasting stuck" : "lasting", d });
  });
}

// `range`: of the numbers beside it, in milliseconds.
function drawRange(scale, lengths, [from, to]) {
  const x = (at) => {
    const part = (at - lengths.begin) / (lengths.end - lengths.begin);
    return scale.left + scale.width * within(part, 0, 1);
  };
  const wide = x(to) - x(from);
  if (wide <= 0) return null;
  return shape("rect", { class: "band", x: x(from), y: scale.top, width: wide, height: scale.height });
}

export function drawHeat(scale, lengths, range) {
  const { left, top, width, height } = scale;
  return [
    shape("rect", { class: "heat-ground", x: left, y: top, width, height }),
    drawRange(scale, lengths, range),
    ...drawLengthScale(scale, lengths),
    ...drawStepTimes(scale, lengths),
    ...drawCells(scale, lengths),
    ...drawLasting(scale, lengths),
  ].filter((each) => each !== null);
}
