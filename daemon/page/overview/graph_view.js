// SPDX-License-Identifier: Apache-2.0
import { byId, element, replaceLine, setText, showError } from "../shared/elements.js";
import { threads } from "../shared/numbers.js";
import { layOut } from "./graph_layout.js";
import { drawGraph, sizesFor } from "./graph_picture.js";

const LEAST_EDGE = 0.01; // threads
const FEW_EDGES = 45; // more are drawn on request
const CAUSE = 0.3; // threads that wait for it; it waits for others less than half as much
const LARGE_PART = 0.25; // of the most that anybody is waited for

// Who waits for whom, from left to right.
export class GraphView {
  constructor(address, hint, { choose, change }) {
    this.address = address;
    this.hint = hint;
    this.choose = choose;
    this.change = change;
    this.box = byId("graph");
    this.note = byId("list-note");
    this.rest = byId("list-rest");
    this.drawn = "";
    this.last = null;
    new ResizeObserver(() => {
      if (this.last && !this.box.hidden && this.width !== this.drawnWidth) this.show(...this.last);
    }).observe(byId("list"));
  }

  get width() {
    const style = getComputedStyle(this.box);
    return this.box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  }

  hide() {
    this.box.hidden = true;
  }

  // `graph`: as of /api/v1/why; `rows`: of the units.
  show(graph, { rows, chosen, error }) {
    this.last = [graph, { rows, chosen, error }];
    byId("bones").hidden = true;
    showError(byId("list-error"), error);
    this.box.hidden = error !== undefined;
    if (error !== undefined) return;
    const all = graph.edges.filter((edge) => edge.threads >= LEAST_EDGE && edge.from !== edge.to);
    const isAll = this.address.state.all !== "" || all.length <= FEW_EDGES;
    const edges = isAll ? all : all.slice(0, FEW_EDGES);
    const nodes = this.nodesOf(edges, graph, rows);
    const ends = [...nodes.values()].some((node) => node.isEnd) ? "; red: where it ends" : "";
    setText(this.note, `${nodes.size} boxes; numbers are threads that wait${ends}`);
    this.showRest(all.length - edges.length, graph);
    // Nothing moves below the pointer or the focus.
    const isUsed = this.box.matches(":hover") || this.box.contains(document.activeElement);
    const asked = `${chosen} ${this.address.state.all}`;
    const key = `${this.width} ${asked} ${edges.map((edge) => `${edge.from}>${edge.to} ${edge.for} ${threads(edge.threads)}`).join("|")}`;
    if (key === this.drawn || (isUsed && asked === this.asked && this.width === this.drawnWidth)) return;
    this.draw(edges, nodes, chosen);
    Object.assign(this, { drawn: key, asked, drawnWidth: this.width });
  }

  draw(edges, nodes, chosen) {
    if (edges.length === 0) {
      this.box.replaceChildren(
        element("p", { class: "quiet" }, "Nobody waits for anybody else, as far as that is known."),
      );
      return;
    }
    const focused = document.activeElement?.closest?.(".node")?.dataset.name;
    const plan = layOut(edges);
    const { picture, lines, boxes } = drawGraph(plan, nodes, sizesFor(plan.columns, this.width), {
      hint: this.hint,
      chosen,
      choose: this.choose,
    });
    for (const [name, box] of boxes) {
      box.dataset.name = name;
      for (const event of ["pointerenter", "focus"])
        box.addEventListener(event, () => this.light(name, edges, lines, boxes));
      for (const event of ["pointerleave", "blur"])
        box.addEventListener(event, () => picture.classList.remove("lit"));
    }
    this.box.replaceChildren(picture);
    if (focused !== undefined) boxes.get(focused)?.focus({ preventScroll: true });
  }

  // Of each box what it waits, what others wait for it, and whether chains end there.
  nodesOf(edges, graph, rows) {
    const nodes = new Map();
    const kinds = new Map(graph.nodes.map((node) => [node.name, node.kind]));
    for (const edge of edges) {
      for (const name of [edge.from, edge.to]) {
        if (nodes.has(name)) continue;
        const row = rows.get(name);
        const waits = row?.waiting ?? 0;
        const parts = Object.entries(row?.kinds ?? {}).sort(([, a], [, b]) => b - a);
        nodes.set(name, {
          kind: kinds.get(name) ?? "unit",
          waits,
          waitedFor: 0,
          forOthers: 0,
          kinds: parts.map(([kind, part]) => [kind, waits > 0 ? part / waits : 0]),
        });
      }
      nodes.get(edge.to).waitedFor += edge.threads;
      nodes.get(edge.from).forOthers += edge.threads;
    }
    const most = Math.max(0, ...[...nodes.values()].map((node) => node.waitedFor));
    // Red is trouble and nothing else.
    const isTrouble = [...rows.values()].some((row) => row.isTrouble);
    for (const node of nodes.values()) {
      node.isEnd =
        isTrouble &&
        node.waitedFor >= CAUSE &&
        node.waitedFor >= LARGE_PART * most &&
        node.forOthers < node.waitedFor / 2;
    }
    return nodes;
  }

  // Shows the chains through a box.
  light(name, edges, lines, boxes) {
    const near = new Set();
    const follow = (at, from, to) => {
      for (const edge of edges) {
        if (edge[from] !== at || near.has(edge)) continue;
        near.add(edge);
        follow(edge[to], from, to);
      }
    };
    follow(name, "from", "to");
    const forward = new Set(near);
    near.clear();
    follow(name, "to", "from");
    for (const edge of forward) near.add(edge);
    const names = new Set([name, ...[...near].flatMap((edge) => [edge.from, edge.to])]);
    for (const [edge, line] of lines) line.classList.toggle("near", near.has(edge));
    for (const [each, box] of boxes) box.classList.toggle("near", names.has(each));
    this.box.querySelector("svg").classList.add("lit");
  }

  showRest(hidden, graph) {
    const { all } = this.address.state;
    const button = (text, changes) =>
      element("button", { type: "button", class: "plain", click: () => this.change(changes) }, text);
    const parts = [];
    if (hidden > 0) parts.push(`${hidden} more lines are smaller. `, button("Show all", { all: "1" }), " ");
    else if (all !== "") parts.push(button("Show only the largest", { all: "" }), " ");
    parts.push(
      `Left out: ${threads(graph.unknown)} threads that wait for nobody knows whom${graph.left_out > 0 ? `, ${threads(graph.left_out)} in smaller lines` : ""}; waits for threads of the same unit.`,
    );
    replaceLine(this.rest, parts, `graph ${all}`);
  }
}
