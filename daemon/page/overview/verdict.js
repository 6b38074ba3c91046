// SPDX-License-Identifier: Apache-2.0
// What is wrong, since when, and who is to blame: the sentences of `offcpuctl`, as links.
import { visible } from "../script/names.js";
import { byId, element, setText } from "../shared/elements.js";
import { waitsFor } from "../shared/kinds.js";
import { clock, threads, time } from "../shared/numbers.js";
import { shortName } from "./model.js";

const MOST = 3;
const SHORT_MS = 60_000;

// The first clause of a sentence, and the rest: {"text"} and {"unit"} as in the answer; a unit may have the
// words for it as "text".
function clausesOf(parts) {
  const first = [];
  for (let i = 0; i < parts.length; i += 1) {
    const at = parts[i].text?.indexOf("; ") ?? -1;
    if (at < 0) {
      first.push(parts[i]);
      continue;
    }
    first.push({ text: parts[i].text.slice(0, at) });
    return [first, [{ text: parts[i].text.slice(at + 2) }, ...parts.slice(i + 1)]];
  }
  return [first, []];
}

// When the unit began to wait as it does now, from its steps: the time before which it waited less
// than half as much. null: that is not seen.
function beginOf(row, kind, steps) {
  const values = row.steps[kind];
  if (!values || !steps) return null;
  const known = values.map((value, i) => [value, i]).filter(([value]) => value !== null);
  const level = (known.at(-1)?.[0] ?? 0) / 2;
  const [, last] = known.findLast(([value]) => value < level) ?? [];
  if (last === undefined || level <= 0) return null;
  return Date.parse(steps.end) - (steps.count - last - 1) * steps.seconds * 1000;
}

// {at, about}: since when; null: unknown.
function sinceOf(row, verdict, steps) {
  const stalls = row.stallsFor(verdict.for);
  const times = stalls.map((stall) => Date.parse(stall.since));
  if (times.length > 0) return { at: Math.min(...times), about: stalls.some((stall) => stall.estimated) };
  const begin = beginOf(row, verdict.for, steps);
  return begin === null ? null : { at: begin, about: true };
}

export class Verdict {
  // `onChoose(name)`: somebody wants to see this unit.
  constructor(address, onChoose) {
    this.box = byId("verdict");
    this.announced = byId("announced");
    this.address = address;
    this.onChoose = onChoose;
    this.shown = "";
  }

  // What screen readers say: without numbers, which change with each answer.
  announce(words) {
    setText(this.announced, words);
  }

  // No link is replaced while somebody uses it.
  replace(key, ...nodes) {
    if (this.shown === key || this.box.querySelector("a:hover, a:focus")) return;
    this.shown = key;
    this.box.replaceChildren(...nodes);
  }

  say(first, second = "") {
    const nodes = [element("p", { class: "first" }, first)];
    if (second !== "") nodes.push(element("p", { class: "second quiet" }, second));
    this.announce(first);
    this.replace(`${first}\n${second}`, ...nodes);
  }

  link(name, text) {
    const choose = (event) => {
      event.preventDefault();
      this.onChoose(name);
    };
    return element(
      "a",
      { href: this.address.link({ unit: name }), title: visible(name), click: choose },
      text,
    );
  }

  sentence(parts) {
    return parts.map(({ text, unit }) =>
      unit === undefined ? visible(text) : this.link(unit, text ?? shortName(unit)),
    );
  }

  // `units`, `why`: answers; `rows`: of the units; `before`: as of timeBefore(); `isPast`: of a range that
  // was chosen; `stuckError`: why it is not known what is stuck.
  show({ units, why, rows, before, isPast, stuckError, uptime }) {
    this.before = before;
    if (units.notes !== undefined) {
      const amount = [...rows.values()].reduce((all, row) => all + row.waiting, 0);
      this.say(`${threads(amount)} threads waited for something at any time.`, units.notes.join(" "));
      return;
    }
    if (units.window_seconds === 0 && isPast) {
      this.say("Nothing is kept of this time but stacks.", "Ten minutes are kept in memory.");
      return;
    }
    if (units.window_seconds === 0) {
      this.say("First numbers come in seconds.", `The daemon started ${time(Math.round(uptime))} ago.`);
      return;
    }
    if (!why) {
      this.say("Who is to blame is not known here: the daemon does not tell.");
      return;
    }
    const { missing } = why.sources.sites;
    if (missing !== null) {
      const isYoung = missing.startsWith("the daemon started ");
      this.say(
        `What threads wait for is ${isYoung ? "not known yet" : "unknown"}.`,
        visible(`The reason: ${missing}.`),
      );
      return;
    }
    const verdicts = why.verdicts.map((verdict) => ({ verdict, row: rows.get(verdict.unit) }));
    const isBad = ({ verdict, row }) => row?.isTroubleFor(verdict.for) ?? false;
    const bad = verdicts.filter(isBad);
    const told = new Set(bad.flatMap(({ verdict }) => verdict.hops.map((hop) => hop.name)));
    const stuck = [...rows.values()].filter((row) => row.stuck > 0 && !told.has(row.name));
    if (bad.length + stuck.length > 0) this.showTrouble(bad, stuck, units, isPast);
    else this.showCalm(verdicts, why, { isPast, first: this.calmWords(isPast, stuckError) });
  }

  showTrouble(bad, stuck, units, isPast) {
    const items = bad.slice(0, MOST).flatMap((one, i) => this.itemsOf(one, i === 0, units, isPast));
    // Stalls that no verdict is about, as those of few threads on a busy host.
    const named = stuck
      .slice(0, MOST)
      .flatMap((row, i) => [
        i > 0 ? ", " : "",
        this.link(row.name, shortName(row.name)),
        ` (${row.stuck}, ${time(row.oldest)})`,
      ]);
    if (named.length > 0) {
      const more = stuck.length > MOST ? ` and ${stuck.length - MOST} more` : "";
      const begin = bad.length > 0 ? "Also stuck: " : "Stuck: ";
      items.push(this.item(true, bad.length > 0 ? "second" : "first", [begin, ...named, `${more}.`]));
    }
    const told = [
      ...bad
        .slice(0, MOST)
        .map(
          ({ verdict }) =>
            `${verdict.unit} waits ${waitsFor(verdict.for)}${verdict.culprit ? `, ${verdict.culprit}` : ""}`,
        ),
      ...stuck.map((row) => `${row.name} is stuck`),
    ];
    this.announce(visible(`Trouble: ${told.join("; ")}.`));
    this.replace(items.map((item) => item.textContent).join("\n"), element("ul", {}, ...items));
  }

  item(isTrouble, size, words, since) {
    return element(
      "li",
      { class: isTrouble ? "trouble" : "so" },
      element("i", { class: "dot", "aria-hidden": "true" }),
      element("span", { class: size }, ...words),
      since,
    );
  }

  itemsOf({ verdict, row }, isFirst, units, isPast) {
    const [first, rest] = clausesOf(verdict.parts);
    const usual = row.before === null || !row.changed ? "" : `, ${threads(row.before)} in ${this.before}`;
    const items = [
      this.item(
        true,
        isFirst ? "first" : "second",
        [...this.sentence(first), `${usual}.`],
        this.since(row, verdict, units, isPast),
      ),
    ];
    if (rest.length > 0) items.push(this.item(false, "second", [...this.sentence(rest), "."]));
    return items;
  }

  since(row, verdict, units, isPast) {
    const since = isPast ? null : sinceOf(row, verdict, units.steps);
    if (since === null) return null;
    const now = Date.parse(units.taken);
    // Rounded, so that not every answer replaces the sentences.
    const rounded = Math.max(0, now - since.at) < SHORT_MS ? 5 : 60;
    const seconds = Math.floor((now - since.at) / 1000 / rounded) * rounded;
    const words = seconds > 0 ? `, ${time(seconds)}` : "";
    return element(
      "span",
      { class: "since" },
      since.about ? "since about " : "since ",
      element("b", {}, clock(since.at)),
      words,
    );
  }

  // Says only what is known.
  calmWords(isPast, stuckError) {
    const { before } = this;
    const longer = `nothing waits much longer than in ${before}`;
    if (isPast) return "Who waited then:";
    if (stuckError !== undefined)
      return before !== null
        ? `N${longer.slice(1)}; what is stuck is not told here.`
        : "What is stuck is not told here.";
    return `Nothing is stuck${before !== null ? `, and ${longer}` : ""}.`;
  }

  showCalm(verdicts, why, { isPast, first }) {
    const wait = isPast ? "waited" : "wait";
    const amount = `${threads(why.total.actionable)} threads ${wait} for something at any time.`;
    const items = verdicts
      .slice(0, MOST - 1)
      .map(({ verdict }) => this.item(false, "second", [...this.sentence(clausesOf(verdict.parts)[0]), "."]));
    const nodes = [element("p", { class: "first" }, first), element("p", { class: "second quiet" }, amount)];
    if (items.length > 0) nodes.push(element("ul", {}, ...items));
    this.announce(first);
    this.replace(nodes.map((node) => node.textContent).join("\n"), ...nodes);
  }
}
