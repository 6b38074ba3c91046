// SPDX-License-Identifier: Apache-2.0
import { duration } from "./format.js";
import { IDLE_REASONS, visible } from "./names.js";
import { cgroupsOf, reasonsOf, sumIn } from "./totals.js";

function sizeText(sum, isDifference) {
  const now = duration(sum.ns);
  return isDifference ? `${duration(sum.beforeNs)} → ${now}` : now;
}

// Which reasons and which cgroup are shown. Selections stay when other data arrive.
export class Filters {
  constructor(form, onChange) {
    this.idle = form.querySelector("#idle");
    this.reasons = form.querySelector("#reasons");
    this.cgroup = form.querySelector("#cgroup");
    this.off = new Set(); // hidden reasons
    this.idle.addEventListener("change", () => {
      this.disableHidden();
      onChange();
    });
    this.cgroup.addEventListener("change", onChange);
    this.reasons.addEventListener("change", ({ target }) => {
      if (target.checked) this.off.delete(target.value);
      else this.off.add(target.value);
      onChange();
    });
  }

  get filter() {
    return { idle: this.idle.checked, reasons: this.off, cgroup: this.cgroup.value };
  }

  chooseCgroup(path) {
    if (path !== "") this.cgroup.add(new Option(visible(path), path, false, true));
  }

  showIdle() {
    this.idle.checked = true;
    this.disableHidden();
  }

  // The reasons and cgroups in the data, with their times.
  fill(table) {
    this.reasons.replaceChildren(
      ...reasonsOf(table).map(([reason, sum]) => this.reasonBox(reason, sum, table.isDifference)),
    );
    this.disableHidden();
    const chosen = this.cgroup.value;
    const cgroups = cgroupsOf(table).filter(([path]) => path !== "/");
    const all = new Option("all", "");
    const isKnown = chosen === "" || cgroups.some(([path]) => path === chosen);
    const missing = isKnown ? [] : [this.chosenOption(table, chosen)];
    this.cgroup.replaceChildren(
      all,
      ...missing,
      ...cgroups.map(([path, sum]) => {
        const text = `${visible(path)} (${sizeText(sum, table.isDifference)})`;
        return new Option(text, path, false, path === chosen);
      }),
    );
  }

  // For a unit by name, or a cgroup that is not in the data.
  chosenOption(table, chosen) {
    const sum = sumIn(table, chosen);
    const size = sum === null ? "nothing" : sizeText(sum, table.isDifference);
    return new Option(`${visible(chosen)} (${size})`, chosen, false, true);
  }

  reasonBox(reason, sum, isDifference) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = reason;
    box.checked = !this.off.has(reason);
    const time = document.createElement("small");
    time.textContent = sizeText(sum, isDifference);
    const label = document.createElement("label");
    label.append(box, ` ${visible(reason)} `, time);
    return label;
  }

  disableHidden() {
    for (const box of this.reasons.querySelectorAll("input")) {
      box.disabled = !this.idle.checked && IDLE_REASONS.has(box.value);
    }
  }
}
