// SPDX-License-Identifier: Apache-2.0
import { cgroupOf, rangeOf } from "./address.js";
import { FlameChart } from "./chart.js";
import { Filters } from "./filters.js";
import { boundOf, share } from "./format.js";
import { KeyboardTour } from "./keyboard.js";
import { caveatOf, originOf, showLegend, showTotals } from "./legend.js";
import { tendMenus } from "./menus.js";
import { PlaceList } from "./places.js";
import { Ranges } from "./ranges.js";
import { amountOf, mark, matcher } from "./search.js";
import { Selection } from "./selection.js";
import { embedded, keptSnapshots, stacks } from "./source.js";
import { StackTable } from "./table.js";
import { Tooltip } from "./tooltip.js";
import { admitted, sumOf } from "./totals.js";
import { itemsOf, treeOf } from "./tree.js";

const NO_SNAPSHOT = "No snapshot is kept yet; the first comes after snapshots.interval.";
const NOT_KEPT =
  "No snapshot is kept of the time in the address; the sliders show what is kept.";
const NOTHING_EARLIER = "There is no earlier snapshot to compare with; move the range to the right.";

// Connects the parts: data arrive in show(), and everything below follows from the form.
export class FlamePage {
  constructor(document) {
    const find = (id) => document.getElementById(id);
    this.elements = Object.fromEntries(
      ["message", "totals", "found", "origin", "legend", "search", "wakers", "kernel", "group", "width",
        "orientation", "refresh", "unzoom", "chart", "live", "showIdle"].map((id) => [id, find(id)]),
    );
    const form = find("controls");
    const tooltip = new Tooltip(find("tooltip"));
    this.table = null;
    this.zoomPath = []; // what is zoomed to stays so when something else changes
    this.filters = new Filters(form, () => this.redraw());
    this.ranges = new Ranges(form, () => this.load());
    this.chart = new FlameChart(this.elements.chart, tooltip, (node) => this.zoomed(node));
    this.places = new PlaceList(find("places"), find("places-title"), (name) => this.searchFor(name));
    this.selection = new Selection(find("selected"), find("selected-title"));
    tendMenus(form);
    this.tour = new KeyboardTour(this.chart, tooltip, find("details"), (node) => this.select(node));
    this.pending = new AbortController();
    this.address = location.search; // until it has been applied
    this.filters.chooseCgroup(cgroupOf(this.address));
    this.listen(form);
  }

  listen(form) {
    const { wakers, kernel, group, width, orientation, search, refresh, unzoom, showIdle } = this.elements;
    for (const control of [wakers, kernel, group, width, orientation]) {
      control.addEventListener("change", () => this.redraw());
    }
    search.addEventListener("input", () => this.find());
    refresh.addEventListener("click", () => this.start());
    unzoom.addEventListener("click", () => this.chart.zoomTo(this.chart.root));
    showIdle.addEventListener("click", () => {
      this.filters.showIdle();
      this.redraw();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("resize", () => this.resized());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select")) return;
      event.preventDefault();
      search.focus();
    });
  }

  // Runs at the start, and when newer data are requested.
  async start() {
    await this.attempt(async (signal) => {
      const answer = embedded();
      this.elements.live.hidden = answer !== null;
      if (answer !== null) {
        this.show(answer);
        return;
      }
      const snapshots = await keptSnapshots(signal);
      if (snapshots.length === 0) throw new Error(NO_SNAPSHOT);
      this.ranges.setSnapshots(snapshots);
      this.obeyAddress();
      await this.fetchStacks(signal);
    });
  }

  // Applies the address once: whoever moves a slider or refreshes wants something else.
  obeyAddress() {
    const query = this.address;
    this.address = "";
    const range = rangeOf(query);
    if (range !== null && !this.ranges.showTime(range)) throw new Error(NOT_KEPT);
  }

  load() {
    return this.attempt((signal) => this.fetchStacks(signal));
  }

  // Aborts any request in progress.
  async attempt(action) {
    this.pending.abort();
    const mine = new AbortController();
    this.pending = mine;
    this.elements.chart.setAttribute("aria-busy", "true");
    try {
      await action(mine.signal);
    } catch (error) {
      if (mine.signal.aborted) return;
      this.table = null;
      this.say(error.message);
    }
    this.elements.chart.removeAttribute("aria-busy");
  }

  async fetchStacks(signal) {
    const { shown, base, isComparing, normalize } = this.ranges;
    if (isComparing && shown.indexes.first === 0 && base.indexes.last === 0) {
      throw new Error(NOTHING_EARLIER);
    }
    const earlier = isComparing ? base.range : null;
    this.show(await stacks(shown.range, earlier, normalize.checked, signal));
  }

  show(answer) {
    this.table = new StackTable(answer);
    this.elements.origin.textContent = [originOf(answer), caveatOf(answer)]
      .filter((text) => text !== "")
      .join("; ");
    this.filters.fill(this.table);
    this.redraw();
  }

  // Shows a sentence in place of the picture.
  say(sentence, offerIdle = false) {
    this.chart.clear();
    this.elements.message.textContent = sentence;
    this.elements.showIdle.hidden = !offerIdle;
    this.selection.clear();
    if (this.table === null) {
      this.elements.totals.textContent = "";
      this.places.clear();
    }
    this.elements.found.textContent = "";
  }

  redraw() {
    const { table } = this;
    if (table === null) return;
    const { wakers, kernel, group, width, orientation, totals, legend } = this.elements;
    const { isDifference } = table;
    const rows = admitted(table, this.filters.filter);
    const shown = sumOf(table, rows);
    showTotals(totals, shown, sumOf(table, table.rows), isDifference);
    showLegend(legend, isDifference, wakers.checked);
    this.places.show(table, rows);
    width.disabled = !isDifference;
    const amount = isDifference ? width.value : "ns";
    if (shown[amount] === 0) {
      const withIdle = admitted(table, { ...this.filters.filter, idle: true });
      const hidden = sumOf(table, withIdle)[amount] > 0;
      this.say(this.nothingToShow(amount, hidden), hidden);
      return;
    }
    this.say("");
    this.amount = amount;
    const parts = { group: group.value, wakers: wakers.checked, kernel: kernel.checked };
    this.items = itemsOf(table, rows, parts);
    this.tree = treeOf(this.items, amount);
    this.tour.leave();
    const { zoomPath } = this;
    this.chart.draw(this.tree, { icicle: orientation.value === "icicle", isDifference });
    this.zoomed(this.chart.root);
    const zoomed = this.chart.nodeAt(zoomPath);
    if (zoomed.parent !== null) this.chart.zoomTo(zoomed);
    this.find();
  }

  nothingToShow(amount, hidden) {
    const { answer } = this.table;
    const bound = boundOf(amount === "ns" ? answer : answer.base, answer.strings);
    if (this.table.rows.length === 0) return `No wait was sampled in this range${bound}.`;
    const range = amount === "ns" ? "" : " in the earlier range";
    if (hidden) {
      return `No wait but idle waits was sampled${range} of those that the filters admit${bound}.`;
    }
    return `No wait that the filters admit was sampled${range}${bound}. Turn some of them off.`;
  }

  // Again: stops searching.
  searchFor(name) {
    const { search } = this.elements;
    const term = `/^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$/`;
    search.value = search.value === term ? "" : term;
    this.find();
  }

  find() {
    const { search, found } = this.elements;
    search.setCustomValidity("");
    found.textContent = "";
    if (!this.chart.root) return;
    try {
      const matches = matcher(search.value);
      mark(this.tree, matches);
      if (matches) {
        const amount = amountOf(this.items, matches, this.amount);
        found.textContent = `${share(amount, this.tree.value)} matches`;
      }
      this.chart.recolor();
    } catch (error) {
      search.setCustomValidity(error.message);
      found.textContent = error.message;
    }
  }

  zoomed(node) {
    this.zoomPath = this.chart.pathOf(node);
    this.elements.unzoom.disabled = node.parent === null;
    this.select(node);
  }

  select(node) {
    this.selection.show(node, { table: this.table, items: this.items, amount: this.amount });
  }

  resized() {
    window.clearTimeout(this.resizing);
    this.resizing = window.setTimeout(() => this.redraw(), 200);
  }
}
