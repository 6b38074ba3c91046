// SPDX-License-Identifier: Apache-2.0
import { element, shape } from "./elements.js";
import { clock, within } from "./numbers.js";
import { linesOf } from "./steps.js";
import { drawStrip } from "./strip_picture.js";

const TOP = 14;
const AXIS = 20;
const LEFT = 40;
const NARROWEST = 50;
const GRAB = 9; // pixels beside an edge
const MOVED = 4; // pixels; less is a click

// Time from left to right, with what waited. Ranges of it, the brushes, are dragged with the pointer
// or moved with keys. What is shown, a view, has:
// - `data`: of steps.js, or null if it is not known what waited;
// - `axis`: {begin, end}, which is never narrower than the data;
// - `brushes`: {name, range, isChosen, label}, those on top last. Their range is [from, to], or null;
// - `ruler`: where ranges may begin and end: snap(from, to), around(time) and moved(range, by, isEnd)
//   return one, or null;
// - `marks`: [{at, text}], or none;
// - `snapshots`: when they begin, if ranges are made of them; `until`: the end of the last one;
// - `unknown`: what is said of the time before the data;
// - `gaps`: [{from, to, text}] of the data, in which nothing is known, and why; or none.
export class TimeStrip {
  // `onBrush(name, range, isDone)`: somebody drags, or has chosen. options: `height`, `label` for
  // screen readers, `describedBy`, `shifted` (the brush that Shift and drag changes).
  constructor(box, hint, options, onBrush) {
    Object.assign(this, { box, hint, onBrush, height: options.height, shifted: options.shifted });
    this.active = "range"; // the brush that is dragged without Shift, and moved by keys
    this.view = null;
    this.drag = null;
    this.picture = shape("svg", {
      height: this.height,
      tabindex: 0,
      role: "group",
      "aria-label": options.label,
      "aria-describedby": options.describedBy,
      pointerdown: (event) => this.press(event),
      pointermove: (event) => this.move(event),
      pointerup: () => this.release(),
      pointercancel: () => this.forget(),
      pointerleave: () => this.leave(),
      keydown: (event) => this.key(event),
    });
    box.append(this.picture);
    new ResizeObserver(() => this.draw()).observe(box);
  }

  // What is dragged stays under the pointer, so a view that comes meanwhile waits.
  show(view) {
    if (this.drag !== null) {
      this.later = view;
      return;
    }
    this.view = view;
    this.draw();
  }

  brush(name) {
    return this.view.brushes.find((each) => each.name === name);
  }

  draw() {
    if (this.view === null) return;
    const style = getComputedStyle(this.box);
    const width = this.box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    if (width < LEFT + NARROWEST) return;
    this.frame = { left: LEFT, top: TOP, width: width - LEFT, height: this.height - TOP - AXIS };
    this.picture.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.hair = shape("line", { class: "hair", y1: TOP, y2: this.height - AXIS, visibility: "hidden" });
    this.picture.replaceChildren(...drawStrip(this.frame, this.view), this.hair);
  }

  xOf(time) {
    const { begin, end } = this.view.axis;
    return this.frame.left + (this.frame.width * (time - begin)) / (end - begin);
  }

  // Within the axis.
  timeAt(event) {
    const { begin, end } = this.view.axis;
    const x = event.clientX - this.picture.getBoundingClientRect().left;
    const at = begin + ((x - this.frame.left) / this.frame.width) * (end - begin);
    return within(at, begin, end);
  }

  // The edge under the pointer, {name, other}: of the brush `first`, or else of another one.
  edgeAt(event, first) {
    const x = event.clientX - this.picture.getBoundingClientRect().left;
    const isNear = (time) => Math.abs(this.xOf(time) - x) < GRAB;
    const order = [this.brush(first), ...[...this.view.brushes].reverse()];
    for (const { name, range, isChosen } of order) {
      if (!range || !isChosen) continue;
      if (isNear(range[0])) return { name, other: range[1] };
      if (isNear(range[1])) return { name, other: range[0] };
    }
    return null;
  }

  press(event) {
    if (event.button !== 0 || this.view === null || !this.frame) return;
    this.picture.setPointerCapture(event.pointerId);
    const wanted = event.shiftKey && this.shifted ? this.shifted : this.active;
    // An edge is changed: the other one stays.
    const edge = this.edgeAt(event, wanted);
    const { name, other } = edge ?? { name: wanted, other: this.timeAt(event) };
    const { range, isChosen } = this.brush(name);
    const before = { range, isChosen };
    this.drag = { name, other, x: event.clientX, at: this.timeAt(event), moved: false, before };
  }

  move(event) {
    if (this.view === null || !this.frame) return;
    const at = this.timeAt(event);
    if (this.drag) {
      const { name, other, x } = this.drag;
      this.drag.moved ||= Math.abs(event.clientX - x) >= MOVED;
      const range = this.view.ruler.snap(Math.min(at, other), Math.max(at, other));
      if (this.drag.moved && range) this.put(name, range);
    }
    this.tell(event, at);
  }

  put(name, range) {
    Object.assign(this.brush(name), { range, isChosen: true });
    this.draw();
    this.onBrush(name, range, false);
  }

  // Where the pointer is.
  markHair(time) {
    for (const end of ["x1", "x2"]) this.hair.setAttribute(end, this.xOf(time));
    this.hair.setAttribute("visibility", "visible");
  }

  tell(event, at) {
    const { data, gaps = [] } = this.view;
    const quiet = (text) => [element("span", { class: "quiet" }, text)];
    const gap = gaps.find(({ from, to }) => at >= from && at < to);
    if (gap) {
      this.markHair(at);
      this.hint.show(event, [quiet(clock(at)), [gap.text]]);
      return;
    }
    if (data === null || at < data.known) {
      this.markHair(at);
      this.hint.show(event, [quiet(clock(at)), [this.view.unknown ?? "not known"]]);
      return;
    }
    const step = Math.min(data.count - 1, Math.floor((at - data.begin) / data.step));
    const from = data.begin + step * data.step;
    this.markHair(from + data.step / 2);
    const lines = [quiet(`${clock(from)} to ${clock(from + data.step)}`), ...linesOf(data, step)];
    if (at > (this.view.until ?? Infinity)) lines.push(quiet("its stacks come with the next snapshot"));
    this.hint.show(event, lines);
  }

  release() {
    if (!this.drag) return;
    const { name, moved, at } = this.drag;
    const range = moved ? this.brush(name).range : this.view.ruler.around(at);
    this.end();
    if (range) this.onBrush(name, range, true);
  }

  // The drag was taken away, for example by scrolling.
  forget() {
    if (!this.drag) return;
    const { name, before, moved } = this.drag;
    Object.assign(this.brush(name), before);
    this.end();
    if (moved) this.onBrush(name, before.isChosen ? before.range : null, false);
    this.draw();
  }

  end() {
    this.drag = null;
    this.view = this.later ?? this.view;
    this.later = null;
  }

  leave() {
    this.hint.hide();
    this.hair?.setAttribute("visibility", "hidden");
  }

  // Returns whether the key was one of its own.
  key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined || this.view === null) return false;
    event.preventDefault();
    event.stopPropagation();
    const { range } = this.brush(this.active);
    const moved = range && this.view.ruler.moved(range, by, event.shiftKey);
    if (moved) this.onBrush(this.active, moved, true);
    return true;
  }
}
