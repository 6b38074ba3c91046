// SPDX-License-Identifier: Apache-2.0
import { time } from "./numbers.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 144;
const HEIGHT = 30;
const EDGE = 2;

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function describe(points) {
  const tops = points.map((point) => point.p99);
  const least = time(Math.min(...tops));
  const most = time(Math.max(...tops));
  return `p99 between ${least} and ${most}, last ${time(tops.at(-1))}`;
}

// A gap between two points longer than a point means that nothing ended in between.
function runsOf(points) {
  const runs = [];
  for (const point of points) {
    const run = runs.at(-1);
    if (run && point.begin - run.at(-1).end < 0.001) run.push(point);
    else runs.push([point]);
  }
  return runs;
}

// `points`: {begin, end, p50, p99}, in seconds, ascending. `from` and `to` limit the time axis; the
// vertical axis is logarithmic. Each point is as wide as its time.
export function sparkline(points, from, to) {
  if (points.length === 0) return document.createTextNode("–");
  const low = Math.log(Math.min(...points.map((point) => point.p50)));
  const high = Math.max(Math.log(Math.max(...points.map((point) => point.p99))), low + Math.LN2);
  const x = (at) => (((at - from) / (to - from)) * WIDTH).toFixed(1);
  const y = (value) =>
    (HEIGHT - EDGE - ((Math.log(value) - low) / (high - low)) * (HEIGHT - 2 * EDGE)).toFixed(1);
  const picture = shape("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": describe(points),
  });
  const title = shape("title", {});
  title.textContent = describe(points);
  picture.append(title);
  for (const run of runsOf(points)) {
    const top = run.map((p) => `${x(p.begin)},${y(p.p99)} ${x(p.end)},${y(p.p99)}`);
    const bottom = run.map((p) => `${x(p.end)},${y(p.p50)} ${x(p.begin)},${y(p.p50)}`);
    const outline = [...top, ...bottom.reverse()].join(" ");
    picture.append(shape("polygon", { class: "band", points: outline }));
    picture.append(shape("polyline", { class: "last", points: top.join(" ") }));
  }
  return picture;
}
