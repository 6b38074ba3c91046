// SPDX-License-Identifier: Apache-2.0
const GAP = 12;

// The box beside the pointer or the selected frame. It shows text only: names are
// never parsed as HTML.
export class Tooltip {
  constructor(element) {
    this.element = element;
  }

  show(lines, x, y) {
    this.element.replaceChildren(
      ...lines.map((line, index) => {
        const item = document.createElement(index === 0 ? "strong" : "span");
        item.textContent = line;
        return item;
      }),
    );
    this.element.hidden = false;
    const { width, height } = this.element.getBoundingClientRect();
    const left = Math.max(0, Math.min(x + GAP, window.innerWidth - width - GAP));
    const fits = y + GAP + height < window.innerHeight;
    this.element.style.left = left + "px";
    this.element.style.top = Math.max(0, fits ? y + GAP : y - GAP - height) + "px";
  }

  hide() {
    this.element.hidden = true;
  }
}
