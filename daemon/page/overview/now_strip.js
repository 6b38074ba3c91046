// SPDX-License-Identifier: Apache-2.0
import { byId, setText } from "../shared/elements.js";
import { clock, time } from "../shared/numbers.js";
import { legendOf, meansOf, stepsOf } from "../shared/steps.js";
import { TimeStrip } from "../shared/strip.js";

const NOW_MS = 60_000; // what "now" means on this page
const AROUND = 2; // steps before and after a click

// Ranges are whole steps, at least one.
function stepRuler({ begin, end, count, step }) {
  const rangeOf = (first, last) => [begin + first * step, begin + last * step];
  return {
    snap(from, to) {
      const first = Math.min(Math.floor((from - begin) / step), count - 1);
      return rangeOf(first, Math.max(first + 1, Math.ceil((to - begin) / step)));
    },
    around(at) {
      const middle = Math.floor((at - begin) / step);
      return rangeOf(Math.max(0, middle - AROUND), Math.min(count, middle + AROUND + 1));
    },
    moved([from, to], by, isEnd) {
      const later = [isEnd ? from : from + by * step, to + by * step];
      return later[0] >= begin && later[1] <= end && later[0] < later[1] ? later : null;
    },
  };
}

// The last ten minutes of all units, and the range of them that is shown.
export class NowStrip {
  // `onRange([from, to])`, in milliseconds; null: now.
  constructor(hint, onRange) {
    this.box = byId("strip");
    this.legend = byId("legend");
    this.text = byId("range-text");
    this.live = byId("live");
    this.data = null;
    this.range = null;
    const label =
      "Threads that wait over the last ten minutes. Left and right move the range, with Shift its end.";
    this.strip = new TimeStrip(
      this.box,
      hint,
      { height: 124, label, describedBy: "range-text" },
      (_, range, isDone) => {
        this.describe(range);
        if (isDone) onRange(range);
      },
    );
    this.live.addEventListener("click", () => onRange(null));
  }

  // The range that is shown if none is chosen.
  get now() {
    return [this.data.end - NOW_MS, this.data.end];
  }

  // `units`: an answer with steps.
  show(units, range, marks) {
    this.data = stepsOf(units);
    this.box.hidden = false;
    const { begin, end } = this.data;
    const brush = { name: "range", range: range ?? this.now, isChosen: range !== null };
    if (this.strip.drag === null) this.describe(range);
    const ruler = stepRuler(this.data);
    this.strip.show({ data: this.data, axis: { begin, end }, brushes: [brush], ruler, marks });
  }

  describe(range) {
    const [from, to] = range ?? this.now;
    this.legend.replaceChildren(...legendOf(meansOf(this.data, [from, to])));
    const isKept = to > this.data.begin;
    const words = `${clock(from)} to ${clock(to)}, ${time(Math.round((to - from) / 1000))}`;
    setText(
      this.text,
      range === null ? "now, the last 1 min" : isKept ? words : `${words}, no longer kept here`,
    );
    this.live.hidden = range === null;
  }

  key(event) {
    return this.strip.key(event);
  }
}
