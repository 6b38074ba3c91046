// SPDX-License-Identifier: Apache-2.0

// The parts of the controls that open: at most one at a time. Escape, or a click elsewhere, closes it.
export function tendMenus(document) {
  const menus = [...document.querySelectorAll("details")];
  const closeAll = (except) => {
    for (const menu of menus) if (menu !== except) menu.open = false;
  };
  for (const menu of menus) {
    menu.addEventListener("toggle", () => menu.open && closeAll(menu));
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      menu.open = false;
      menu.querySelector("summary").focus();
      event.stopPropagation();
    });
  }
  document.addEventListener("pointerdown", (event) => closeAll(event.target.closest?.("details")));
}
