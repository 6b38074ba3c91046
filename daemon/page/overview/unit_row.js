// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { element, setText, shape } from "../shared/elements.js";
import { kindMark, kindWord, STACKED } from "../shared/kinds.js";
import { age, counted, portion, threads, time, times, upperBound } from "../shared/numbers.js";
import { totalsOf } from "../shared/strip_picture.js";
import { shortName } from "./model.js";

const SPARK_WIDTH = 92;
const SPARK_HEIGHT = 18;
const LEAST = 0.005; // threads; less is not drawn
const MOST_OF_IT = 0.95; // a culprit of so much is told without its share

// The line of a unit's last ten minutes; its own scale, so that small ones show their shape.
function sparkLine(series, count) {
  const totals = totalsOf(series, count);
  const most = Math.max(...totals, 0.05);
  const x = (i) => ((i * SPARK_WIDTH) / count).toFixed(1);
  const y = (value) => (SPARK_HEIGHT - 1 - ((SPARK_HEIGHT - 2) * value) / most).toFixed(1);
  const steps = totals.map((value, i) => `${x(i)} ${y(value)}L${x(i + 1)} ${y(value)}`);
  return `M${steps.join("L")}`;
}

function usualText({ p99_seconds: bounds, ended, since }) {
  const begin = since.slice(0, 16).replace("T", " ");
  return `usually ${time(upperBound(bounds))}: of ${counted(ended, "wait")} since ${begin}`;
}

// One row of the table, whose elements stay while its numbers change: focus and selections survive.
export class TableRow {
  constructor(name, onChoose) {
    this.name = name;
    this.drawn = {}; // what the pictures show
    this.link = element(
      "a",
      {
        title: visible(name),
        click: (event) => {
          event.preventDefault();
          event.stopPropagation();
          onChoose(name);
        },
      },
      shortName(name),
    );
    this.under = element("span", { class: "under" });
    this.waiting = element("td", { class: "number c-waiting" });
    this.bar = element("div", { class: "bar", "aria-hidden": "true" });
    this.usual = element("u");
    this.line = shape("path");
    this.ground = shape("path", { class: "ground" });
    this.p99 = element("td", { class: "number c-p99" });
    this.factor = element("td", { class: "number c-usual" });
    this.stuck = element("td", { class: "c-stuck bad" });
    this.on = element("td", { class: "c-on" });
    this.running = element("td", { class: "number c-cpus quiet" });
    const spark = shape(
      "svg",
      { class: "spark", viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`, "aria-hidden": "true" },
      this.ground,
      this.line,
    );
    this.element = element(
      "tr",
      { click: () => onChoose(name) },
      element("th", { scope: "row", class: "c-name" }, this.link, this.under),
      this.waiting,
      element("td", { class: "c-bar" }, this.bar),
      element("td", { class: "c-spark" }, spark),
      this.p99,
      this.factor,
      this.stuck,
      this.on,
      this.running,
    );
    this.element.dataset.unit = name;
  }

  // Draws only what has changed.
  redraw(part, key, draw) {
    if (this.drawn[part] === key) return;
    this.drawn[part] = key;
    draw();
  }

  // `most`: threads of the longest bar; `count`: steps of the lines.
  show(row, { most, count, isChosen, href, before }) {
    this.element.classList.toggle("chosen", isChosen);
    this.element.classList.toggle("trouble", row.isTrouble);
    if (this.link.getAttribute("href") !== href) this.link.setAttribute("href", href);
    if (isChosen) this.link.setAttribute("aria-current", "true");
    else this.link.removeAttribute("aria-current");
    const waits = row.waiting >= LEAST;
    setText(this.waiting, threads(row.waiting));
    setText(this.p99, waits && row.p99 !== null ? time(row.p99) : "");
    setText(this.stuck, row.stuck > 0 ? `${row.stuck}, ${age(row.oldest, row.oldestEstimated)}` : "");
    setText(this.running, row.tellsRunning ? threads(row.running) : "");
    this.showFactor(row, waits);
    this.showBar(row, most, before);
    this.showLine(row, count);
    this.showCulprit(row, waits);
  }

  showBar(row, most, before) {
    const parts = STACKED.map((kind) => [kind, ((row.kinds[kind] ?? 0) * 100) / most]).filter(
      ([, width]) => width >= 0.4,
    );
    const usual = row.before === null ? null : Math.min(99, (row.before * 100) / most);
    const key = `${parts.map(([kind, width]) => `${kind} ${width.toFixed(1)}`).join()} ${usual?.toFixed(1)}`;
    this.redraw("bar", key, () => {
      const pieces = parts.map(([kind, width]) =>
        element("i", { class: kind, style: { width: `${width}%` } }),
      );
      this.bar.replaceChildren(...pieces);
      if (usual === null || usual < 0.4) return;
      this.usual.style.setProperty("left", `${usual}%`);
      this.bar.append(this.usual);
    });
    const title = usual === null ? "" : `${threads(row.before)} in ${before}`;
    if (this.bar.parentElement.title !== title) this.bar.parentElement.title = title;
  }

  // How many times longer than usual; nothing where it is as usual, or nobody knows.
  showFactor(row, waits) {
    const isTold = waits && row.factor !== null;
    setText(this.factor, isTold ? times(row.factor) : "");
    this.factor.classList.toggle("bad", isTold && row.isTrouble);
    const { usual } = row;
    const title = waits && usual !== null ? usualText(usual) : "";
    if (this.p99.title !== title) this.factor.title = this.p99.title = title;
  }

  showLine(row, count) {
    const line = sparkLine(row.steps, count);
    this.redraw("line", line, () => {
      this.line.setAttribute("d", line);
      this.ground.setAttribute("d", `${line}L${SPARK_WIDTH} ${SPARK_HEIGHT}L0 ${SPARK_HEIGHT}Z`);
    });
  }

  showCulprit(row, waits) {
    const { main } = row;
    const culprit = waits ? row.culprit : null;
    const share = culprit && culprit.share < MOST_OF_IT ? portion(culprit.share) : "";
    const key = waits && main ? `${main} ${culprit?.text ?? ""} ${share}` : "";
    this.redraw("on", key, () => {
      if (key === "") {
        this.on.replaceChildren();
        this.under.replaceChildren();
        return;
      }
      const name = culprit?.text ?? (main === "cpu" ? "a CPU" : kindWord(main));
      this.on.replaceChildren(
        kindMark(main),
        element("span", { class: culprit && !culprit.isVague ? "" : "quiet" }, name),
        share === "" ? "" : ` ${share}`,
      );
      this.on.title = `${kindWord(main)}: ${name}`;
      this.under.replaceChildren(culprit ? `${kindWord(main)}: ${name}` : kindWord(main));
    });
  }
}
