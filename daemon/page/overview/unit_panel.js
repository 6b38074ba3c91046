// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { byId, element } from "../shared/elements.js";
import { counted } from "../shared/numbers.js";
import { flameAddress } from "./address.js";
import { chainOf } from "./chain.js";
import { HeatMap } from "./heat_map.js";
import { Lengths } from "./lengths.js";
import { ownershipOf, unitNameOf } from "./model.js";
import { stackLines, stacksList, wholeOf } from "./stack_lines.js";
import { sitesTable, stallsTable, threadsTable, unitPicture } from "./unit_parts.js";

const LENGTHS_ARE_NEW =
  "Snapshots keep how long threads waited in all, not how long each wait was: of a time before the last " +
  "10 minutes there is no such picture.";

const USED = ["a", "summary"].flatMap((tag) => [`${tag}:hover`, `${tag}:focus-visible`]).join();

// The chosen unit: whom it waits for, where, since when, what is stuck, its stacks and threads.
export class UnitPanel {
  // `choose(name)`: "" closes it.
  constructor(address, choose) {
    this.address = address;
    this.choose = choose;
    this.panel = byId("unit");
    this.back = this.link({ unit: "" }, "← Units", "", "back");
    this.title = element("h2", { id: "unit-title" });
    this.path = element("span", { class: "path cut quiet" });
    this.stacks = element("a", {}, "stacks");
    this.told = null; // {name, answer, stacks}: what stacks were made from
    this.parts = new Map();
    this.panel.append(element("header", {}, this.back, this.title, this.path));
    for (const [name, title] of [
      ["chain", "Whom it waits for"],
      ["stalls", "Stuck now"],
      ["sites", "Where it waits"],
      ["lengths", "How long"],
      ["stacks", "Its heaviest stacks"],
      ["minutes", "Last 10 minutes"],
      ["threads", "Its threads now"],
    ]) {
      const body = element("div");
      const note = element("span", { class: "quiet detail" });
      const section = element(
        "section",
        {},
        element("div", { class: "line" }, element("h3", {}, title), note),
        body,
      );
      this.parts.set(name, { section, body, note, text: null });
      this.panel.append(section);
    }
    this.heat = new HeatMap();
    this.parts.get("lengths").body.append(this.heat.element);
    this.parts.get("chain").note.append("threads, share");
    this.parts.get("sites").note.append(this.stacks);
  }

  link(changes, text, title, kind) {
    const follow = (event) => {
      event.preventDefault();
      this.choose(changes.unit);
    };
    return element(
      "a",
      { href: this.address.link(changes), class: kind, title: title || null, click: follow },
      text,
    );
  }

  // Replaces a part if it would say something else now. Leaves it while somebody uses something in it,
  // unless it is still about another unit. Returns whether the part says this now.
  put(name, ...nodes) {
    const part = this.parts.get(name);
    const box = element("div", {}, ...nodes);
    const text = box.innerHTML;
    part.section.hidden = nodes.length === 0 || nodes[0] === null;
    if (part.text === text) return true;
    if (part.text !== null && part.body.querySelector(USED)) return false;
    part.text = text;
    part.body.replaceChildren(...box.childNodes);
    return true;
  }

  refused(sentence) {
    return element("p", { class: "quiet" }, visible(sentence));
  }

  close() {
    this.panel.hidden = true;
  }

  // `row`: undefined if the unit is not among those that the daemon told; `why`, `top`: answers or
  // refusals about it, undefined before the first one.
  // `lengths`: an answer that has those of the unit; `stacks`: an answer or a refusal about its stacks; both
  // are undefined before the first one. `rows`: of all units.
  // `isOld`: only snapshots know of the range.
  show(name, { row, why, top, steps, range, isPast, isOld = false, lengths, stacks, rows }) {
    if (this.shown !== name) for (const part of this.parts.values()) part.text = null;
    this.shown = name;
    this.panel.hidden = false;
    this.back.href = this.address.link({ unit: "" });
    this.title.textContent = visible(name);
    this.path.textContent =
      row && row.cgroup !== name ? visible(row.cgroup.replace(/\/[^/]*$/, "") || "/") : "";
    this.path.title = row ? visible(row.cgroup) : "";
    if (!row) {
      this.parts.get("lengths").section.hidden = true;
      for (const part of ["stalls", "sites", "stacks", "minutes", "threads"]) this.put(part, null);
      this.put("chain", this.refused("There is no such unit, or it neither waited nor ran in this time."));
      return;
    }
    this.stacks.href = flameAddress(range, row.cgroup);
    this.showChain(row, why);
    this.put("stalls", row.stalls.length > 0 ? stallsTable(row.stalls) : null);
    const sites = row.tellsSites
      ? sitesTable(row)
      : this.refused("This client may not see where threads wait.");
    this.put("sites", sites);
    this.showLengths(name, row, isOld ? null : lengths, range);
    this.showStacks(row, stacks, rows);
    this.put("minutes", unitPicture(row, steps, range));
    this.showThreads(name, row, top, isPast);
  }

  showChain(row, why) {
    if (why === undefined) this.put("chain", this.refused("Asking the daemon…"));
    else if (why.error !== undefined) this.put("chain", this.refused(why.error));
    else
      this.put(
        "chain",
        chainOf(why.value, row, (unit, text) => this.link({ unit }, text, visible(unit))),
      );
  }

  // `answer`: null where snapshots alone know.
  showLengths(name, row, answer, range) {
    const { section, note } = this.parts.get("lengths");
    section.hidden = false;
    note.textContent = "";
    if (answer === null) {
      this.heat.say(LENGTHS_ARE_NEW);
      return;
    }
    if (answer === undefined) {
      this.heat.say("Asking the daemon…");
      return;
    }
    const lengths = new Lengths(answer, row.stalls);
    if (lengths.isEmpty) {
      this.heat.say("No wait of it for anything but work ended or lasted in these minutes.");
      return;
    }
    note.textContent = answer.total.waits === null ? "waits for a CPU alone: no stacks" : "last 10 minutes";
    this.heat.show(lengths, { range, name: visible(name) });
  }

  showStacks(row, asked, rows) {
    const { note } = this.parts.get("stacks");
    const sentence = asked === undefined ? "Asking the daemon…" : asked.error;
    if (sentence !== undefined) {
      note.textContent = "";
      this.put("stacks", this.refused(sentence));
      return;
    }
    if (this.told?.answer !== asked.value || this.told.name !== row.name) {
      const stacks = stackLines(asked.value, ownershipOf(row.name, rows));
      this.told = { name: row.name, answer: asked.value, stacks };
    }
    const open = this.address.openStacks;
    const toggled = (key, isOpen) => this.toggled(row.name, key, isOpen);
    const all = (range) => flameAddress(range, row.cgroup);
    const more = { isQueued: row.main === "cpu", open, toggled, all };
    if (this.put("stacks", ...stacksList(this.told.stacks, more)))
      note.textContent = wholeOf(this.told.stacks);
  }

  // Somebody opened or closed a stack: from now on this unit is chosen.
  toggled(unit, key, isOpen) {
    const open = this.address.openStacks;
    if (open.has(key) === isOpen) return;
    if (isOpen) open.add(key);
    else open.delete(key);
    this.address.set({ unit, stacks: [...open].join(".") }, true);
  }

  showThreads(name, row, top, isPast) {
    const { note } = this.parts.get("threads");
    note.textContent = "";
    if (isPast)
      this.put("threads", this.refused("Threads are known of now alone; of this time there are stacks."));
    else if (top === undefined) this.put("threads", this.refused("Asking the daemon…"));
    else if (top.error !== undefined) this.put("threads", this.refused(top.error));
    else {
      this.put(
        "threads",
        threadsTable(top.value, (thread) => unitNameOf({ cgroup: "", ...thread }) === name),
      );
      note.textContent = row.stuck > 0 ? counted(row.stuck, "thread") + " stuck" : "the oldest first";
    }
  }
}
