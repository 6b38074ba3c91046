// SPDX-License-Identifier: Apache-2.0
// The address holds the whole state of the page, so that it can be reloaded and passed on. What is
// at its default is left out.
import { SPANS } from "./hours.js";

const DEFAULTS = {
  unit: "",
  view: "units",
  sort: "trouble",
  find: "",
  span: "",
  from: "",
  to: "",
  all: "",
  stacks: "",
};
const VIEWS = new Set(["units", "graph"]);
const SPAN_NAMES = new Set(["", ...Object.keys(SPANS)]);

export class Address {
  // `changed` is called when somebody goes back or forward.
  constructor(changed) {
    this.read();
    window.addEventListener("popstate", () => {
      this.read();
      changed();
    });
  }

  read() {
    const parameters = new URLSearchParams(location.search);
    this.state = { ...DEFAULTS };
    for (const name of Object.keys(DEFAULTS)) {
      if (parameters.has(name)) this.state[name] = parameters.get(name);
    }
    if (!VIEWS.has(this.state.view)) this.state.view = DEFAULTS.view;
    if (!SPAN_NAMES.has(this.state.span)) this.state.span = DEFAULTS.span;
    if (this.range === null) this.state.from = this.state.to = "";
  }

  // [from, to] in milliseconds since 1970; null: now.
  get range() {
    const [from, to] = [this.state.from, this.state.to].map((text) => Date.parse(text));
    return from < to ? [from, to] : null;
  }

  static query(state) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (value !== DEFAULTS[name]) parameters.set(name, value);
    }
    return `?${parameters}`.replaceAll("%3A", ":");
  }

  // The state with these changes. Another unit has other stacks, so none of these is open.
  after(changes) {
    const isOther = changes.unit !== undefined && changes.unit !== this.state.unit;
    return { ...this.state, ...(isOther && { stacks: "" }), ...changes };
  }

  // The address with these changes.
  link(changes) {
    return Address.query(this.after(changes));
  }

  // The keys of the stacks that are shown whole.
  get openStacks() {
    return new Set(this.state.stacks.split(".").filter((key) => key !== ""));
  }

  // Going back undoes it, unless it `replaces` the present address: of letters that are typed, only
  // the last ones matter.
  set(changes, replaces = false) {
    const query = this.link(changes);
    this.state = this.after(changes);
    const path = location.pathname + (query === "?" ? "" : query);
    if (path === location.pathname + location.search) return;
    if (replaces) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
  }
}

// The page with the stacks of a time and, unless "", of a cgroup.
export function flameAddress([from, to], cgroup) {
  const time = (at) => new Date(at).toISOString();
  const parameters = new URLSearchParams({ from: time(from), to: time(to) });
  if (cgroup !== "") parameters.set("cgroup", cgroup);
  return `flame?${parameters}`.replaceAll("%3A", ":");
}
