// SPDX-License-Identifier: Apache-2.0
import { byId } from "../shared/elements.js";

// Calls `actions[key]()` when a key is pressed outside of fields, and leaves all others alone.
// Escape in the field of the search calls `clear()`.
export function listenToKeys(actions, clear) {
  const help = byId("help");
  byId("keys").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (help.open) {
      if (event.key === "Escape") help.close();
      return;
    }
    const isField = event.target instanceof HTMLInputElement;
    if (isField && event.key === "Escape") {
      event.target.blur();
      clear();
      return;
    }
    if (isField) return;
    if (event.key === "?") {
      help.showModal();
      return;
    }
    // On these, Enter is theirs; a dialog that was closed may still have the focus for a moment.
    const used = event.target instanceof Element && event.target.closest("a, button, summary, [role=button]");
    if (event.key === "Enter" && used && !help.contains(used)) return;
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key](event);
  });
}
