// SPDX-License-Identifier: Apache-2.0
import { RangePicker, spanOf } from "./range.js";

const DEFAULT_MINUTES = 10; // the daemon's default without a parameter
const ROUNDED_MS = 1_000; // less is not worth a sentence

// The range that is shown, and the earlier one with which it is compared, the baseline.
export class Ranges {
  // `onMove()`: something is being moved; `onChange()`: somebody has chosen.
  constructor(root, onMove, onChange) {
    this.onMove = onMove;
    this.onChange = onChange;
    this.shown = new RangePicker(root.querySelector("#range"), () => this.moved(), () => this.changed());
    this.base = new RangePicker(root.querySelector("#base"), () => this.moved(true), () => this.changed());
    this.compare = root.querySelector("#compare");
    this.normalize = root.querySelector("#normalize");
    this.onlyCompared = root.querySelectorAll("[data-compare]");
    this.isBaseChosen = false; // or it lies just before the range
    this.asked = {}; // what the address says, by picker
    this.compare.addEventListener("change", () => {
      this.isBaseChosen = false;
      this.changed();
    });
    this.normalize.addEventListener("change", () => onChange());
    for (const button of root.querySelectorAll("[data-minutes]")) {
      button.addEventListener("click", () => {
        if (this.shown.snapshots.length === 0) return;
        this.shown.selectNewest(Number(button.dataset.minutes));
        this.changed();
      });
    }
  }

  get isComparing() {
    return this.compare.checked;
  }

  // Nothing lies before the range.
  get isBaseMissing() {
    return !this.isBaseChosen && this.shown.indexes.first === 0;
  }

  get snapshots() {
    return this.shown.snapshots;
  }

  // [from, to] of the baseline; null: there is none.
  get baseTimes() {
    return this.isComparing && !this.isBaseMissing ? this.base.times : null;
  }

  // Whether the range is the one that is shown when nobody asks for another.
  get isDefault() {
    const { first, last } = this.shown.indexes;
    const newest = this.shown.newest(DEFAULT_MINUTES);
    return first === newest.first && last === newest.last;
  }

  // A selection stays while its snapshots are kept; a range that ended with the newest moves with it.
  setSnapshots(snapshots) {
    const old = this.snapshots;
    const { first, last } = this.shown.indexes;
    const base = this.base.indexes;
    const newest = snapshots.length - 1;
    this.shown.setSnapshots(snapshots);
    this.base.setSnapshots(snapshots);
    const place = this.shown.placeOf({ first, last }, old);
    if (old.length > 0 && last === old.length - 1) this.shown.select(newest - (last - first), newest);
    else if (place !== null) this.shown.select(place.first, place.last);
    else this.shown.selectNewest(DEFAULT_MINUTES);
    const basePlace = this.isBaseChosen ? this.base.placeOf(base, old) : null;
    this.isBaseChosen = basePlace !== null;
    if (basePlace !== null) this.base.select(basePlace.first, basePlace.last);
    this.tell();
  }

  // What the address says: `range` and `base`, {from, to} or null; whether to compare, and rates.
  // Returns which of them is not kept, "range" or "base"; "": all are.
  obey({ range, base, compare, normalize }) {
    this.asked = {};
    this.compare.checked = compare;
    this.normalize.checked = normalize;
    const pickers = { range: this.shown, base: this.base };
    if (range === null) this.shown.selectNewest(DEFAULT_MINUTES);
    const missing = Object.entries({ range, base })
      .filter(([name, asked]) => asked !== null && !pickers[name].selectOverlapping(asked))
      .map(([name]) => name);
    this.isBaseChosen = base !== null && !missing.includes("base");
    if (range !== null && !missing.includes("range")) this.asked.range = range;
    if (this.isBaseChosen) this.asked.base = base;
    this.tell();
    return missing[0] ?? "";
  }

  // Somebody drags a brush of the strip, or has chosen: [from, to] as it lies on snapshots.
  put(name, [from, to], isDone) {
    this.asked = {};
    const picker = name === "base" ? this.base : this.shown;
    picker.selectOverlapping({ from, to });
    if (name === "base" && isDone) {
      this.compare.checked = true;
      this.isBaseChosen = true;
    }
    if (isDone) this.changed();
    else if (name === "base") this.base.tell(this.shown);
    else this.tell();
  }

  // As many snapshots as are shown, just before these, unless somebody has chosen others.
  selectBase() {
    const { first, last } = this.shown.indexes;
    if (!this.isBaseChosen) this.base.select(first - 1 - (last - first), first - 1);
  }

  tell() {
    for (const element of this.onlyCompared) element.hidden = !this.isComparing;
    if (this.snapshots.length === 0) return;
    this.selectBase();
    this.shown.tell();
    this.base.tell(this.shown);
    if (this.isBaseMissing) this.base.text.textContent = "nothing earlier";
  }

  moved(isBase = false) {
    if (isBase) this.isBaseChosen = true;
    this.asked = {};
    this.tell();
    this.onMove();
  }

  changed() {
    this.asked = {};
    this.tell();
    this.onMove();
    this.onChange();
  }

  // What somebody has to know of these ranges, in sentences.
  get sentences() {
    const pickers = { range: this.shown, base: this.base };
    const sentences = Object.entries(this.asked)
      .map(([name, { from, to }]) => roundedText(name, [from, to], pickers[name].times))
      .filter((sentence) => sentence !== "");
    const base = this.baseTimes;
    if (base === null) return sentences;
    const [from, to] = this.shown.times;
    const both = [Math.max(from, base[0]), Math.min(to, base[1])];
    if (both[0] < both[1]) {
      sentences.push(
        `Range and baseline overlap from ${spanOf(both)}: what waited then is in both, ` +
          "so changes look smaller than they are.",
      );
    }
    return sentences;
  }
}

// "": it is what was asked for. What was asked for may have one end only.
function roundedText(name, asked, shown) {
  const isSame = asked.every((time, i) => !Number.isFinite(time) || Math.abs(time - shown[i]) < ROUNDED_MS);
  if (isSame) return "";
  const [from, to] = asked.map((time, i) => (Number.isFinite(time) ? time : shown[i]));
  const what = name === "base" ? "The baseline" : "The range";
  return (
    `${what} asked for is ${spanOf([from, to])}; in whole snapshots that are kept, ` +
    `it is ${spanOf(shown)}.`
  );
}
