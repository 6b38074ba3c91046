// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { amount, time } from "./numbers.js";
import { cell, element, fillRows, showError } from "./rows.js";

function sum(seconds) {
  return Object.values(seconds).reduce((all, one) => all + one, 0);
}

// The processes that waited most between the last two walks over all threads.
export class ProcessTable {
  constructor() {
    this.body = document.querySelector("#processes tbody");
    this.note = document.getElementById("processes-note");
  }

  show({ value, error }) {
    showError("processes", error);
    const interval = value?.interval_seconds ?? null;
    this.note.textContent =
      interval === null ? "" : `Threads waiting on average in the last ${time(interval)}.`;
    const waiting = (value?.processes ?? []).filter((row) => row.actionable_seconds > 0);
    fillRows(this.body, interval === null ? [] : waiting, {
      key: (row) => `${row.pid} ${row.start_time} ${row.comm}`,
      make: (row) =>
        element("th", { scope: "row" }, `${visible(row.comm) || "[no name]"} [${row.pid}]`),
      cells: (row) => [
        cell("", amount(row.actionable_seconds / interval)),
        cell("wide", amount(sum(row.runqueue_seconds) / interval)),
        cell("wide", amount(row.running_seconds / interval)),
        cell("", row.ended > 0 ? time(row.p99_seconds) : "–"),
        cell("wide", this.oldest(row)),
        cell("wide", visible(row.unit ?? row.cgroup)),
      ],
    });
  }

  oldest({ oldest_blocked: oldest }) {
    return oldest ? `${oldest.reason}, ${time(oldest.seconds)}` : "–";
  }
}
