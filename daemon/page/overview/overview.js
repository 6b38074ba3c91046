// SPDX-License-Identifier: Apache-2.0
import { ask } from "./client.js";
import { Connection } from "./connection.js";
import { Health } from "./health.js";
import { Now } from "./now.js";
import { Poller } from "./poller.js";
import { ProcessTable } from "./processes.js";
import { PurposeTable } from "./purposes.js";
import { ReasonTable } from "./reasons.js";
import { StallTable } from "./stalls.js";
import { UnitTable } from "./units.js";

const FEW_UNITS = 15;
const FEW_ROWS = 10;
const LOGIN_NEEDED = 401;
const SNAPSHOTS_MS = 30_000; // the list is long, and changes once a minute

// The page. The controls and the address decide what is requested, the answers what is shown.
class Overview {
  constructor() {
    const find = (id) => document.getElementById(id);
    this.window = find("window");
    this.every = find("every");
    this.idle = find("idle");
    this.purpose = find("for");
    this.flame = find("flame");
    this.units = new UnitTable((cgroup) => this.choose(cgroup === this.chosen ? "" : cgroup));
    this.now = new Now();
    this.purposes = new PurposeTable();
    this.reasons = new ReasonTable();
    this.stalls = new StallTable();
    this.processes = new ProcessTable();
    this.health = new Health();
    this.connection = new Connection();
    this.limit = FEW_UNITS;
    this.answers = null;
    this.snapshots = null;
    this.snapshotsAsked = -Infinity;
    this.locked = new Map(); // refusals, by path
    this.readAddress();
    this.poller = new Poller((signal) => this.poll(signal), this.interval);
    this.listen(find);
  }

  listen(find) {
    this.window.addEventListener("change", () => this.changed());
    this.purpose.addEventListener("change", () => this.changed());
    this.every.addEventListener("change", () => this.poller.setInterval(this.interval));
    this.idle.addEventListener("change", () => this.show());
    find("all").addEventListener("click", () => this.choose(""));
    find("more").addEventListener("click", () => {
      this.limit = Infinity;
      this.poller.now();
    });
    find("controls").addEventListener("submit", (event) => event.preventDefault());
  }

  start() {
    this.poller.now();
  }

  get interval() {
    return Number(this.every.value) * 1000;
  }

  // The address contains the selection, so that it can be reloaded and passed on.
  readAddress() {
    const parameters = new URLSearchParams(location.search);
    this.chosen = parameters.get("cgroup") ?? "";
    for (const [name, select] of [["window", this.window], ["for", this.purpose]]) {
      const known = [...select.options].map((option) => option.value);
      if (known.includes(parameters.get(name))) select.value = parameters.get(name);
    }
  }

  choose(cgroup) {
    this.chosen = cgroup;
    this.changed();
  }

  changed() {
    const parameters = new URLSearchParams();
    if (this.window.selectedIndex > 0) parameters.set("window", this.window.value);
    if (this.purpose.value !== "") parameters.set("for", this.purpose.value);
    if (this.chosen !== "") parameters.set("cgroup", this.chosen);
    const query = parameters.toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`));
    this.poller.now();
  }

  paths() {
    const window = `window=${this.window.value}s`;
    const limit = this.limit === Infinity ? "" : `&limit=${this.limit}`;
    const one = new URLSearchParams({ cgroup: this.chosen, below: "false" });
    const purpose = this.purpose.value === "" ? "" : `&for=${this.purpose.value}`;
    const within = this.chosen === "" ? "" : `&${new URLSearchParams({ cgroup: this.chosen })}`;
    return [
      `api/v1/units?${window}${limit}${purpose}`,
      `api/v1/units?${window}&limit=0&history=true${this.chosen === "" ? "" : `&${one}`}`,
      `api/v1/stalls?state=in_progress&limit=${FEW_ROWS}${purpose}${within}`,
      `api/v1/top?limit=${FEW_ROWS}${purpose}${within}`,
      "api/v1/status",
    ];
  }

  // What needs a login is not requested again, or the browser would ask for the password each time.
  async askOnce(path, signal) {
    const [name] = path.split("?");
    if (!this.locked.has(name)) {
      const answer = await ask(path, signal);
      if (answer.status !== LOGIN_NEEDED) return answer;
      this.locked.set(name, answer);
    }
    return this.locked.get(name);
  }

  async poll(signal) {
    try {
      const answers = await Promise.all(this.paths().map((path) => this.askOnce(path, signal)));
      if (performance.now() - this.snapshotsAsked > SNAPSHOTS_MS) {
        this.snapshots = await this.askOnce("api/v1/snapshots", signal);
        this.snapshotsAsked = performance.now();
      }
      this.answers = answers;
      this.connection.here(answers[4], answers[0]);
      this.show();
    } catch (error) {
      if (signal.aborted) return;
      if (error.name !== "Gone") throw error;
      this.snapshotsAsked = -Infinity;
      this.locked.clear();
      this.connection.gone(this.interval);
    }
  }

  show() {
    if (this.answers === null) return;
    const [units, detail, stalls, processes, status] = this.answers;
    const wanted = this.purpose.value;
    this.now.show(status);
    this.units.show(units, this.chosen, wanted);
    this.purposes.show(detail);
    this.reasons.show(detail, this.chosen, this.idle.checked);
    this.stalls.show(stalls);
    this.processes.show(processes, wanted);
    this.health.show(status, this.snapshots, units.value ? Date.parse(units.value.taken) : Date.now());
    if (units.value) this.flame.href = this.flameAddress(units.value);
  }

  flameAddress({ taken, window_seconds: seconds }) {
    const from = new Date(Date.parse(taken) - seconds * 1000).toISOString();
    const parameters = new URLSearchParams({ from, to: taken });
    if (this.purpose.value !== "") parameters.set("for", this.purpose.value);
    return "flame?" + parameters;
  }
}

new Overview().start();
