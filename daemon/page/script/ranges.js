// SPDX-License-Identifier: Apache-2.0
import { RangePicker } from "./range.js";

const DEFAULT_MINUTES = 10; // the daemon's default without a parameter

// The range that is shown, and the earlier one with which it is compared.
export class Ranges {
  constructor(form, onChange) {
    this.shown = new RangePicker(form.querySelector("#range"), () => this.changed(onChange));
    this.base = new RangePicker(form.querySelector("#base"), onChange);
    this.compare = form.querySelector("#compare");
    this.normalize = form.querySelector("#normalize");
    this.onlyCompared = form.querySelectorAll("[data-compare]");
    this.compare.addEventListener("change", () => this.changed(onChange));
    this.normalize.addEventListener("change", onChange);
    for (const button of form.querySelectorAll("[data-minutes]")) {
      button.addEventListener("click", () => {
        if (this.shown.snapshots.length === 0) return;
        this.shown.selectNewest(Number(button.dataset.minutes));
        this.changed(onChange);
      });
    }
  }

  get isComparing() {
    return this.compare.checked;
  }

  // A selection stays while its snapshots are kept; a range that ended with the
  // newest moves with it.
  setSnapshots(snapshots) {
    const { first, last } = this.shown.indexes;
    const old = this.shown.snapshots;
    const place = (each) => snapshots.findIndex(({ sequence }) => sequence === each?.sequence);
    const [newFirst, newLast] = [place(old[first]), place(old[last])];
    const newest = snapshots.length - 1;
    this.shown.setSnapshots(snapshots);
    this.base.setSnapshots(snapshots);
    if (old.length > 0 && last === old.length - 1) {
      this.shown.select(newest - (last - first), newest);
    } else if (newFirst !== -1 && newLast !== -1) {
      this.shown.select(newFirst, newLast);
    } else {
      this.shown.selectNewest(DEFAULT_MINUTES);
    }
    this.selectBase();
  }

  // False: nothing is kept of that time, and the selection is unchanged.
  showTime(range) {
    const found = this.shown.selectOverlapping(range);
    this.selectBase();
    return found;
  }

  // As many snapshots as are shown, just before these.
  selectBase() {
    const { first, last } = this.shown.indexes;
    this.base.select(first - 1 - (last - first), first - 1);
  }

  changed(onChange) {
    for (const element of this.onlyCompared) element.hidden = !this.isComparing;
    this.selectBase();
    onChange();
  }
}
