// SPDX-License-Identifier: Apache-2.0
import { ask } from "./client.js";

const FEW_UNITS = 120;
const NOW = 60; // seconds
const STALLS_ASKED = 300;
const THREADS_ASKED = 100;
const CHANGES_MS = 60_000; // the daemon reads files for them
const LOGIN_NEEDED = 401;

const REFUSED_BY_RANGE = { error: "that is kept of now alone" };

// What the daemon is asked, and how often.
export class Questions {
  constructor(address) {
    this.address = address;
    this.unit = ""; // of which more is asked
    this.forget();
  }

  // After the daemon was gone, everything is asked again.
  forget() {
    this.locked = new Map(); // refusals, by path
    this.changes = undefined;
    this.changesAsked = -Infinity;
    this.strip = null;
    this.then = { key: "" };
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

  async askNow(signal, rows) {
    const window = { window: `${NOW}s` };
    const about = this.unit === "" ? null : this.aboutUnit(rows, window);
    const [units, why, stalls, status, unitWhy, unitTop] = await Promise.all([
      this.once("api/v1/units", { ...window, steps: true, ...this.limit() }, signal),
      this.once("api/v1/why", window, signal),
      this.once("api/v1/stalls", { state: "in_progress", limit: STALLS_ASKED }, signal),
      this.once("api/v1/status", {}, signal),
      about && this.once("api/v1/why", about, signal),
      about && this.once("api/v1/top", { threads: true, cgroup: about.cgroup, limit: THREADS_ASKED }, signal),
    ]);
    this.strip = units;
    await this.askChanges(signal);
    return {
      units,
      why,
      stalls,
      status,
      changes: this.changes,
      strip: units,
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
  async askThen(signal, rows, [from, to]) {
    const time = { window: `${Math.round((to - from) / 1000)}s`, to: new Date(to).toISOString() };
    const about = this.unit === "" ? null : this.aboutUnit(rows, time);
    const key = JSON.stringify([time, about, this.limit()]);
    const status = await this.once("api/v1/status", {}, signal);
    this.strip ??= await this.once(
      "api/v1/units",
      { window: `${NOW}s`, steps: true, ...this.limit() },
      signal,
    );
    if (this.then.key !== key) {
      const [units, why, unitWhy] = await Promise.all([
        this.once("api/v1/units", { ...time, ...this.limit() }, signal),
        this.once("api/v1/why", time, signal),
        about && this.once("api/v1/why", about, signal),
      ]);
      this.then = { key, answers: { units, why, unitWhy: unitWhy ?? undefined } };
    }
    return {
      stalls: REFUSED_BY_RANGE,
      status,
      strip: this.strip,
      unitTop: REFUSED_BY_RANGE,
      ...this.then.answers,
    };
  }
}
