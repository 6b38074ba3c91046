// SPDX-License-Identifier: Apache-2.0

// Arrow keys move between the frames of a chart, Enter zooms to the current one, Escape shows all.
export class KeyboardTour {
  // `onMove(node)`: another frame is the current one.
  constructor(chart, tooltip, details, onMove) {
    this.chart = chart;
    this.tooltip = tooltip;
    this.details = details; // announces the current frame, also to screen readers
    this.onMove = onMove;
    this.current = null;
    chart.element.addEventListener("keydown", (event) => this.press(event));
    chart.element.addEventListener("blur", () => this.leave());
  }

  // Call it after another tree was drawn, or the chart lost the focus.
  leave() {
    this.unmark();
    this.current = null;
    this.tooltip.hide();
  }

  press(event) {
    const { root } = this.chart;
    if (!root || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      this.chart.zoomTo(root);
    } else if (event.key === "Enter" || event.key === " ") {
      if (this.current) this.chart.zoomTo(this.current);
    } else if (event.key.startsWith("Arrow")) {
      this.current = this.current ? this.next(event.key) : root;
    } else {
      return;
    }
    event.preventDefault();
    this.mark();
  }

  next(key) {
    const { current, chart } = this;
    const drawn = (nodes) => (nodes ?? []).filter((node) => chart.isDrawn(node));
    const toRoot = chart.options.icicle ? "ArrowUp" : "ArrowDown";
    if (key === toRoot) return current.parent ?? current;
    if (key === "ArrowUp" || key === "ArrowDown") {
      const widest = drawn(current.children).sort((a, b) => b.value - a.value)[0];
      return widest ?? current;
    }
    const siblings = drawn(current.parent?.children);
    const at = siblings.indexOf(current) + (key === "ArrowRight" ? 1 : -1);
    return siblings[at] ?? current;
  }

  unmark() {
    this.chart.element.querySelector(".current")?.classList.remove("current");
    this.details.textContent = "";
  }

  mark() {
    this.unmark();
    const frame = this.current && this.chart.frameOf(this.current);
    if (!frame) return;
    frame.classList.add("current");
    frame.scrollIntoView({ block: "nearest" });
    const lines = this.chart.lines(this.current);
    const { left, bottom } = frame.getBoundingClientRect();
    this.tooltip.show(lines, left, bottom);
    this.details.textContent = lines.join(", ");
    this.onMove(this.current);
  }
}
