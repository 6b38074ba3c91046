// SPDX-License-Identifier: Apache-2.0
// Makes elements and table rows. Text always becomes text nodes, so names are never parsed as HTML.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

// A cell with a class and content: texts and elements.
export function cell(className, ...children) {
  return element("td", { className }, ...children);
}

// Fills a table body with one row per item. Rows of known items keep their elements, so that focus
// and text selection survive. `make(item)` returns the heading of a new row, which must not change;
// `cells(item)` returns the other cells.
export function fillRows(body, items, { key, make, cells }) {
  const focused = document.activeElement;
  const known = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const rows = items.map((item) => {
    const name = key(item);
    let row = known.get(name);
    if (row === undefined) {
      row = element("tr", {}, make(item));
      row.dataset.key = name;
    }
    row.replaceChildren(row.cells[0], ...cells(item));
    return row;
  });
  const same = rows.length === body.rows.length && rows.every((row, i) => row === body.rows[i]);
  if (!same) body.replaceChildren(...rows);
  if (focused !== document.activeElement && body.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

// Shows a sentence in place of a part that the daemon refuses; undefined: shows the part.
export function showError(name, error) {
  const place = document.getElementById(`${name}-error`);
  place.hidden = error === undefined;
  place.textContent = error ?? "";
}
