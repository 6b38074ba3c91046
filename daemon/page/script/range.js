// SPDX-License-Identifier: Apache-2.0
import { duration, moment } from "./format.js";

const dayOf = (time) => moment(time).split(" ")[0];

// "12:00:00", with its day unless that is the day of `known`.
export function timeBeside(time, known) {
  const [day, text] = moment(time).split(" ");
  return day === dayOf(known) ? text : `${day} ${text}`;
}

// "12:00:00 to 12:06:00", each with its day unless that is the day of the time before; first is `known`.
export function spanOf([begin, end], known = Date.now()) {
  return `${timeBeside(begin, known)} to ${timeBeside(end, begin)}`;
}

// Two sliders over the kept snapshots: the first and the last of a range.
export class RangePicker {
  // `onMove()`: a slider moves; `onChange()`: it has moved.
  constructor(element, onMove, onChange) {
    this.first = element.querySelector("[data-end=first]");
    this.last = element.querySelector("[data-end=last]");
    this.text = element.querySelector("output");
    this.snapshots = [];
    for (const slider of [this.first, this.last]) {
      slider.addEventListener("input", () => {
        this.moved(slider);
        onMove();
      });
      slider.addEventListener("change", onChange);
    }
  }

  setSnapshots(snapshots) {
    this.snapshots = snapshots;
    for (const slider of [this.first, this.last]) slider.max = Math.max(0, snapshots.length - 1);
  }

  get indexes() {
    return { first: this.first.valueAsNumber, last: this.last.valueAsNumber };
  }

  get range() {
    const { first, last } = this.indexes;
    return { first: this.snapshots[first], last: this.snapshots[last] };
  }

  // [from, to] in milliseconds.
  get times() {
    const { first, last } = this.range;
    return [Date.parse(first.begin), Date.parse(last.end)];
  }

  select(first, last) {
    this.first.value = Math.max(0, first);
    this.last.value = Math.max(0, last);
  }

  // The newest that begin within `minutes` before the end of the last one; Infinity: all.
  newest(minutes) {
    const last = this.snapshots.length - 1;
    const from = Date.parse(this.snapshots[last].end) - minutes * 60_000 - 1_000;
    const first = this.snapshots.findIndex((each) => Date.parse(each.begin) >= from);
    return { first: first === -1 ? last : first, last };
  }

  selectNewest(minutes) {
    const { first, last } = this.newest(minutes);
    this.select(first, last);
  }

  // Selects all that overlap {from, to}, in milliseconds. False: none is kept of that time.
  selectOverlapping({ from, to }) {
    const overlaps = (each) => Date.parse(each.begin) < to && Date.parse(each.end) > from;
    const first = this.snapshots.findIndex(overlaps);
    if (first !== -1) this.select(first, this.snapshots.findLastIndex(overlaps));
    return first !== -1;
  }

  // Where a selection of other snapshots is in these; null: they are no longer kept.
  placeOf({ first, last }, old) {
    const place = (each) => this.snapshots.findIndex(({ sequence }) => sequence === each?.sequence);
    const [newFirst, newLast] = [place(old[first]), place(old[last])];
    return newFirst === -1 || newLast === -1 ? null : { first: newFirst, last: newLast };
  }

  moved(slider) {
    const { first, last } = this.indexes;
    if (first > last) (slider === this.first ? this.last : this.first).value = slider.value;
  }

  // `beside`: another one, which says the day and the time zone.
  tell(beside = null) {
    const { times } = this;
    const span = beside === null ? `${spanOf(times)} UTC` : spanOf(times, beside.times[0]);
    this.text.textContent = `${span}, ${duration((times[1] - times[0]) * 1e6)}`;
    this.first.setAttribute("aria-valuetext", moment(times[0]));
    this.last.setAttribute("aria-valuetext", moment(times[1]));
  }
}
