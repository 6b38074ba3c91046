// SPDX-License-Identifier: Apache-2.0
// Of a time that only snapshots have: an answer like that of /api/v1/units, made from one of
// /api/v1/changes.
import { clock, counted, time } from "../shared/numbers.js";

const CPU_KINDS = { cpu: "wakeup", throttled: "throttled" };
const NEARLY_ALL = 0.9;

function emptyUnit({ unit, cgroup }, tellsSites) {
  const waits = { for: {}, children: 0, unknown: 0, error: 0 };
  if (tellsSites) waits.sites = [];
  return { unit, cgroup, running: null, runqueue: {}, waits, largest: 0 };
}

function addRow(unit, { for: kind, site, cgroup, after }) {
  if (after > unit.largest) Object.assign(unit, { largest: after, cgroup });
  if (kind in CPU_KINDS) {
    const had = unit.runqueue[CPU_KINDS[kind]]?.waiting ?? 0;
    unit.runqueue[CPU_KINDS[kind]] = { waiting: had + after, p99_seconds: null };
    return;
  }
  const { waits } = unit;
  const had = waits.for[kind]?.waiting ?? 0;
  waits.for[kind] = { waiting: had + after, lasting: 0, oldest_seconds: null };
  if (kind === "unknown") waits.unknown += after;
  else waits.sites?.push({ for: kind, site, waiting: after, lasting: 0, oldest_seconds: null });
}

// What differs from what somebody may expect: sentences.
function notesOf({
  begin,
  end,
  snapshots,
  unreadable,
  cpu_covered_seconds,
  covered_seconds,
  matching,
  rows,
}) {
  const [from, to] = [Date.parse(begin), Date.parse(end)];
  const notes = [
    `The numbers are of whole snapshots, ${clock(from)} to ${clock(to)}: ${counted(snapshots, "snapshot")}.`,
  ];
  const gap = (to - from) / 1000 - covered_seconds;
  if (gap > 1) notes.push(`Of ${time(Math.round(gap))} of it there is none.`);
  if (unreadable > 0) notes.push(`${counted(unreadable, "file")} of snapshots could not be read.`);
  if (cpu_covered_seconds < NEARLY_ALL * covered_seconds) {
    const known =
      cpu_covered_seconds > 0 ? `of ${time(Math.round(cpu_covered_seconds))} of it` : "of the last hour";
    notes.push(`Waits for a CPU are known ${known} alone.`);
  }
  if (matching > rows.length)
    notes.push(`The smallest ${counted(matching - rows.length, "wait")} are left out.`);
  return notes;
}

// `tellsSites`: whether this client may see where threads wait.
export function unitsOfChanges(changes, to, tellsSites) {
  const units = new Map();
  for (const row of changes.rows) {
    if (!(row.after > 0)) continue;
    if (!units.has(row.unit)) units.set(row.unit, emptyUnit(row, tellsSites));
    addRow(units.get(row.unit), row);
  }
  const list = [...units.values()];
  const { work, timer, children } = changes.left_out;
  const unknown = list.reduce((all, unit) => all + unit.waits.unknown, 0);
  const waits = {
    for: { work: { waiting: work.after }, timer: { waiting: timer.after } },
    children: children.after,
    unknown,
  };
  return {
    taken: new Date(to).toISOString(),
    window_seconds: changes.covered_seconds,
    kept_seconds: 0,
    matching: list.length,
    units: list,
    total: { waits },
    notes: notesOf(changes),
  };
}
