// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { byId, element, setText } from "../shared/elements.js";
import { dayAndTime, time } from "../shared/numbers.js";
import { legendOf, meansOf, stepsOf } from "../shared/steps.js";
import { TimeStrip } from "../shared/strip.js";
import { SPANS } from "./hours.js";

const NOW_MS = 60_000; // what "now" means on this page
const MOST_GAPS = 2; // in words
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
      if (to <= begin || from >= end) return null;
      const first = Math.min(count - 1, Math.round((from - begin) / step));
      const last = Math.max(first + 1, Math.round((to - begin) / step));
      const [earliest, latest] = [isEnd ? first : first + by, last + by];
      return earliest >= 0 && latest <= count && earliest < latest ? rangeOf(earliest, latest) : null;
    },
  };
}

const SPAN_KEYS = ["", ...Object.keys(SPANS)];
const MOVED_BY_KEYS = "Left and right move the range, with Shift its end.";

// Time and all units: the last ten minutes from memory, or hours from snapshots; and the range that is
// shown.
export class NowStrip {
  // `onRange([from, to])`, in milliseconds; null: now. `onSpan(name)`: of SPANS, "" for ten minutes.
  constructor(hint, { onRange, onSpan }) {
    this.box = byId("strip");
    this.legend = byId("legend");
    this.text = byId("range-text");
    this.live = byId("live");
    this.note = byId("strip-note");
    this.memory = null; // the last ten minutes
    this.data = null; // what is drawn; null: snapshots are refused
    this.buttons = SPAN_KEYS.map((name) =>
      element(
        "button",
        { type: "button", "data-span": name, click: () => onSpan(name) },
        SPANS[name]?.name ?? "10 min",
      ),
    );
    byId("spans").append(...this.buttons);
    this.strip = new TimeStrip(
      this.box,
      hint,
      { height: 124, label: MOVED_BY_KEYS, describedBy: "range-text strip-note" },
      (_, range, isDone) => {
        this.describe(range);
        if (isDone) onRange(range);
      },
    );
    this.live.addEventListener("click", () => onRange(null));
  }

  // The one after this.
  static nextSpan(name) {
    return SPAN_KEYS[(SPAN_KEYS.indexOf(name) + 1) % SPAN_KEYS.length];
  }

  // The range that is shown if none is chosen.
  get now() {
    return [this.memory.end - NOW_MS, this.memory.end];
  }

  // `units`: an answer with steps; `span`: of SPANS, and `hours`, which read them.
  show(units, { range, marks, span, hours }) {
    this.memory = stepsOf(units);
    this.box.hidden = false;
    for (const button of this.buttons)
      button.setAttribute("aria-pressed", String(button.dataset.span === span));
    const shown = span === "" ? this.memory : hours.data(SPANS[span], this.memory);
    const isRefused = span !== "" && hours.error !== undefined && hours.asked === null;
    this.data = isRefused ? null : shown;
    const { begin, end, gaps = [] } = shown;
    const brush = { name: "range", range: range ?? this.now, isChosen: range !== null };
    if (this.strip.drag === null) this.describe(range);
    this.label(SPANS[span]?.long ?? "the last ten minutes");
    this.tellSpan(span, hours, gaps);
    const ruler = stepRuler(shown);
    this.strip.show({ data: this.data, axis: { begin, end }, brushes: [brush], ruler, marks, gaps });
  }

  label(span) {
    const label = `Threads that wait over ${span}. ${MOVED_BY_KEYS}`;
    if (this.strip.picture.getAttribute("aria-label") !== label)
      this.strip.picture.setAttribute("aria-label", label);
  }

  // What differs from the last ten minutes, and why some of it is empty.
  tellSpan(span, hours, gaps) {
    this.note.hidden = span === "";
    if (span === "") return;
    if (this.data === null) {
      setText(this.note, `The hours are not told: ${visible(hours.error)}.`);
      return;
    }
    const step = time(SPANS[span].step / 1000);
    const empty = gaps.map(
      ({ from, to, text }) => `${dayAndTime(from, hours.now)} to ${dayAndTime(to, hours.now)}: ${text}`,
    );
    const most =
      empty.length > MOST_GAPS
        ? [...empty.slice(0, MOST_GAPS), `and ${empty.length - MOST_GAPS} more gaps`]
        : empty;
    const why = most.length === 0 ? "" : ` Empty: ${visible(most.join("; "))}.`;
    setText(
      this.note,
      `From snapshots, in steps of ${step}, without waits for a CPU: snapshots have none.${why}`,
    );
  }

  // The steps that have this range: those of memory are finer.
  stepsFor([from, to]) {
    const isWithin = (data) => data !== null && to > data.begin && from >= data.begin - data.step;
    return [this.memory, this.data].find(isWithin) ?? null;
  }

  describe(range) {
    const [from, to] = range ?? this.now;
    const data = this.stepsFor([from, to]);
    this.legend.replaceChildren(...(data === null ? [] : legendOf(meansOf(data, [from, to]))));
    const end = this.memory.end;
    const length = time(Math.round((to - from) / 1000));
    const words = `${dayAndTime(from, end)} to ${dayAndTime(to, end)}, ${length}`;
    setText(
      this.text,
      range === null ? "now, the last 1 min" : data !== null ? words : `${words}, beyond this strip`,
    );
    this.live.hidden = range === null;
  }

  key(event) {
    return this.strip.key(event);
  }
}
