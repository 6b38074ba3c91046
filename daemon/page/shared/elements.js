// SPDX-License-Identifier: Apache-2.0
// Makes elements. Text always becomes text nodes, so names are never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

// `attributes`: null and false are left out, true is an empty one. A function listens to the event
// of that name; `style` is an object of CSS properties.
function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else if (name === "style") {
      for (const [property, text] of Object.entries(value)) made.style.setProperty(property, text);
    } else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

// The titles of a table's columns: [text, class].
export function tableHead(...columns) {
  const titles = columns.map(([text, kind = ""]) => element("th", { scope: "col", class: kind }, text));
  return element("thead", {}, element("tr", {}, titles));
}

export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

// Changes nothing where nothing has changed, so that selections of text stay and screen readers
// are silent.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// The same of a line of texts and buttons; `key`: what the buttons depend on.
export function replaceLine(node, parts, key) {
  const words = `${key} ${parts.filter((part) => typeof part === "string").join("")}`;
  if (node.dataset.words === words) return;
  node.dataset.words = words;
  node.replaceChildren(...parts);
}

// Shows a sentence in place of a part that the daemon refuses; undefined: shows the part.
export function showError(node, error) {
  node.hidden = error === undefined;
  setText(node, error ?? "");
}

// The box beside the pointer. `lines`: lists of what stands in a line.
export class Hint {
  constructor(box) {
    this.box = box;
  }

  show(event, lines) {
    this.box.replaceChildren(...lines.map((line) => element("div", {}, ...line)));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const right = event.clientX + 14;
    const left = right + width > window.innerWidth ? event.clientX - width - 14 : right;
    const top = Math.min(event.clientY + 14, window.innerHeight - height - 6);
    this.box.style.setProperty("left", `${Math.max(4, left)}px`);
    this.box.style.setProperty("top", `${Math.max(4, top)}px`);
  }

  hide() {
    this.box.hidden = true;
  }
}
