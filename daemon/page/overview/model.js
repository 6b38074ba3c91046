// SPDX-License-Identifier: Apache-2.0
// From the daemon's answers to what is shown of a unit.
import { pathsAbove, visible } from "../script/names.js";
import { STACKED } from "../shared/kinds.js";
import { time, upperBound } from "../shared/numbers.js";
import { knownSteps } from "../shared/steps.js";

const TROUBLE_THREADS = 0.5; // more than before
const TROUBLE_FACTOR = 2;
const SIGMAS = 3;
const LEAST_BEFORE = 300; // seconds of the time before; less does not say what is usual
const NEARLY_AN_HOUR = 3000;
const SURE = 0.99; // the percentile that is shown
const MANY = 100; // waits; the longest of fewer is no percentile
const UNUSUAL_FACTOR = 2; // times the usual percentile; less is not told
const LEAST_NAMED = 0.2; // of what it waits for: whoever has less is not named, as in /api/v1/why

const NO_UNIT = "no unit (/)";

// As unit_name() of the daemon, by which /api/v1/why knows it.
export function unitNameOf({ unit, cgroup }) {
  return unit ?? (cgroup === "/" ? NO_UNIT : cgroup);
}

export function shortName(name) {
  return visible(name.replace(/\.service$/, ""));
}

// What `waited_on` says, in words: "device nvme0n1", "10.0.0.7:5432", "postgresql".
export function otherName(on, own) {
  if (on === own || (on === "/" && own === NO_UNIT)) return "its own threads";
  if (on.startsWith("device:")) return `device ${visible(on.slice(7))}`;
  if (on.startsWith("remote:")) return visible(on.slice(7));
  return on === "/" ? NO_UNIT : shortName(on);
}

const sum = (values) => values.reduce((all, one) => all + one, 0);
const waitingOf = (waits) => sum(Object.values(waits).map((wait) => wait.waiting));

// Threads by kind, of one cgroup. Who waits for children of its own is left out: they have rows.
function kindsOf(unit) {
  const kinds = { cpu: waitingOf(unit.runqueue) };
  if (!unit.waits) {
    kinds.unknown = unit.actionable - kinds.cpu; // nothing was examined: by reason
    return kinds;
  }
  for (const kind of STACKED) {
    const wait = unit.waits.for[kind];
    if (kind === "cpu" || kind === "unknown" || !wait) continue;
    kinds[kind] = wait.waiting - (kind === "answer" ? unit.waits.children : 0);
  }
  return kinds;
}

// The percentile of one kind: `p99` in seconds, over what ended and what lasts, which counts at its age: a
// hang must not make it shorter. `many`: it is of enough waits, or somebody hangs; `usual`: as the daemon
// tells it.
function lengthOf(wait) {
  const ended = upperBound(wait.p99_seconds) ?? 0;
  const isHang = wait.lasting > 0 && wait.lasting >= (1 - SURE) * (wait.lasting + (wait.ended ?? 0));
  const p99 = isHang ? Math.max(ended, wait.oldest_seconds ?? 0) : ended;
  return { p99, many: isHang || wait.ended >= MANY, usual: wait.usual };
}

// Two of one kind: the longer ones count.
function longer(a, b) {
  if (a === undefined) return b;
  const usual = [a.usual, b.usual].filter((each) => each !== undefined);
  usual.sort((one, other) => upperBound(other.p99_seconds) - upperBound(one.p99_seconds));
  return { p99: Math.max(a.p99, b.p99), many: (b.p99 > a.p99 ? b : a).many, usual: usual[0] };
}

function addSeries(into, from) {
  for (const [kind, values] of Object.entries(knownSteps(from))) {
    const had = into[kind];
    into[kind] = had
      ? had.map((value, i) => (value === null ? values[i] : value + (values[i] ?? 0)))
      : values;
  }
}

class UnitRow {
  constructor(name, { cgroup }) {
    Object.assign(this, { name, cgroup, kinds: {}, lengths: {}, steps: {}, on: new Map(), sites: [] });
    Object.assign(this, { running: 0, work: 0, timer: 0, unknown: 0, throttled: 0, takers: [] });
    Object.assign(this, { stuck: 0, oldest: 0, oldestEstimated: false, stalls: [], before: null });
    this.cgroups = new Set();
    this.tellsSites = true; // to this client
    this.tellsRunning = true;
    this.changed = false; // it waits significantly longer than before
    this.variance = 0; // of the difference
  }

  // Another cgroup of the unit.
  add(unit) {
    for (const [kind, value] of Object.entries(kindsOf(unit))) {
      this.kinds[kind] = (this.kinds[kind] ?? 0) + Math.max(0, value);
    }
    const cpu = Object.values(unit.runqueue).map((wait) => ["cpu", wait]);
    for (const [kind, wait] of [...cpu, ...Object.entries(unit.waits?.for ?? {})]) {
      this.lengths[kind] = longer(this.lengths[kind], lengthOf(wait));
    }
    for (const { for: kind, on, waiting } of unit.waited_on ?? []) {
      const key = `${kind} ${on}`;
      const had = this.on.get(key);
      this.on.set(key, { kind, on, waiting: waiting + (had?.waiting ?? 0) });
    }
    addSeries(this.steps, unit.steps);
    this.sites.push(...(unit.waits?.sites ?? []));
    if (unit.waits && !unit.waits.sites) this.tellsSites = false;
    this.takers.push(...(unit.kept_off ?? []));
    this.running += unit.running ?? 0;
    if (unit.running === null) this.tellsRunning = false;
    this.throttled += unit.runqueue.throttled?.waiting ?? 0;
    this.unknown += unit.waits?.unknown ?? 0;
    this.variance += (unit.waits?.error ?? 0) ** 2;
    this.cgroups.add(unit.cgroup);
    if (unit.cgroup.length < this.cgroup.length) this.cgroup = unit.cgroup;
  }

  finish() {
    this.waiting = sum(Object.values(this.kinds));
    const [main] = Object.entries(this.kinds).sort(([, a], [, b]) => b - a);
    this.main = main && main[1] > 0 ? main[0] : null;
    const length = this.lengths[this.main];
    this.p99 = length?.p99 || null;
    this.usual = length?.usual ?? null;
    const usual = upperBound(this.usual?.p99_seconds);
    const factor = usual > 0 && length.many ? this.p99 / usual : 0;
    this.factor = factor >= UNUSUAL_FACTOR ? factor : null; // of p99 and what is usual
    this.excess = this.before === null ? 0 : this.waiting - this.before;
    // Who never waited before may be new: of that one nobody knows what is usual.
    const least = Math.max(TROUBLE_THREADS, SIGMAS * Math.sqrt(this.variance));
    this.changed = this.before > 0 && this.excess >= least && this.waiting >= TROUBLE_FACTOR * this.before;
    this.isTrouble = this.stuck > 0 || this.changed;
  }

  // Its stalls of this kind; where it waits for a CPU, these may be for something else.
  stallsFor(kind) {
    return this.stalls.filter((stall) => (stall.for ?? stall.reason) === kind);
  }

  // Whether a sentence about what it waits for is about trouble.
  isTroubleFor(kind) {
    return this.changed || this.stallsFor(kind).length > 0;
  }

  // Whom or what it waits for most, of its main kind: {text, share, isVague}; null: nobody knows.
  // `isVague`: the text names nobody.
  get culprit() {
    if (this.main === null) return null;
    const whole = this.kinds[this.main];
    const of = (text, waiting) => ({ text, share: Math.min(1, waiting / whole) });
    if (this.main === "cpu") {
      if (this.throttled > whole / 2) return of("its own cpu.max", this.throttled);
      const [taker] = [...this.takers].sort((a, b) => b.waiting - a.waiting);
      if (!taker) return null;
      const name = taker.by_unit ?? taker.by_cgroup;
      return of(name.startsWith("(") ? visible(name) : otherName(name, this.name), taker.waiting);
    }
    const known = [...this.on.values()].filter((each) => each.kind === this.main);
    const [most] = known.sort((a, b) => b.waiting - a.waiting);
    if (!most) return null;
    if (most.waiting >= LEAST_NAMED * whole) return of(otherName(most.on, this.name), most.waiting);
    const isMany = sum(known.map((each) => each.waiting)) > whole / 2;
    return { text: isMany ? "many" : "unknown", share: 1, isVague: true };
  }
}

// How long the time before was that units are compared with, in words; null: too short, or nothing is
// kept of it.
export function timeBefore(changes) {
  const seconds = changes?.base.covered_seconds ?? 0;
  if (seconds < LEAST_BEFORE) return null;
  return seconds >= NEARLY_AN_HOUR ? "the hour before" : `the ${time(Math.round(seconds / 60) * 60)} before`;
}

// What units waited before, as /api/v1/changes says.
function addBefore(rows, changes) {
  if (timeBefore(changes) === null) return;
  for (const change of changes.rows) {
    const row = rows.get(change.unit);
    if (!row || ["unknown", "work", "timer"].includes(change.for)) continue;
    row.before = (row.before ?? 0) + change.before;
    row.variance += change.before_error ** 2;
  }
}

// The unit with ages of this moment, as stalls have them: those of `waits` are of the end of a window, so
// many seconds ago.
function agedBy(seconds, unit) {
  if (!(seconds > 0) || !unit.waits) return unit;
  const aged = (wait) =>
    wait.oldest_seconds > 0 ? { ...wait, oldest_seconds: wait.oldest_seconds + seconds } : wait;
  const byFor = Object.entries(unit.waits.for).map(([kind, wait]) => [kind, aged(wait)]);
  const sites = unit.waits.sites?.map(aged);
  return { ...unit, waits: { ...unit.waits, for: Object.fromEntries(byFor), ...(sites && { sites }) } };
}

// `units`, `stalls`, `changes`: answers of the daemon, the last two undefined where it refuses or is asked
// about the past.
export function unitRows(units, stalls, changes) {
  const rows = new Map();
  const age = stalls === undefined ? 0 : (units.waits_window?.age_seconds ?? 0);
  for (const unit of units.units.map((one) => agedBy(age, one))) {
    const name = unitNameOf(unit);
    if (!rows.has(name)) rows.set(name, new UnitRow(name, unit));
    rows.get(name).add(unit);
  }
  for (const stall of stalls?.stalls ?? []) {
    const row = rows.get(unitNameOf(stall));
    if (!row) continue;
    row.stuck += 1;
    row.stalls.push(stall);
    if (stall.duration_seconds <= row.oldest) continue;
    row.oldest = stall.duration_seconds;
    row.oldestEstimated = stall.estimated;
  }
  addBefore(rows, changes);
  for (const row of rows.values()) row.finish();
  return rows;
}

// Returns a function that says whether a cgroup is of the unit. The daemon's answer about a unit also has
// the cgroups below it, which may be units with rows of their own.
export function ownershipOf(name, rows) {
  const owners = new Map();
  for (const row of rows.values()) for (const cgroup of row.cgroups) owners.set(cgroup, row.name);
  return (path) => {
    const above = pathsAbove(path).filter((each) => each !== "/" || path === "/");
    const known = above.findLast((each) => owners.has(each));
    return known === undefined ? name !== NO_UNIT : owners.get(known) === name;
  };
}

// Steps are always those of the last ten minutes, also beside a range of them.
export function takeSteps(rows, units) {
  for (const row of rows.values()) row.steps = {};
  for (const unit of units.units) addSeries(rows.get(unitNameOf(unit))?.steps ?? {}, unit.steps);
}
