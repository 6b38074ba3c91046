// SPDX-License-Identifier: Apache-2.0
// The places where most time was waited, or where it changed most, beside the picture.
import { duration, share } from "./format.js";
import { visible } from "./names.js";

const MOST_PLACES = 14;
const SIGMAS = 3; // as /api/v1/changes judges
const LEAST_CHANGE = 0.1;

// The innermost function of the program; of a kernel thread, of the kernel.
function functionOf(table, row) {
  const frames = table.framesOf(row, "stack");
  return (frames.findLast((frame) => frame.kind === "user") ?? frames.at(-1))?.name ?? "[no stack]";
}

// Sums by process and function: {comm, name, ns, beforeNs, variance}.
function placesOf(table, rows) {
  const places = new Map();
  const { variance, before_variance: beforeVariance } = table.column;
  for (const row of rows) {
    const comm = visible(table.text(row, "comm")) || "[no name]";
    const name = functionOf(table, row);
    const key = `${comm} ${name}`;
    if (!places.has(key)) places.set(key, { comm, name, ns: 0, beforeNs: 0, variance: 0 });
    const place = places.get(key);
    const { ns, beforeNs } = table.amounts(row);
    place.ns += ns;
    place.beforeNs += beforeNs;
    place.variance += (row[variance] ?? 0) + (row[beforeVariance] ?? 0);
  }
  return [...places.values()];
}

// Whether it is more than chance.
function isSure({ ns, beforeNs, variance }) {
  const change = Math.abs(ns - beforeNs);
  return change > SIGMAS * Math.sqrt(variance) && change > LEAST_CHANGE * Math.max(ns, beforeNs);
}

export class PlaceList {
  // `onChoose(name)`: somebody wants to see the function.
  constructor(list, title, onChoose) {
    this.list = list;
    this.title = title;
    this.onChoose = onChoose;
  }

  clear() {
    this.list.replaceChildren();
  }

  show(table, rows) {
    const { isDifference } = table;
    const all = placesOf(table, rows);
    const whole = all.reduce((sum, place) => sum + place.ns, 0);
    const size = isDifference ? (place) => Math.abs(place.ns - place.beforeNs) : (place) => place.ns;
    const shown = isDifference ? all.filter(isSure) : all.filter((place) => place.ns > 0);
    shown.sort((a, b) => size(b) - size(a));
    this.title.textContent = isDifference ? "Largest changes" : "Where most of it is";
    this.list.replaceChildren(
      ...shown.slice(0, MOST_PLACES).map((place) => this.item(place, isDifference, whole)),
      ...(shown.length === 0 && isDifference ? ["Nothing changed by more than chance."] : []),
    );
  }

  item(place, isDifference, whole) {
    const { comm, name, ns, beforeNs } = place;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.title = `${comm}: ${name}`;
    button.addEventListener("click", () => this.onChoose(name));
    const where = document.createElement("span");
    where.textContent = comm;
    const amount = document.createElement("b");
    amount.textContent = isDifference
      ? `${duration(beforeNs)} → ${duration(ns)}`
      : `${duration(ns)}, ${share(ns, whole)}`;
    if (isDifference) amount.className = ns > beforeNs ? "more" : "less";
    const item = document.createElement("li");
    item.append(button, where, amount);
    return item;
  }
}
