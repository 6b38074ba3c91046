// SPDX-License-Identifier: Apache-2.0
import { byId, Hint } from "../shared/elements.js";
import { clock, exactTime } from "../shared/numbers.js";
import { Address, flameAddress } from "./address.js";
import { GraphView } from "./graph_view.js";
import { Head } from "./head.js";
import { listenToKeys } from "./keys.js";
import { takeSteps, timeBefore, unitRows } from "./model.js";
import { NowStrip } from "./now_strip.js";
import { Poller } from "./poller.js";
import { Questions } from "./questions.js";
import { UnitPanel } from "./unit_panel.js";
import { UnitTable } from "./unit_table.js";
import { Verdict } from "./verdict.js";

const EVERY_MS = 5_000;
const WIDE = 900; // pixels; below, the chosen unit takes the place of the table
const NOW_SECONDS = 60;

// The page. The address decides what is asked, the answers what is shown.
class Overview {
  constructor() {
    this.address = new Address(() => this.changed());
    this.head = new Head();
    this.hint = new Hint(byId("tip"));
    const choose = (unit) => this.change({ unit });
    const change = (changes) => this.change(changes);
    const onSpan = (span) => change({ span });
    this.strip = new NowStrip(this.hint, { onRange: (range) => this.setRange(range), onSpan });
    this.verdict = new Verdict(this.address, choose);
    this.table = new UnitTable(this.address, { choose, change });
    this.graph = new GraphView(this.address, this.hint, { choose, change });
    this.panel = new UnitPanel(this.address, choose);
    this.questions = new Questions(this.address, () => this.show());
    this.find = byId("find");
    this.pause = byId("pause");
    this.isPaused = false;
    this.answers = null;
    this.rows = new Map();
    this.worst = "";
    this.poller = new Poller((signal) => this.poll(signal), EVERY_MS);
    this.listen(choose);
  }

  listen(choose) {
    this.find.value = this.address.state.find;
    this.find.addEventListener("input", () => {
      this.address.set({ find: this.find.value }, true);
      this.show();
      if (this.answers?.units.value?.matching > this.rows.size) this.poller.now();
    });
    this.pause.addEventListener("click", () => this.setPaused(!this.isPaused));
    for (const [id, view] of [
      ["to-units", "units"],
      ["to-graph", "graph"],
    ]) {
      byId(id).addEventListener("click", (event) => {
        event.preventDefault();
        this.change({ view });
      });
    }
    const step = (by) => () => this.step(by);
    const move = (event) => this.strip.key(event);
    listenToKeys(
      {
        ArrowDown: step(1),
        j: step(1),
        ArrowUp: step(-1),
        k: step(-1),
        ArrowLeft: move,
        ArrowRight: move,
        n: () => this.setRange(null),
        t: () => this.change({ span: NowStrip.nextSpan(this.address.state.span) }),
        p: () => this.setPaused(!this.isPaused),
        u: () => this.change({ view: "units" }),
        w: () => this.change({ view: "graph" }),
        "/": () => this.find.focus(),
        Escape: () => choose(""),
        Enter: () => this.openStacks(),
      },
      () => {
        this.find.value = "";
        this.change({ find: "" });
      },
    );
  }

  start() {
    this.poller.now();
  }

  // Somebody chose something.
  change(changes) {
    this.address.set(changes);
    this.changed();
  }

  changed() {
    this.find.value = this.address.state.find;
    this.show();
    this.poller.setInterval(this.interval);
  }

  setRange(range) {
    const [from, to] = range === null ? ["", ""] : range.map(exactTime);
    this.change({ from, to });
  }

  setPaused(isPaused) {
    this.isPaused = isPaused;
    this.pause.setAttribute("aria-pressed", String(isPaused));
    this.pause.textContent = isPaused ? "Continue" : "Pause";
    this.changed();
  }

  get interval() {
    return this.isPaused ? 0 : EVERY_MS;
  }

  step(by) {
    if (this.address.state.view !== "units") return;
    const next = this.table.neighbour(by);
    if (next === undefined) return;
    this.change({ unit: next });
    this.table.scrollTo(next);
  }

  openStacks() {
    if (this.answers?.units.value) location.href = this.stacksOf(this.address.state.unit);
  }

  async poll(signal) {
    try {
      const answers = await this.questions.ask(signal, this.rows);
      this.answers = answers;
      const taken = answers.units.value ? Date.parse(answers.units.value.taken) : Date.now();
      const mode = answers.range !== null ? "then" : this.isPaused ? "paused" : "live";
      this.head.here(answers.status, taken, mode);
      this.show();
      if (this.questions.unit !== answers.unit) this.poller.now();
    } catch (error) {
      if (signal.aborted) return;
      if (error.name !== "Gone") throw error;
      this.questions.forget();
      this.head.gone(this.interval);
    }
  }

  // [from, to] of what is shown, in milliseconds.
  get shownRange() {
    const now = Date.parse(this.answers.units.value.taken);
    return this.answers.range ?? [now - NOW_SECONDS * 1000, now];
  }

  stacksOf(name) {
    return flameAddress(this.shownRange, this.rows.get(name)?.cgroup ?? "");
  }

  show() {
    if (this.answers === null) return;
    const { units, why, stalls, changes, status, strip, range } = this.answers;
    const isPast = range !== null;
    this.showViews();
    const { span } = this.address.state;
    const time = { range: this.address.range, span, hours: this.questions.hours };
    if (units.value === undefined) {
      this.verdict.say(
        isPast ? "Nothing is known of this time." : "The daemon does not tell what waits.",
        units.error,
      );
      this.table.show(this.rows, { error: units.error });
      if (strip.value?.steps) this.strip.show(strip.value, { ...time, marks: [] });
      return;
    }
    this.rows = unitRows(units.value, isPast ? undefined : stalls.value, isPast ? undefined : changes?.value);
    if (isPast && strip.value) takeSteps(this.rows, strip.value);
    const { steps } = strip.value ?? {};
    this.verdict.show({
      units: units.value,
      why: why.value,
      rows: this.rows,
      isPast,
      before: timeBefore(changes?.value),
      stuckError: isPast ? undefined : stalls.error,
      uptime: status.value?.uptime_seconds ?? 0,
    });
    if (steps) this.strip.show(strip.value, { ...time, marks: this.marks() });
    const chosen = this.shownUnit;
    this.showList(units.value, why, { steps, chosen });
    this.showUnit(chosen, steps, isPast);
    byId("to-flame").href = byId("range-flame").href = flameAddress(this.shownRange, "");
    document.title = `${[...this.rows.values()].some((row) => row.isTrouble) ? "● " : ""}${byId("host").textContent} · offcpud`;
  }

  // Since when somebody is stuck.
  marks() {
    const stuck = [...this.rows.values()].flatMap((row) => row.stalls);
    const times = stuck
      .map((stall) => ({ at: Date.parse(stall.since), text: stall.for ?? stall.reason }))
      .sort((a, b) => a.at - b.at);
    const [first] = times;
    return first ? [{ at: first.at, text: `${clock(first.at)} stuck: ${first.text}` }] : [];
  }

  showViews() {
    const { view, unit } = this.address.state;
    for (const [id, name] of [
      ["to-units", "units"],
      ["to-graph", "graph"],
    ]) {
      const link = byId(id);
      link.href = this.address.link({ view: name });
      if (name === view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    byId("columns").classList.toggle("chosen", unit !== "");
  }

  showList(units, why, { steps, chosen }) {
    const isGraph = this.address.state.view === "graph";
    byId("list-title").textContent = isGraph ? "Who waits for whom" : "Units";
    this.find.hidden = isGraph;
    byId("list-idle").hidden = isGraph;
    if (isGraph) {
      this.table.hide();
      this.graph.show(why.value?.graph, { rows: this.rows, chosen, error: why.error });
    } else {
      this.graph.hide();
      const count = steps?.count ?? 60;
      this.table.show(this.rows, {
        total: units.total,
        count,
        chosen,
        before: timeBefore(this.answers.changes?.value),
        matching: units.matching,
        stalls: this.answers.stalls,
      });
    }
  }

  // Beside the table there is always one: the worst, until somebody chooses. It stays as long as
  // there is a verdict about it, unless another one gets into trouble.
  get shownUnit() {
    const { unit } = this.address.state;
    if (unit !== "" || window.innerWidth <= WIDE) return unit;
    const verdicts = this.answers.why.value?.verdicts ?? [];
    const known = verdicts.filter((verdict) => this.rows.has(verdict.unit));
    const told = known.map((verdict) => verdict.unit);
    const bad = known.filter((verdict) => this.rows.get(verdict.unit).isTroubleFor(verdict.for));
    const isTrouble = (name) => bad.some((verdict) => verdict.unit === name);
    const most = [...this.rows.values()].sort((a, b) => b.waiting - a.waiting)[0];
    const worst = bad[0]?.unit ?? told[0] ?? most?.name ?? "";
    const stays = told.includes(this.worst) && (isTrouble(this.worst) || bad.length === 0);
    if (!stays) this.worst = worst;
    return this.worst;
  }

  // An answer or a refusal about the shown unit's stacks; undefined: not known yet.
  unitStacks() {
    const { status, units, why, range } = this.answers;
    if (status.value?.access?.details === false) return { error: "This client may not see stacks." };
    const missing = units.value.total.waits === null ? why.value?.sources?.sites?.missing : undefined;
    if (missing) return { error: `There are none: ${missing}.` };
    return this.questions.stacksOf(this.rows, range);
  }

  showUnit(name, steps, isPast) {
    this.questions.unit = name;
    if (name === "") {
      this.panel.close();
      return;
    }
    const { unit, unitWhy, unitTop, units, strip, stripUnit, isOld } = this.answers;
    this.panel.show(name, {
      row: this.rows.get(name),
      steps: steps ?? { count: 60, seconds: 10, end: units.value.taken },
      why: unit === name ? unitWhy : undefined,
      top: unit === name ? unitTop : undefined,
      range: this.shownRange,
      isPast,
      isOld,
      lengths: stripUnit === name ? strip.value : undefined,
      stacks: this.unitStacks(),
      rows: this.rows,
    });
  }
}

new Overview().start();
