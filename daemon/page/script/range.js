// SPDX-License-Identifier: Apache-2.0
import { moment } from "./format.js";

// "2026-11-20 12:00:00 to 12:06:00": the day once.
function spanOf(begin, end) {
  const [day] = begin.split(" ");
  return `${begin} to ${end.startsWith(day) ? end.slice(day.length + 1) : end}`;
}

// Two sliders over the kept snapshots: the first and the last of a range.
export class RangePicker {
  constructor(element, onChange) {
    this.first = element.querySelector("[data-end=first]");
    this.last = element.querySelector("[data-end=last]");
    this.text = element.querySelector("output");
    this.snapshots = [];
    for (const slider of [this.first, this.last]) {
      slider.addEventListener("input", () => this.moved(slider));
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

  select(first, last) {
    this.first.value = Math.max(0, first);
    this.last.value = Math.max(0, last);
    this.tell();
  }

  // Selects the newest that begin within `minutes` before the end of the last one; Infinity: all.
  selectNewest(minutes) {
    const newest = this.snapshots.length - 1;
    const from = Date.parse(this.snapshots[newest].end) - minutes * 60_000 - 1_000;
    const first = this.snapshots.findIndex((each) => Date.parse(each.begin) >= from);
    this.select(first === -1 ? newest : first, newest);
  }

  // Selects all that overlap {from, to}, in milliseconds. False: none is kept of that time.
  selectOverlapping({ from, to }) {
    const overlaps = (each) => Date.parse(each.begin) < to && Date.parse(each.end) > from;
    const first = this.snapshots.findIndex(overlaps);
    if (first !== -1) this.select(first, this.snapshots.findLastIndex(overlaps));
    return first !== -1;
  }

  moved(slider) {
    const { first, last } = this.indexes;
    if (first > last) (slider === this.first ? this.last : this.first).value = slider.value;
    this.tell();
  }

  tell() {
    const { first, last } = this.range;
    this.text.textContent = first && last ? spanOf(moment(first.begin), moment(last.end)) : "";
    this.first.setAttribute("aria-valuetext", first ? moment(first.begin) : "none");
    this.last.setAttribute("aria-valuetext", last ? moment(last.end) : "none");
  }
}
