// SPDX-License-Identifier: Apache-2.0
import { duration } from "./format.js";
import { visible } from "./names.js";
import { cgroupsOf, purposesOf, reasonsOf, sumIn, valuesNotIdle } from "./totals.js";

function sizeText(sum, isDifference) {
  const now = duration(sum.ns);
  return isDifference ? `${duration(sum.beforeNs)} → ${now}` : now;
}

// A box for each value in the data. What is switched off stays off when other data arrive.
class Boxes {
  constructor(element, onChange) {
    this.element = element;
    this.off = new Set(); // hidden values
    this.notIdle = new Set();
    element.addEventListener("change", ({ target }) => {
      if (target.checked) this.off.delete(target.value);
      else this.off.add(target.value);
      onChange();
    });
  }

  // `sums`: pairs of a value and its time; `notIdle`: the values of waits that are not idle.
  fill(sums, notIdle, isDifference) {
    this.notIdle = notIdle;
    this.element.replaceChildren(
      ...sums.map(([value, sum]) => this.box(value, sizeText(sum, isDifference))),
    );
  }

  box(value, size) {
    const box = document.createElement("input");
    box.type = "checkbox";
    box.value = value;
    box.checked = !this.off.has(value);
    const time = document.createElement("small");
    time.textContent = size;
    const label = document.createElement("label");
    label.append(box, ` ${visible(value)} `, time);
    return label;
  }

  // While idle waits are hidden, a box for a value that only they have would change nothing.
  disableUnless(showsIdle) {
    for (const box of this.element.querySelectorAll("input")) {
      box.disabled = !showsIdle && !this.notIdle.has(box.value);
    }
  }
}

// Which reasons, what waits are for, and which cgroup are shown.
export class Filters {
  constructor(form, onChange) {
    this.idle = form.querySelector("#idle");
    this.reasons = new Boxes(form.querySelector("#reasons"), onChange);
    this.purposes = new Boxes(form.querySelector("#purposes"), onChange);
    this.cgroup = form.querySelector("#cgroup");
    this.idle.addEventListener("change", () => {
      this.disableHidden();
      onChange();
    });
    this.cgroup.addEventListener("change", onChange);
  }

  get filter() {
    return {
      idle: this.idle.checked,
      reasons: this.reasons.off,
      purposes: this.purposes.off,
      cgroup: this.cgroup.value,
    };
  }

  chooseCgroup(path) {
    const isKnown = [...this.cgroup.options].some(({ value }) => value === path);
    if (!isKnown) this.cgroup.add(new Option(visible(path), path));
    this.cgroup.value = path;
  }

  showIdle() {
    this.idle.checked = true;
    this.disableHidden();
  }

  // The reasons, what waits are for, and the cgroups in the data, with their times.
  fill(table) {
    this.reasons.fill(reasonsOf(table), valuesNotIdle(table, "reason"), table.isDifference);
    this.purposes.fill(purposesOf(table), valuesNotIdle(table, "for"), table.isDifference);
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

  disableHidden() {
    this.reasons.disableUnless(this.idle.checked);
    this.purposes.disableUnless(this.idle.checked);
  }
}
