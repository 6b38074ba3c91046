// SPDX-License-Identifier: Apache-2.0
import { ask } from "./client.js";
import { Hours, SPANS } from "./hours.js";
import { unitsOfChanges } from "./old_rows.js";
import { UnitStacks } from "./unit_stacks.js";

const FEW_UNITS = 120;
const NOW = 60; // seconds
const STALLS_ASKED = 300;
const THREADS_ASKED = 100;
const CHANGES_MS = 60_000; // the daemon reads files for them
const LOGIN_NEEDED = 401;

const MOST_CHANGES = 1000;
const SLACK_MS = 5_000; // by which a range may begin before what memory has

const REFUSED_BY_RANGE = { error: "that is kept of now alone" };
const BLAME_IS_OLD = {
  error: "Who was to blame is known of the last ten minutes alone; of this time there are stacks.",
};

// What the daemon is asked, and how often.
export class Questions {
  // `changed()`: snapshots have told more for the strip or the unit's stacks.
  constructor(address, changed) {
    this.address = address;
    this.unit = ""; // of which more is asked
    this.hours = new Hours((...what) => this.once(...what), changed);
    this.stacks = new UnitStacks((...what) => this.once(...what), changed);
    this.forget();
  }

  // After the daemon was gone, everything is asked again.
  forget() {
    this.locked = new Map(); // refusals, by path
    this.changes = undefined;
    this.changesAsked = -Infinity;
    this.strip = null;
    this.stripUnit = "";
    this.then = { key: "" };
    this.hours.forget();
    this.stacks.forget();
  }

  // What needs a login is not requested again, or the browser would ask for the password each time.
  async once(path, parameters, signal) {
    if (!this.locked.has(path)) {
      const query = new URLSearchParams(parameters).toString();
      const answer = await ask(query === "" ? path : `${path}?${query}`, signal);
      if (answer.status !== LOGIN_NEEDED) return answer;
      this.locked.set(path, answer);
    }
    return this.locked.get(path);
  }

  // `rows`: of the units that are known, by name. Answers or refusals by what they are about;
  // `range` and `unit` say what was asked.
  async ask(signal, rows) {
    const { range } = this.address;
    const { unit } = this;
    const answers = await (range === null ? this.askNow(signal, rows) : this.askThen(signal, rows, range));
    return { ...answers, range, unit };
  }

  limit() {
    const { all, find } = this.address.state;
    return all !== "" || find !== "" ? {} : { limit: FEW_UNITS };
  }

  // How the daemon finds the unit: by its name, or what belongs to no unit by its path.
  selector(rows) {
    const path = rows.get(this.unit)?.cgroup;
    return /\.\w+$/.test(this.unit) || path === undefined ? { cgroup: this.unit } : { cgroup: path };
  }

  // For "/" the daemon answers about everything, and the wanted unit is one of many.
  aboutUnit(rows, window) {
    const selector = this.selector(rows);
    return { ...selector, ...window, limit: selector.cgroup === "/" ? 1000 : 5 };
  }

  // An answer or a refusal about the stacks in which the wanted unit waited; undefined: not known yet.
  stacksOf(rows, range) {
    return rows.has(this.unit) ? this.stacks.of(this.selector(rows).cgroup, range) : undefined;
  }

  // Of the last ten minutes, for the strip; and how long the waits of the wanted unit were.
  aboutSteps(rows) {
    const selector = rows.has(this.unit) ? this.selector(rows).cgroup : undefined;
    return { window: `${NOW}s`, steps: true, ...(selector && { lengths: selector }), ...this.limit() };
  }

  // Beside the ten minutes that the daemon has in memory, the strip may show hours.
  wantHours(units) {
    const span = SPANS[this.address.state.span] ?? null;
    if (units.value) this.hours.want(span, Date.parse(units.value.taken));
  }

  async askNow(signal, rows) {
    const window = { window: `${NOW}s` };
    const stripUnit = rows.has(this.unit) ? this.unit : "";
    const about = this.unit === "" ? null : this.aboutUnit(rows, window);
    const [units, why, stalls, status, unitWhy, unitTop] = await Promise.all([
      this.once("api/v1/units", { ...this.aboutSteps(rows), usual: true }, signal),
      this.once("api/v1/why", window, signal),
      this.once("api/v1/stalls", { state: "in_progress", limit: STALLS_ASKED }, signal),
      this.once("api/v1/status", {}, signal),
      about && this.once("api/v1/why", about, signal),
      about && this.once("api/v1/top", { threads: true, cgroup: about.cgroup, limit: THREADS_ASKED }, signal),
    ]);
    Object.assign(this, { strip: units, stripUnit });
    this.wantHours(units);
    await this.askChanges(signal);
    return {
      units,
      why,
      stalls,
      status,
      changes: this.changes,
      strip: units,
      stripUnit,
      unitWhy: unitWhy ?? undefined,
      unitTop: unitTop ?? undefined,
    };
  }

  // How long units waited in the hour before. Nobody waits for this answer a second time.
  async askChanges(signal) {
    if (performance.now() - this.changesAsked < CHANGES_MS) return;
    this.changes = await this.once("api/v1/changes", { from: `-${NOW}s`, limit: 1000 }, signal);
    this.changesAsked = performance.now();
  }

  // A range does not change, so it is asked once; and the status, to see whether the daemon is there.
  async askThen(signal, rows, range) {
    const status = await this.once("api/v1/status", {}, signal);
    const stripUnit = rows.has(this.unit) ? this.unit : "";
    if (this.strip?.value === undefined || this.stripUnit !== stripUnit) {
      const strip = await this.once("api/v1/units", this.aboutSteps(rows), signal);
      Object.assign(this, { strip, stripUnit });
    }
    this.wantHours(this.strip);
    const isOld = this.isOld(range);
    const time = {
      window: `${Math.round((range[1] - range[0]) / 1000)}s`,
      to: new Date(range[1]).toISOString(),
    };
    const about = this.unit === "" || isOld ? null : this.aboutUnit(rows, time);
    const key = JSON.stringify([range, isOld, about, isOld || this.limit()]);
    if (this.then.key !== key) {
      const answers = isOld
        ? await this.askOld(signal, range, status.value?.access?.details !== false)
        : await this.askKept(signal, time, about);
      this.then = { key, answers };
    }
    return {
      isOld,
      stalls: REFUSED_BY_RANGE,
      status,
      strip: this.strip,
      stripUnit,
      unitTop: REFUSED_BY_RANGE,
      ...this.then.answers,
    };
  }

  // Whether a range begins before what the daemon has in memory.
  isOld([from]) {
    const { value } = this.strip;
    return value !== undefined && from < Date.parse(value.taken) - value.kept_seconds * 1000 - SLACK_MS;
  }

  async askKept(signal, time, about) {
    const [units, why, unitWhy] = await Promise.all([
      this.once("api/v1/units", { ...time, ...this.limit() }, signal),
      this.once("api/v1/why", time, signal),
      about && this.once("api/v1/why", about, signal),
    ]);
    return { units, why, unitWhy: unitWhy ?? undefined };
  }

  // What snapshots have of a range. /api/v1/changes sums them up by unit; it wants an earlier range, too,
  // for which the first of these snapshots will do, so that only one is read twice.
  async askOld(signal, range, tellsSites) {
    const [from, to] = range.map((at) => new Date(at).toISOString());
    const listed = await this.once("api/v1/snapshots", { from, to }, signal);
    if (listed.value?.snapshots.length === 0) {
      return {
        units: { error: "no snapshot is kept of this time" },
        why: BLAME_IS_OLD,
        unitWhy: BLAME_IS_OLD,
      };
    }
    const { begin, end } = listed.value?.snapshots[0] ?? { begin: from, end: to };
    const parameters = { from, to, base_from: begin, base_to: end, limit: MOST_CHANGES };
    const { value, ...refusal } = await this.once("api/v1/changes", parameters, signal);
    const units = value === undefined ? refusal : { value: unitsOfChanges(value, range[1], tellsSites) };
    return { units, why: BLAME_IS_OLD, unitWhy: BLAME_IS_OLD };
  }
}
