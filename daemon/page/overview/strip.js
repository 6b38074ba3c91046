// SPDX-License-Identifier: Apache-2.0
import { byId, element, setText, shape } from "./elements.js";
import { kindMark, kindWord, STACKED } from "./kinds.js";
import { knownSteps } from "./model.js";
import { clock, threads, time } from "./numbers.js";
import { drawStrip } from "./strip_picture.js";

const HEIGHT = 124;
const TOP = 14;
const AXIS = 20;
const LEFT = 40;
const NOW_MS = 60_000; // what "now" means on this page
const AROUND = 2; // steps before and after a click
const GRAB = 0.7; // of a step, beside an edge

// The last ten minutes of all units. A range of it is dragged with the pointer or moved with keys.
export class TimeStrip {
  // `onRange([from, to])`, in milliseconds; null: now.
  constructor(hint, onRange) {
    this.hint = hint;
    this.onRange = onRange;
    this.box = byId("strip");
    this.legend = byId("legend");
    this.text = byId("range-text");
    this.live = byId("live");
    this.data = null; // {series, begin, end, count, step}
    this.range = null;
    this.marks = [];
    this.drag = null; // {from, moved}: an end that stays, in steps
    this.picture = shape("svg", {
      height: HEIGHT,
      tabindex: 0,
      role: "group",
      "aria-label":
        "Threads that wait over the last ten minutes. Left and right move the range, with Shift its end.",
      "aria-describedby": "range-text",
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.release(),
      pointercancel: () => this.forget(),
      pointerleave: () => this.leave(),
      keydown: (event) => this.key(event),
    });
    this.box.append(this.picture);
    this.live.addEventListener("click", () => this.onRange(null));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  // `units`: an answer with steps.
  show(units, range, marks) {
    const { end, seconds, count } = units.steps;
    const step = seconds * 1000;
    this.data = {
      series: knownSteps(units.total.steps),
      count,
      step,
      end: Date.parse(end),
      begin: Date.parse(end) - count * step,
    };
    this.range = range;
    this.marks = marks;
    this.box.hidden = false;
    this.describe();
    if (this.drag === null) this.draw();
  }

  get shown() {
    return this.range ?? [this.data.end - NOW_MS, this.data.end];
  }

  // Means over the range, by kind.
  meansOf([from, to]) {
    const { series, begin, step, count } = this.data;
    const first = Math.max(0, Math.round((from - begin) / step));
    const last = Math.min(count, Math.round((to - begin) / step));
    const means = {};
    for (const kind of STACKED) {
      const known = (series[kind] ?? []).slice(first, last).filter((value) => value !== null);
      if (known.length > 0) means[kind] = known.reduce((all, one) => all + one, 0) / known.length;
    }
    return means;
  }

  describe() {
    const [from, to] = this.shown;
    const means = this.meansOf(this.shown);
    const kinds = STACKED.filter((kind) => means[kind] >= 0.005).sort((a, b) => means[b] - means[a]);
    this.legend.replaceChildren(
      ...kinds.map((kind) =>
        element("span", {}, kindMark(kind), `${kindWord(kind)} `, element("b", {}, threads(means[kind]))),
      ),
    );
    const isKept = to > this.data.begin;
    const words = `${clock(from)} to ${clock(to)}, ${time(Math.round((to - from) / 1000))}`;
    setText(
      this.text,
      this.range === null ? "now, the last 1 min" : isKept ? words : `${words}, no longer kept here`,
    );
    this.live.hidden = this.range === null;
  }

  draw() {
    if (this.data === null) return;
    const style = getComputedStyle(this.box);
    const width = this.box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (width < LEFT + 50) return;
    this.frame = { left: LEFT, top: TOP, width: width - LEFT, height: HEIGHT - TOP - AXIS };
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const show = { range: this.shown, isChosen: this.range !== null, marks: this.marks };
    this.hair = shape("line", { class: "hair", y1: TOP, y2: HEIGHT - AXIS, visibility: "hidden" });
    this.picture.replaceChildren(...drawStrip(this.frame, this.data, show), this.hair);
  }

  // Steps from the left.
  stepAt(event) {
    const box = this.picture.getBoundingClientRect();
    const at = ((event.clientX - box.left - LEFT) / (box.width - LEFT)) * this.data.count;
    return Math.max(0, Math.min(this.data.count, at));
  }

  press(event) {
    if (event.button !== 0 || this.data === null) return;
    this.picture.setPointerCapture(event.pointerId);
    const at = this.stepAt(event);
    let from = at;
    // An edge is changed: the other one stays.
    const edges = (this.range ?? []).map((time) => (time - this.data.begin) / this.data.step);
    if (edges.length > 0 && Math.abs(at - edges[0]) < GRAB) from = edges[1];
    else if (edges.length > 0 && Math.abs(at - edges[1]) < GRAB) from = edges[0];
    this.drag = { from, pressed: at, moved: false, before: this.range };
  }

  move(event) {
    if (this.data === null || !this.frame) return;
    const at = this.stepAt(event);
    if (this.drag) {
      this.drag.moved ||= Math.abs(at - this.drag.pressed) >= 0.5;
      if (this.drag.moved) {
        this.range = this.rangeOf(Math.min(at, this.drag.from), Math.max(at, this.drag.from));
        this.describe();
        this.draw();
      }
    }
    this.tell(event, Math.min(this.data.count - 1, Math.floor(at)));
  }

  tell(event, step) {
    const { series, begin, count } = this.data;
    const x = LEFT + (this.frame.width * (step + 0.5)) / count;
    for (const end of ["x1", "x2"]) this.hair.setAttribute(end, x);
    this.hair.setAttribute("visibility", "visible");
    const from = begin + step * this.data.step;
    const kinds = STACKED.filter((kind) => (series[kind]?.[step] ?? 0) >= 0.005).reverse();
    this.hint.show(event, [
      [element("span", { class: "quiet" }, `${clock(from)} to ${clock(from + this.data.step)}`)],
      ...kinds.map((kind) => [
        element("span", {}, kindMark(kind), kindWord(kind)),
        element("b", {}, threads(series[kind][step])),
      ]),
    ]);
  }

  release() {
    if (!this.drag) return;
    const { moved, pressed } = this.drag;
    this.drag = null;
    const step = Math.floor(pressed);
    this.onRange(
      moved
        ? this.range
        : this.rangeOf(Math.max(0, step - AROUND), Math.min(this.data.count, step + AROUND + 1)),
    );
  }

  // The drag was taken away, for example by scrolling.
  forget() {
    if (this.drag) this.range = this.drag.before;
    this.drag = null;
    this.draw();
  }

  leave() {
    this.hint.hide();
    this.hair?.setAttribute("visibility", "hidden");
  }

  // Whole steps, at least one.
  rangeOf(from, to) {
    const first = Math.min(Math.floor(from), this.data.count - 1);
    const last = Math.max(first + 1, Math.ceil(to));
    return [this.data.begin + first * this.data.step, this.data.begin + last * this.data.step];
  }

  // Returns whether the key was one of its own.
  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || this.data === null) return false;
    event.preventDefault();
    event.stopPropagation();
    let [from, to] = this.shown;
    to += by * this.data.step;
    if (!event.shiftKey) from += by * this.data.step;
    if (from >= this.data.begin && to <= this.data.end && from < to) this.onRange([from, to]);
    return true;
  }
}
