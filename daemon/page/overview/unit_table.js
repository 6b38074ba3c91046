// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { byId, element, replaceLine, setText, showError } from "../shared/elements.js";
import { counted, threads } from "../shared/numbers.js";
import { TableRow } from "./unit_row.js";

const HEADS = [
  ["name", "Unit", "c-name"],
  ["waiting", "Waiting", "c-waiting number"],
  ["", "", "c-bar"],
  ["", "Last 10 min", "c-spark"],
  ["p99", "p99", "c-p99 number"],
  ["usual", "× usual", "c-usual number"],
  ["stuck", "Stuck now", "c-stuck"],
  ["", "Waits for", "c-on"],
  ["cpus", "CPUs", "c-cpus number"],
];
const CALM = 0.005; // threads, and CPUs; who waits less is summed up
const FEW = 16; // so many rows are shown of units that run

// The largest first.
const SORTS = {
  // Who has been stuck for longest may be the cause of the others.
  trouble: (row) => (row.stuck > 0 ? 1e9 + row.oldest : row.isTrouble ? 1e6 + row.excess : row.waiting),
  name: null,
  waiting: (row) => row.waiting,
  p99: (row) => (row.waiting >= CALM ? (row.p99 ?? 0) : -1),
  usual: (row) => (row.waiting >= CALM ? (row.factor ?? 0) : -1),
  stuck: (row) => row.stuck * 1e9 + row.oldest,
  cpus: (row) => row.running,
};

function sorted(rows, sort) {
  const by = SORTS[sort] ?? (sort === "name" ? null : SORTS.trouble);
  const byName = (a, b) => (a.name < b.name ? -1 : 1);
  return rows.sort((a, b) => (by === null ? byName(a, b) : by(b) - by(a) || byName(a, b)));
}

export class UnitTable {
  // `choose(name)`, `change(changes)`: of the address.
  constructor(address, { choose, change }) {
    this.address = address;
    this.choose = choose;
    this.change = change;
    this.list = byId("list");
    this.table = byId("units");
    this.body = this.table.tBodies[0];
    this.note = byId("list-note");
    this.rest = byId("list-rest");
    this.idle = byId("list-idle");
    this.known = new Map(); // TableRow by name
    this.order = []; // names
    this.chosen = "";
    this.heads = HEADS.map(([sort, text, kind]) => this.head(sort, text, kind));
    this.table.tHead.rows[0].append(...this.heads);
  }

  head(sort, text, kind) {
    if (sort === "")
      return element(text === "" ? "td" : "th", { scope: text === "" ? null : "col", class: kind }, text);
    const press = () => this.change({ sort: this.address.state.sort === sort ? "trouble" : sort });
    return element(
      "th",
      { scope: "col", class: kind, "data-sort": sort },
      element("button", { type: "button", click: press }, text),
    );
  }

  hide() {
    this.table.hidden = true;
  }

  // `rows`: Map; `matching`: how many units there are, of which `rows` may be the first ones.
  show(rows, { total, count, chosen, before, matching, stalls, error }) {
    byId("bones").hidden = true;
    showError(byId("list-error"), error);
    this.table.hidden = error !== undefined;
    if (error !== undefined) return;
    const { sort, find, all } = this.address.state;
    this.chosen = chosen;
    const wanted = find.toLowerCase();
    const found = sorted(
      [...rows.values()].filter((row) => row.name.toLowerCase().includes(wanted)),
      sort,
    );
    const isCalm = (row, i) =>
      row.waiting < CALM && !row.isTrouble && row.name !== chosen && (i >= FEW || row.running < CALM);
    const shown = all !== "" || wanted !== "" ? found : found.filter((row, i) => !isCalm(row, i));
    for (const head of this.heads) {
      if (!head.dataset.sort) continue;
      if (head.dataset.sort === sort)
        head.setAttribute("aria-sort", sort === "name" ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    const most = Math.max(...shown.map((row) => row.waiting), 0.5);
    for (const row of shown)
      this.rowOf(row.name).show(row, {
        most,
        count,
        before,
        isChosen: row.name === chosen,
        href: this.address.link({ unit: row.name }),
      });
    this.arrange(
      shown.map((row) => row.name),
      `${sort} ${find} ${all}`,
    );
    setText(this.note, `${counted(Math.max(rows.size, matching), "unit")}, ${this.sortWords(sort)}`);
    this.showRest(found.length - shown.length, matching - rows.size, rows);
    this.showIdle(total, stalls);
  }

  rowOf(name) {
    if (!this.known.has(name)) this.known.set(name, new TableRow(name, this.choose));
    return this.known.get(name);
  }

  sortWords(sort) {
    const [, text] = HEADS.find(([name]) => name === sort) ?? [];
    return text ? `by ${text === "p99" || text === "CPUs" ? text : text.toLowerCase()}` : "trouble first";
  }

  // Nothing moves below the pointer or the focus: then rows keep their order, and new ones come last.
  // `key`: what somebody asked for; if that changes, so does the order.
  arrange(names, key) {
    const isUsed = this.body.matches(":hover") || this.body.contains(document.activeElement);
    let order = names;
    if (isUsed && key === this.key) {
      const wanted = new Set(names);
      const had = new Set(this.order);
      order = [...this.order.filter((name) => wanted.has(name)), ...names.filter((name) => !had.has(name))];
    }
    this.key = key;
    this.order = order;
    const same =
      this.body.rows.length === order.length &&
      order.every((name, i) => this.body.rows[i].dataset.unit === name);
    if (same) return;
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    this.body.replaceChildren(...order.map((name) => this.known.get(name).element));
    if (focused && this.body.contains(focused)) focused.focus({ preventScroll: true });
    const kept = new Set(order);
    for (const name of this.known.keys()) if (!kept.has(name)) this.known.delete(name);
  }

  showRest(calm, notFetched, rows) {
    const { all } = this.address.state;
    const button = (text, changes) =>
      element("button", { type: "button", class: "plain", click: () => this.change(changes) }, text);
    const parts = [];
    if (calm > 0) parts.push(`${counted(calm, "unit")} more hardly wait${calm === 1 ? "s" : ""}. `);
    if (notFetched > 0)
      parts.push(`${counted(notFetched, "unit")} more wait${notFetched === 1 ? "s" : ""} less than these. `);
    if (parts.length > 0) parts.push(button("Show all", { all: "1" }));
    else if (all !== "" && rows.size > FEW) parts.push(button("Show only those that wait", { all: "" }));
    replaceLine(this.rest, parts, `units ${all}`);
  }

  // What is in no row: it is never passed over as nothing.
  showIdle({ waits }, { value: stuck, error }) {
    const more = [];
    if (error !== undefined) more.push(`What is stuck is not told: ${visible(error)}.`);
    if (stuck?.beyond_limit > 0)
      more.push(`${counted(stuck.beyond_limit, "thread")} more are stuck than the daemon keeps.`);
    if (stuck?.unusual?.length > 0) {
      more.push(
        `${counted(stuck.unusual.length, "wait")} unusually long, and nobody can tell what for: /api/v1/stalls.`,
      );
    }
    const rest = more.length > 0 ? ` ${more.join(" ")}` : "";
    if (!waits) {
      setText(this.idle, `What threads wait for is not known, so waits are shown by reason.${rest}`);
      return;
    }
    const of = (kind) => threads(waits.for[kind]?.waiting ?? 0);
    const children = waits.children >= 0.05 ? `, ${threads(waits.children)} for their own children` : "";
    const unknown = waits.unknown >= 0.05 ? `; of ${threads(waits.unknown)} nobody can tell` : "";
    setText(
      this.idle,
      `Left out as idle: ${of("work")} threads wait for work, ${of("timer")} for a timer${children}${unknown}.${rest}`,
    );
  }

  // The name above (-1) or below (1) the chosen one.
  neighbour(by) {
    const at = this.order.indexOf(this.chosen);
    const next = at < 0 ? 0 : Math.max(0, Math.min(this.order.length - 1, at + by));
    return this.order[next];
  }

  scrollTo(name) {
    this.known.get(name)?.element.scrollIntoView({ block: "nearest" });
  }
}
