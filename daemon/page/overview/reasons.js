// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { age, amount, quantile, time } from "./numbers.js";
import { cell, element, fillRows, showError } from "./rows.js";
import { sparkline } from "./sparkline.js";

const CAUSES = {
  wakeup: "a CPU, after a wakeup",
  preempted: "a CPU, after a preemption",
  throttled: "a CPU, throttled by cpu.max",
};
const FIRST_BOUND = 2 ** -20; // the lowest bound of the histograms above 0

function rowsOf(total, withIdle) {
  const rows = [];
  for (const part of ["runqueue", "blocked"]) {
    for (const [name, wait] of Object.entries(total[part])) {
      if (wait.actionable || withIdle) rows.push({ part, name, wait });
    }
  }
  const rank = ({ wait }) => (wait.actionable ? 0 : 1);
  return rows.sort((a, b) => rank(a) - rank(b) || b.wait.waiting - a.wait.waiting);
}

function pointsOf(history, part, name) {
  const points = [];
  let at = -history.reduce((sum, step) => sum + step.seconds, 0);
  for (const step of history) {
    const begin = at;
    at += step.seconds;
    const wait = step[part][name];
    if (!wait || wait.p99_seconds === null) continue;
    const bound = ([lower, upper]) => Math.max(upper ?? lower, FIRST_BOUND);
    points.push({ begin, end: at, p50: bound(wait.p50_seconds), p99: bound(wait.p99_seconds) });
  }
  return points;
}

// The table of waits: of all units, or of the selected one.
export class ReasonTable {
  constructor() {
    this.body = document.querySelector("#reasons tbody");
    this.kept = document.getElementById("kept");
    this.chosen = document.getElementById("chosen");
    this.all = document.getElementById("all");
  }

  show({ value, error }, chosen, withIdle) {
    showError("reasons", error);
    this.chosen.textContent = chosen === "" ? "all units" : visible(chosen);
    this.all.hidden = chosen === "";
    if (value === undefined) {
      this.body.replaceChildren();
      return;
    }
    this.kept.textContent = time(Math.round(value.kept_seconds));
    fillRows(this.body, rowsOf(value.total, withIdle), {
      key: ({ part, name }) => `${part} ${name}`,
      make: ({ part, name }) =>
        element("th", { scope: "row" }, part === "runqueue" ? (CAUSES[name] ?? name) : name),
      cells: (row) => this.cells(row, value),
    });
  }

  cells({ part, name, wait }, value) {
    const points = pointsOf(value.history, part, name);
    const picture = sparkline(points, -value.kept_seconds, 0);
    const ended = value.window_seconds > 0 ? wait.ended / value.window_seconds : 0;
    const idle = wait.actionable ? [] : [" ", element("small", {}, "idle")];
    return [
      cell("", amount(wait.waiting), ...idle),
      cell("wide", amount(ended)),
      cell("wide", quantile(wait.p50_seconds)),
      cell("wide", quantile(wait.p90_seconds)),
      cell("", quantile(wait.p99_seconds)),
      cell("wide", wait.threads > 0 && wait.oldest_seconds ? age(wait.oldest_seconds, wait.oldest_estimated) : "–"),
      cell(part, picture),
    ];
  }
}
