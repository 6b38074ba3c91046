// SPDX-License-Identifier: Apache-2.0
import { element, setText, shape, tableHead } from "../shared/elements.js";
import { kindWord, waitsFor } from "../shared/kinds.js";
import { clock, count, threads, time, within } from "../shared/numbers.js";
import { drawHeat, HeatScale, SHADES } from "./heat_picture.js";

const HEAT_HEIGHT = 150;
const HEAT_FRAME = { left: 52, top: 4, bottom: 18 };
const HEAT_NARROWEST = 60;
const CELL_MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function boundsText([lower, upper]) {
  if (upper === null) return `longer than ${time(lower)}`;
  return lower === 0 ? `up to ${time(upper)}` : `${time(lower)} to ${time(upper)}`;
}

function kindsText(kinds) {
  const list = Object.entries(kinds).sort(([, a], [, b]) => b - a);
  return list.map(([kind, value]) => `${kindWord(kind)} ${threads(value)}`).join(", ");
}

// Waits that ended, of an estimated number.
function endedText(number) {
  const whole = Math.max(1, Math.round(number));
  return `about ${count(whole)} wait${whole === 1 ? "" : "s"} ended`;
}

function lastingText({ waits, kind, seconds, stuck }) {
  const many = waits === 1 ? "1 wait lasts" : `${count(waits)} waits last`;
  return `${many} ${waitsFor(kind)}, the oldest for ${time(seconds)}${stuck ? ": stuck" : ""}`;
}

// The lengths of a unit's waits over time, as a picture, as a sentence about each of its cells, and as a
// table. Its elements stay while its numbers change, so the focus does.
export class HeatMap {
  constructor() {
    this.lengths = null;
    this.cursor = null; // {step, octave}: what the sentence is about
    this.text = element("p", { class: "heat-text", id: "heat-text", "aria-live": "off" });
    this.picture = shape("svg", {
      class: "heat-map",
      height: HEAT_HEIGHT,
      tabindex: 0,
      role: "group",
      "aria-describedby": "heat-text",
      keydown: (event) => this.key(event),
      pointermove: (event) => this.point(event),
      pointerleave: () => this.leave(),
      focus: () => this.listen(true),
      blur: () => this.listen(false),
    });
    this.table = element("tbody");
    this.details = element(
      "details",
      { class: "heat-table", toggle: () => this.fillTable() },
      element("summary", {}, "As a table"),
      element(
        "table",
        { class: "small-table" },
        tableHead(["length"], ["threads", "number"], ["ended", "number"], ["what for"]),
        this.table,
      ),
    );
    this.empty = element("p", { class: "quiet" });
    this.filled = element("div", {}, this.picture, this.legend(), this.text, this.details);
    this.element = element("div", {}, this.empty, this.filled);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  legend() {
    const shades = ["0", ...SHADES].map((least, shade) =>
      element(
        "span",
        {},
        element("i", { class: `heat-key heat-${shade}` }),
        shade === 0 ? `< ${SHADES[0]}` : String(least),
      ),
    );
    return element(
      "p",
      { class: "heat-legend" },
      element("span", {}, "threads"),
      ...shades,
      element("span", {}, element("i", { class: "heat-key lasting" }), "the oldest that lasts"),
    );
  }

  // Says something in place of the picture.
  say(sentence) {
    this.lengths = null;
    this.filled.hidden = true;
    this.empty.hidden = false;
    setText(this.empty, sentence);
  }

  // `range`: of the numbers beside it; `name`: of the unit.
  show(lengths, { range, name }) {
    if (this.name !== name) this.cursor = null;
    Object.assign(this, { lengths, range, name });
    this.empty.hidden = true;
    this.filled.hidden = false;
    const when = `from ${clock(lengths.begin)} to ${clock(lengths.end)}`;
    const label = `How long the waits of ${name} were, ${when}. Arrow keys move from cell to cell.`;
    if (this.picture.getAttribute("aria-label") !== label) this.picture.setAttribute("aria-label", label);
    this.draw();
    this.fillTable();
  }

  draw() {
    const width = this.element.clientWidth;
    if (this.lengths === null || width < HEAT_FRAME.left + HEAT_NARROWEST) return;
    const frame = {
      left: HEAT_FRAME.left,
      top: HEAT_FRAME.top,
      width: width - HEAT_FRAME.left,
      height: HEAT_HEIGHT - HEAT_FRAME.top - HEAT_FRAME.bottom,
    };
    this.scale = new HeatScale(frame, this.lengths);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${HEAT_HEIGHT}`);
    this.mark = shape("rect", { class: "cursor", visibility: "hidden" });
    this.picture.replaceChildren(...drawHeat(this.scale, this.lengths, this.range), this.mark);
    this.tell();
  }

  tell() {
    const { cursor, scale } = this;
    this.mark.setAttribute("visibility", cursor === null ? "hidden" : "visible");
    setText(this.text, cursor === null ? this.summary() : this.sentence(cursor));
    if (cursor === null) return;
    const place = {
      x: scale.x(cursor.step),
      y: scale.y(cursor.octave),
      width: scale.wide,
      height: scale.octaveHeight,
    };
    for (const [name, value] of Object.entries(place)) this.mark.setAttribute(name, value.toFixed(1));
  }

  // What the picture says at a glance.
  summary() {
    const { lengths } = this;
    const parts = [];
    const [most] = lengths.octaves.sort((a, b) => b.threads - a.threads);
    if (most)
      parts.push(
        `Of those that ended, most of the time was in waits of ${boundsText(lengths.boundsOf(most.octave))}.`,
      );
    const { oldest } = lengths;
    if (oldest) parts.push(`Now ${lastingText(oldest)}.`);
    return parts.join(" ");
  }

  sentence({ step, octave }) {
    const { lengths } = this;
    const when = `${clock(lengths.timeOf(step))} to ${clock(lengths.timeOf(step + 1))}`;
    const what = `${when}, ${boundsText(lengths.boundsOf(octave))}: `;
    if (step < lengths.known) return `${what}not known.`;
    const cell = lengths.cell(step, octave);
    const parts = [];
    if (cell) {
      const ended = endedText(cell.ended * lengths.seconds);
      parts.push(`${threads(cell.threads)} threads, ${ended}: ${kindsText(cell.kinds)}`);
    }
    parts.push(...lengths.lastingAt(step, octave).map(lastingText));
    return `${what}${parts.length === 0 ? "nothing" : parts.join("; ")}.`;
  }

  point(event) {
    if (this.lengths === null || !this.scale) return;
    const { left, top } = this.picture.getBoundingClientRect();
    this.cursor = this.scale.at(event.clientX - left, event.clientY - top);
    this.tell();
  }

  // Screen readers hear the sentence only from who uses the picture: its numbers change with each answer.
  listen(isUsed) {
    this.text.setAttribute("aria-live", isUsed ? "polite" : "off");
    if (!isUsed) this.leave();
  }

  leave() {
    this.cursor = null;
    if (this.lengths !== null && this.mark) this.tell();
  }

  // The first key goes to where most is now.
  key(event) {
    const move = CELL_MOVES[event.key] ?? { Home: [-Infinity, 0], End: [Infinity, 0] }[event.key];
    if (move === undefined || this.lengths === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { count, low, high } = this.lengths;
    const from = this.cursor;
    this.cursor =
      from === null
        ? this.start()
        : {
            step: within(from.step + move[0], 0, count - 1),
            octave: within(from.octave + move[1], low, high),
          };
    this.tell();
  }

  start() {
    const { lengths } = this;
    const last = [...lengths.cells.values(), ...lengths.lasting].sort(
      (a, b) => b.step - a.step || (b.threads ?? Infinity) - (a.threads ?? Infinity),
    );
    const [{ step, octave }] = last;
    return { step, octave };
  }

  fillTable() {
    if (!this.details.open || this.lengths === null) return;
    const number = (text) => element("td", { class: "number" }, text);
    const rows = this.lengths.octaves.map(({ octave, threads: many, ended, kinds }) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, boundsText(this.lengths.boundsOf(octave))),
        number(threads(many)),
        number(count(Math.max(1, ended))),
        element("td", { class: "cut" }, kindsText(kinds)),
      ),
    );
    const { oldest } = this.lengths;
    if (oldest) rows.unshift(element("tr", {}, element("td", { colspan: 4 }, `Now ${lastingText(oldest)}.`)));
    this.table.replaceChildren(...rows);
  }
}
