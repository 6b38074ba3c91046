// SPDX-License-Identifier: Apache-2.0
// Elements and table rows. All text becomes text nodes: names are never read as HTML.

export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  Object.assign(made, properties);
  made.append(...children);
  return made;
}

// A cell with a class, of texts and elements.
export function cell(className, ...children) {
  return element("td", { className }, ...children);
}

// Fills a table body with one row for each item. Rows of items that were there before stay the same
// elements, so that a focus or a selection of text survives; `make(item)` returns the heading of a
// new row, which must not change, `cells(item)` the other cells.
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

// A sentence in the place of a part that the daemon refuses; undefined: none.
export function showError(name, error) {
  const place = document.getElementById(`${name}-error`);
  place.hidden = error === undefined;
  place.textContent = error ?? "";
}
