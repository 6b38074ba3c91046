// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { age, amount, time } from "./numbers.js";
import { estimate, longestOf, mostlyFor, waitingFor } from "./purposes.js";
import { cell, element, fillRows, showError } from "./rows.js";

function sum(seconds) {
  return Object.values(seconds).reduce((all, one) => all + one, 0);
}

// Where nobody knows what waits are for.
function oldestByReason({ oldest_blocked: oldest }) {
  return oldest ? `${oldest.reason}, ${age(oldest.seconds, oldest.estimated)}` : "–";
}

// As of units.
function processWaits(row, wanted, interval) {
  const known = waitingFor(row.waits, wanted);
  if (!known) return { waiting: row.actionable_seconds / interval, error: 0 };
  if (wanted !== "") return known;
  return { waiting: known.waiting + sum(row.runqueue_seconds) / interval, error: known.error };
}

// Those that have ended are one row for all of a name and a unit.
function processName({ comm, pid, ended_processes: ended = 0 }) {
  return `${visible(comm) || "[no name]"} [${ended > 0 ? `${ended} ended` : pid}]`;
}

// The processes that waited most between the last two walks over all threads.
export class ProcessTable {
  constructor() {
    this.body = document.querySelector("#processes tbody");
    this.note = document.getElementById("processes-note");
  }

  show({ value, error }, wanted) {
    showError("processes", error);
    const interval = value?.interval_seconds ?? null;
    this.note.textContent =
      interval === null ? "" : `Threads waiting on average in the last ${time(interval)}.`;
    const of = (row) => processWaits(row, wanted, interval);
    const waiting = (value?.processes ?? []).filter((row) => of(row).waiting > 0);
    fillRows(this.body, interval === null ? [] : waiting, {
      key: (row) =>
        row.ended_processes > 0
          ? `${row.ended_processes} ended ${row.comm} ${row.cgroup}`
          : `${row.pid} ${row.start_time} ${row.comm}`,
      make: (row) => element("th", { scope: "row" }, processName(row)),
      cells: (row) => [
        cell("", estimate(of(row))),
        cell("wide", amount(sum(row.runqueue_seconds) / interval)),
        cell("wide", amount(row.running_seconds / interval)),
        cell("", row.waits ? mostlyFor(row.waits, wanted) : oldestByReason(row)),
        cell("wide", row.waits ? longestOf(row.waits, wanted) : "–"),
        cell("wide", visible(row.unit ?? row.cgroup)),
      ],
    });
  }
}
