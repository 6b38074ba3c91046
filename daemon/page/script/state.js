// SPDX-License-Identifier: Apache-2.0
// What is selected is in the address, so that it can be reloaded and passed on. What is at its default
// is left out.
import { exactTime } from "../shared/numbers.js";
import { baseOf, rangeOf } from "./address.js";

// The controls by the parameters that have their state.
const CONTROLS = {
  idle: "idle",
  kernel: "kernel",
  group: "group",
  root: "orientation",
  wakers: "wakers",
  find: "search",
};

function defaultOf(control) {
  return control.type === "checkbox" ? control.defaultChecked : (control.options?.[0].value ?? "");
}

function stateOf(control) {
  return control.type === "checkbox" ? control.checked : control.value;
}

function setState(control, text) {
  if (control.type === "checkbox") control.checked = text === null ? defaultOf(control) : text === "true";
  else control.value = text ?? defaultOf(control);
  if (control.selectedIndex === -1) control.value = defaultOf(control); // another version's address
}

// Sets the controls as the address says; `find(id)` returns one.
export function obeyControls(query, find) {
  const parameters = new URLSearchParams(query);
  for (const [name, id] of Object.entries(CONTROLS)) setState(find(id), parameters.get(name));
}

// What the address says of ranges, for Ranges.
export function rangesIn(query) {
  const parameters = new URLSearchParams(query);
  const base = baseOf(query);
  const compare = base !== null || parameters.get("compare") === "true";
  return { range: rangeOf(query), base, compare, normalize: parameters.get("normalize") !== "false" };
}

// The address of what is selected; `ranges`: null, if there are none to select.
export function queryOf(find, ranges) {
  const parameters = new URLSearchParams();
  const addRange = (prefix, [from, to]) => {
    parameters.set(`${prefix}from`, exactTime(from));
    parameters.set(`${prefix}to`, exactTime(to));
  };
  if (ranges !== null && !ranges.isDefault) addRange("", ranges.shown.times);
  if (ranges?.isComparing) {
    if (ranges.isBaseChosen) addRange("base_", ranges.base.times);
    else parameters.set("compare", "true");
    if (!ranges.normalize.checked) parameters.set("normalize", "false");
  }
  const cgroup = find("cgroup").value;
  if (cgroup !== "") parameters.set("cgroup", cgroup);
  for (const [name, id] of Object.entries(CONTROLS)) {
    const control = find(id);
    if (stateOf(control) !== defaultOf(control)) parameters.set(name, stateOf(control));
  }
  const query = parameters.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return query === "" ? "" : `?${query}`;
}
