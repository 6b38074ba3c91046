// SPDX-License-Identifier: Apache-2.0
/* global d3, flamegraph */
import { colorOf, HATCHED } from "./colors.js";
import { describe } from "./describe.js";

const ROW_HEIGHT = 18;
const LEAST_WIDTH = 0.5; // pixels; the browser could not handle the number of narrower ones
const TRANSITION_MS = 250;

function appendHatching(svg) {
  const pattern = svg.insert("svg:defs", ":first-child").append("svg:pattern");
  pattern.attr("id", HATCHED.slice(5, -1)).attr("width", 6).attr("height", 6);
  pattern.attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
  pattern.append("svg:rect").attr("class", "hatch-ground").attr("width", 6).attr("height", 6);
  pattern.append("svg:rect").attr("class", "hatch-line").attr("width", 2).attr("height", 6);
}

// The picture of one tree (tree.js), drawn by d3-flame-graph.
export class FlameChart {
  constructor(element, tooltip, onZoom) {
    this.element = element;
    this.tooltip = tooltip;
    this.onZoom = onZoom;
    this.chart = null;
  }

  // options: `icicle` (root at the top), `isDifference`.
  draw(tree, options) {
    this.clear();
    this.tree = tree;
    this.options = options;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.chart = flamegraph
      .default()
      .width(this.element.clientWidth)
      .cellHeight(ROW_HEIGHT)
      .minFrameSize(LEAST_WIDTH)
      .inverted(options.icicle)
      .transitionDuration(still ? 0 : TRANSITION_MS)
      .tooltip(this.pointerTooltip())
      .label((node) => this.lines(node).join(", "))
      .setColorMapper((node) => colorOf(node.data, options.isDifference))
      .setSearchMatch((node) => node.data.matches)
      .setSearchHandler(() => {})
      .setDetailsHandler(() => {})
      .onClick((node) => this.onZoom(node));
    d3.select(this.element).datum(tree).call(this.chart);
    d3.select(this.element).select("svg").call(appendHatching);
  }

  clear() {
    this.chart?.destroy();
    this.chart = null;
    this.tooltip.hide();
  }

  // Call it after marks of the tree have changed (search.js).
  recolor() {
    this.chart?.search("");
  }

  zoomTo(node) {
    this.chart?.zoomTo(node);
  }

  // d3's root node, whose `children` and `parent` the keyboard follows.
  get root() {
    return this.chart && d3.select(this.element).datum();
  }

  // Names that lead to a node, without the root's.
  pathOf(node) {
    return node.ancestors().reverse().slice(1).map((each) => each.data.frame.name);
  }

  // The node to which these names lead, or the last on the way that there is.
  nodeAt(path) {
    let node = this.root;
    for (const name of path) {
      const next = node.children?.find((each) => each.data.frame.name === name);
      if (!next) break;
      node = next;
    }
    return node;
  }

  isDrawn(node) {
    return node.value > 0 && (node.x1 - node.x0) * this.chart.width() > LEAST_WIDTH;
  }

  // The element of a node; undefined: it is too narrow to be drawn.
  frameOf(node) {
    return d3.select(this.element).selectAll("g.frame").filter((each) => each === node).node();
  }

  lines(node) {
    return describe(node.data, this.tree, this.options.isDifference);
  }

  pointerTooltip() {
    const tip = () => {}; // the library calls it once, for tooltips inside the picture
    tip.show = (event, node) => this.tooltip.show(this.lines(node), event.clientX, event.clientY);
    tip.hide = () => this.tooltip.hide();
    return tip;
  }
}
