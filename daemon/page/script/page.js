// SPDX-License-Identifier: Apache-2.0
import { Hint } from "../shared/elements.js";
import { cgroupOf } from "./address.js";
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
import { obeyControls, queryOf, rangesIn } from "./state.js";
import { StackTable } from "./table.js";
import { Timeline } from "./timeline.js";
import { Tooltip } from "./tooltip.js";
import { admitted, sumOf } from "./totals.js";
import { itemsOf, treeOf } from "./tree.js";

const NO_SNAPSHOT = "No snapshot is kept yet; the first comes after snapshots.interval.";
const NOT_KEPT = {
  range: "No snapshot is kept of the time in the address; the strip shows what is kept.",
  base: "No snapshot is kept of the time to compare with; the strip shows what is kept.",
};
const NOTHING_EARLIER =
  "There is no earlier snapshot to compare with: move the range to the right, or drag a baseline.";

// Connects the parts: data arrive in show(), and everything below follows from the form.
export class FlamePage {
  constructor(document) {
    const find = (id) => document.getElementById(id);
    this.find = find;
    this.elements = Object.fromEntries(
      ["message", "totals", "found", "origin", "legend", "search", "wakers", "kernel", "group", "width",
        "orientation", "refresh", "unzoom", "chart", "live", "showIdle"].map((id) => [id, find(id)]),
    );
    const form = find("controls");
    const tooltip = new Tooltip(find("tooltip"));
    this.table = null;
    this.zoomPath = []; // what is zoomed to stays so when something else changes
    this.filters = new Filters(form, () => this.changed());
    this.ranges = new Ranges(find("live"), () => this.timeline.show(), () => this.load());
    this.timeline = new Timeline(document, new Hint(find("tooltip")), this.ranges);
    this.chart = new FlameChart(this.elements.chart, tooltip, (node) => this.zoomed(node));
    this.places = new PlaceList(find("places"), find("places-title"), (name) => this.searchFor(name));
    this.selection = new Selection(find("selected"), find("selected-title"));
    tendMenus(document);
    this.tour = new KeyboardTour(this.chart, tooltip, find("details"), (node) => this.select(node));
    this.pending = new AbortController();
    this.address = location.search; // until it has been applied
    this.filters.chooseCgroup(cgroupOf(this.address));
    obeyControls(this.address, find);
    this.listen(form);
  }

  listen(form) {
    const { wakers, kernel, group, width, orientation, search, refresh, unzoom, showIdle } = this.elements;
    for (const control of [wakers, kernel, group, width, orientation]) {
      control.addEventListener("change", () => this.changed());
    }
    search.addEventListener("input", () => {
      this.search();
      this.remember(true);
    });
    refresh.addEventListener("click", () => this.start());
    unzoom.addEventListener("click", () => this.chart.zoomTo(this.chart.root));
    showIdle.addEventListener("click", () => {
      this.filters.showIdle();
      this.changed();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    window.addEventListener("resize", () => this.resized());
    window.addEventListener("popstate", () => this.returned());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.target.matches("input, select")) return;
      event.preventDefault();
      search.focus();
    });
  }

  // Somebody chose what is shown of the data.
  changed() {
    this.remember();
    this.redraw();
    const { cgroup } = this.filters.filter;
    if (cgroup !== this.timelineOf) this.askTimeline();
  }

  // Going back undoes a choice; letters that are typed replace each other.
  remember(replaces = false) {
    const isLive = !this.elements.live.hidden && this.ranges.snapshots.length > 0;
    const path = location.pathname + queryOf(this.find, isLive ? this.ranges : null);
    if (path === location.pathname + location.search) return;
    if (location.protocol === "file:") return; // whose address cannot be changed
    if (replaces) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
  }

  // Somebody went back or forward.
  returned() {
    this.address = location.search;
    this.filters.chooseCgroup(cgroupOf(this.address));
    obeyControls(this.address, this.find);
    this.start();
  }

  askTimeline() {
    if (this.elements.live.hidden) return;
    this.timelineOf = this.filters.filter.cgroup;
    this.timeline.ask(this.timelineOf);
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
      this.askTimeline();
      this.obeyAddress();
      await this.fetchStacks(signal);
    });
  }

  // Applies the address once: whoever moves a range or refreshes wants something else.
  obeyAddress() {
    const query = this.address;
    this.address = null;
    try {
      const missing = query === null ? "" : this.ranges.obey(rangesIn(query));
      if (missing !== "") throw new Error(NOT_KEPT[missing]);
    } finally {
      this.timeline.show();
    }
  }

  load() {
    if (this.ranges.snapshots.length === 0) return this.start();
    this.remember();
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
    const { shown, base, isComparing, isBaseMissing, normalize } = this.ranges;
    if (isComparing && isBaseMissing) throw new Error(NOTHING_EARLIER);
    const earlier = isComparing ? base.range : null;
    this.show(await stacks(shown.range, earlier, normalize.checked, signal));
  }

  show(answer) {
    this.table = new StackTable(answer);
    const origin = this.elements.live.hidden ? originOf(answer) : ""; // the ranges say it
    this.elements.origin.textContent = [origin, caveatOf(answer)]
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
    this.search();
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
    this.search();
    this.remember(true);
  }

  search() {
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
