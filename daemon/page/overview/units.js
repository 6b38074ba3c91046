// SPDX-License-Identifier: Apache-2.0
import { isAtOrBelow, visible } from "../script/names.js";
import { amount, quantile } from "./numbers.js";
import { estimate, mostlyFor, waitingFor } from "./purposes.js";
import { cell, element, fillRows, showError } from "./rows.js";

export function runqueueOf(unit) {
  return Object.values(unit.runqueue).reduce((sum, wait) => sum + wait.waiting, 0);
}

// Where nobody knows what waits are for, the largest wait by reason: [name, wait]; undefined: none.
function mostly(unit) {
  const waits = [...Object.entries(unit.blocked), ...Object.entries(unit.runqueue)];
  return waits
    .filter(([, wait]) => wait.actionable && wait.waiting > 0)
    .sort(([, a], [, b]) => b.waiting - a.waiting)[0];
}

// A cgroup whose name is not text has its id after "//".
function nameOf(unit) {
  const [path] = unit.cgroup.split("//");
  const last = path.slice(path.lastIndexOf("/") + 1);
  return visible(unit.unit ?? (last || unit.cgroup));
}

// Without the cgroups below it.
function isCgroup(path, wanted) {
  const above = path.slice(0, path.lastIndexOf("/"));
  return isAtOrBelow(path, wanted) && (above === "" || !isAtOrBelow(above, wanted));
}

function heading(unit, onChoose) {
  const button = element("button", { type: "button" }, nameOf(unit));
  button.addEventListener("click", () => onChoose(unit.cgroup));
  const th = element("th", { scope: "row" }, button);
  if (nameOf(unit) !== visible(unit.cgroup)) {
    th.append(element("small", {}, visible(unit.cgroup)));
  }
  return th;
}

// Threads that waited: {waiting, error}. For a CPU counts, unless something else is wanted.
function unitWaits(unit, wanted) {
  const known = waitingFor(unit.waits, wanted);
  if (!known) return { waiting: unit.actionable, error: 0 };
  if (wanted !== "") return known;
  return { waiting: known.waiting + runqueueOf(unit), error: known.error };
}

// The wait as a part of the longest one, for a CPU and blocked.
function bar(unit, wanted, most) {
  const whole = element("div", { className: "bar", ariaHidden: "true" });
  const forCpu = wanted === "" ? runqueueOf(unit) : 0;
  const parts = [["runqueue", forCpu], ["blocked", unitWaits(unit, wanted).waiting - forCpu]];
  for (const [className, part] of parts) {
    const piece = element("div", { className });
    piece.style.width = `${(100 * Math.max(part, 0)) / most}%`;
    whole.append(piece);
  }
  return whole;
}

function flameAddress(cgroup, { from, to, wanted }) {
  const parameters = new URLSearchParams({ from, to, cgroup });
  if (wanted !== "") parameters.set("for", wanted);
  return "flame?" + parameters;
}

// The table of units. A click on one calls `onChoose(cgroup)`.
export class UnitTable {
  constructor(onChoose) {
    this.body = document.querySelector("#units tbody");
    this.more = document.getElementById("more");
    this.onChoose = onChoose;
  }

  show({ value, error }, chosen, wanted) {
    showError("units", error);
    if (value === undefined) {
      this.body.replaceChildren();
      this.more.hidden = true;
      return;
    }
    const { units, taken } = value;
    const to = taken;
    const from = new Date(Date.parse(taken) - value.window_seconds * 1000).toISOString();
    const most = Math.max(...units.map((unit) => unitWaits(unit, wanted).waiting), 1e-9);
    fillRows(this.body, units, {
      key: (unit) => unit.cgroup,
      make: (unit) => heading(unit, this.onChoose),
      cells: (unit) => this.cells(unit, { most, from, to, wanted }),
    });
    for (const row of this.body.rows) {
      const isChosen = chosen !== "" && isCgroup(row.dataset.key, chosen);
      row.classList.toggle("chosen", isChosen);
      row.querySelector("button").setAttribute("aria-pressed", String(isChosen));
    }
    this.more.hidden = units.length === value.matching;
    this.more.textContent = `Show all ${value.matching}`;
  }

  cells(unit, { most, from, to, wanted }) {
    const main = mostly(unit);
    const byReason = main ? `${main[0]}, ${quantile(main[1].p99_seconds)}` : "–";
    const href = flameAddress(unit.cgroup, { from, to, wanted });
    const stacks = element("a", { href }, "flame graph");
    stacks.setAttribute("aria-label", `Flame graph of ${nameOf(unit)}`);
    return [
      cell("", estimate(unitWaits(unit, wanted)), bar(unit, wanted, most)),
      cell("wide", amount(runqueueOf(unit))),
      cell("wide", amount(unit.running)),
      cell("", unit.waits ? mostlyFor(unit.waits, wanted) : byReason),
      cell("wide", unit.waits ? amount(unit.waits.unknown) : "–"),
      cell("wide quiet", amount(unit.waits?.idle ?? unit.idle)),
      cell("wide", stacks),
    ];
  }
}
