// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { age, amount } from "./numbers.js";
import { cell, element, fillRows } from "./rows.js";

// In the order of what one may want to do something about.
const WORDS = {
  lock: "a lock",
  answer: "an answer",
  storage: "storage",
  memory: "memory",
  stopped: "nothing, stopped",
  unknown: "what nobody can tell",
  work: "work",
  timer: "a timer",
};
const IDLE = new Set(["work", "timer"]);
const MOST_SITES = 3;

// "3.1 ± 0.2", the error only where it shows.
export function estimate({ waiting, error }) {
  return error >= waiting / 50 ? `${amount(waiting)} ± ${amount(error)}` : amount(waiting);
}

// "lock, postgresql-heavyweight-lock": where most of this goes; `wanted`: only what is for this.
export function mostlyFor(waits, wanted) {
  if (!waits) return "–";
  const [site] = (waits.sites ?? []).filter((each) => wanted === "" || each.for === wanted);
  if (site && (wanted !== "" || waits.actionable + waits.children > 0)) {
    return visible([site.for, site.site ?? "no rule"].join(", "));
  }
  const [name] = Object.entries(waits.for)
    .filter(([name]) => !IDLE.has(name) && name !== "unknown")
    .sort(([, a], [, b]) => b.waiting - a.waiting)
    .map(([name]) => name);
  return name ?? "–";
}

// "8, 25 s": so many wait there now, the longest for that long; "~" before an estimate.
export function longestOf(waits, wanted) {
  const [site] = (waits?.sites ?? []).filter(
    (each) => wanted === "" || each.for === wanted,
  );
  if (!site || site.lasting === 0 || (wanted === "" && waits.actionable + waits.children <= 0)) return "–";
  if (site.oldest_seconds === null) return `${site.lasting}`;
  return `${site.lasting}, ${age(site.oldest_seconds, site.oldest_estimated)}`;
}

// Threads that wait for what matters, or for `wanted`, on average. null: nobody knows.
export function waitingFor(waits, wanted) {
  if (!waits) return null;
  if (wanted === "") return { waiting: waits.actionable, error: waits.error };
  return waits.for[wanted] ?? { waiting: 0, error: 0 };
}

// What all units, or the selected one, wait for.
export class PurposeTable {
  constructor() {
    this.body = document.querySelector("#purposes tbody");
  }

  show({ value }) {
    const waits = value?.total.waits;
    const names = Object.keys(WORDS).filter((name) => waits?.for[name]);
    fillRows(this.body, names, {
      key: (name) => name,
      make: (name) => element("th", { scope: "row" }, WORDS[name]),
      cells: (name) => this.cells(name, waits),
    });
    for (const row of this.body.rows) row.classList.toggle("quiet", IDLE.has(row.dataset.key));
  }

  cells(name, waits) {
    const sites = (waits.sites ?? []).filter((site) => site.for === name);
    const named = sites.slice(0, MOST_SITES).map((site) => site.site ?? "no rule");
    return [
      cell("", estimate(waits.for[name])),
      cell("", IDLE.has(name) ? "" : visible(named.join(", ")) || "–"),
      cell("wide", longestOf(waits, name)),
    ];
  }
}
