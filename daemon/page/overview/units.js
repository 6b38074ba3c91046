// SPDX-License-Identifier: Apache-2.0
import { isAtOrBelow, visible } from "../script/names.js";
import { amount, quantile } from "./numbers.js";
import { cell, element, fillRows, showError } from "./rows.js";

export function runqueueOf(unit) {
  return Object.values(unit.runqueue).reduce((sum, wait) => sum + wait.waiting, 0);
}

// The largest actionable wait: [name, wait]; undefined: none.
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

// The wait as a part of the longest one, for a CPU and blocked.
function bar(unit, most) {
  const whole = element("div", { className: "bar", ariaHidden: "true" });
  const forCpu = runqueueOf(unit);
  const parts = [["runqueue", forCpu], ["blocked", unit.actionable - forCpu]];
  for (const [className, part] of parts) {
    const piece = element("div", { className });
    piece.style.width = `${(100 * Math.max(part, 0)) / most}%`;
    whole.append(piece);
  }
  return whole;
}

function flameAddress(cgroup, from, to) {
  return "flame?" + new URLSearchParams({ from, to, cgroup });
}

// The table of units. A click on one calls `onChoose(cgroup)`.
export class UnitTable {
  constructor(onChoose) {
    this.body = document.querySelector("#units tbody");
    this.idleHeading = document.querySelector("#units th.idle");
    this.more = document.getElementById("more");
    this.onChoose = onChoose;
  }

  show({ value, error }, chosen, withIdle) {
    showError("units", error);
    if (value === undefined) {
      this.body.replaceChildren();
      this.more.hidden = true;
      return;
    }
    const { units, taken } = value;
    const to = taken;
    const from = new Date(Date.parse(taken) - value.window_seconds * 1000).toISOString();
    const most = Math.max(...units.map((unit) => unit.actionable), 1e-9);
    this.idleHeading.hidden = !withIdle;
    fillRows(this.body, units, {
      key: (unit) => unit.cgroup,
      make: (unit) => heading(unit, this.onChoose),
      cells: (unit) => this.cells(unit, { most, from, to, withIdle }),
    });
    for (const row of this.body.rows) {
      const isChosen = chosen !== "" && isCgroup(row.dataset.key, chosen);
      row.classList.toggle("chosen", isChosen);
      row.querySelector("button").setAttribute("aria-pressed", String(isChosen));
    }
    this.more.hidden = units.length === value.matching;
    this.more.textContent = `Show all ${value.matching}`;
  }

  cells(unit, { most, from, to, withIdle }) {
    const main = mostly(unit);
    const stacks = element("a", { href: flameAddress(unit.cgroup, from, to) }, "flame graph");
    stacks.setAttribute("aria-label", `Flame graph of ${nameOf(unit)}`);
    const idle = cell("idle", amount(unit.idle));
    idle.hidden = !withIdle;
    return [
      cell("", amount(unit.actionable), bar(unit, most)),
      cell("wide", amount(runqueueOf(unit))),
      cell("wide", amount(unit.running)),
      cell("", main ? `${main[0]}, ${quantile(main[1].p99_seconds)}` : "–"),
      idle,
      cell("wide", stacks),
    ];
  }
}
