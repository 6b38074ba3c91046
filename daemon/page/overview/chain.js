// SPDX-License-Identifier: Apache-2.0
// Whom a unit waits for, who that waits for, and so on: what /api/v1/why says of it, as a rail.
import { visible } from "../script/names.js";
import { element } from "../shared/elements.js";
import { kindClass, kindMark, kindWord, waitsFor } from "../shared/kinds.js";
import { portion, threads } from "../shared/numbers.js";
import { shortName } from "./model.js";

const LEAST_SHARE = 0.02; // of what the unit waits; less is not told
const MOST_OTHERS = 4;

function holderText({ lock, thread, tid, process, pid, waiting }) {
  const who = thread === null ? `${process} (pid ${pid ?? "?"})` : `thread ${thread} (tid ${tid ?? "?"})`;
  return `${who} holds ${lock}, for which ${waiting === 1 ? "1 thread waits" : `${waiting} threads wait`} now`;
}

const DEEDS = {
  waits: (hop) => `waits ${waitsFor(hop.for)}`,
  runs: (hop) => (hop.or_queued ? "runs, or waits for a CPU" : "runs"),
  sleeps: () => "sleeps",
  idles: () => "waits for work",
};
const DEADLOCK = "a deadlock: none of them can go on";

// What one of the path does, below its name.
function deedOf(hop) {
  const words = [];
  if (hop.holder) words.push(holderText(hop.holder));
  if (hop.kind === "self" && hop.because && hop.does !== "end") words.push(hop.because);
  const share = hop.share ? `, ${portion(hop.share)} of that time` : "";
  if (hop.busy) words.push(`is busy with other requests${share}`);
  if (hop.holder?.does === "deadlocked") words.push(DEADLOCK);
  else if (DEEDS[hop.does]) {
    const it = hop.holder?.thread ? "it " : "";
    const at = hop.site ? ` (${hop.site})` : "";
    words.push(`${it}${hop.busy ? "mostly " : ""}${DEEDS[hop.does](hop)}${at}${hop.busy ? "" : share}`);
    if (hop.queued) words.push(`waits for a CPU ${portion(hop.queued)} of that time`);
  } else if (hop.because && hop.kind !== "unknown") words.push(hop.because);
  if (hop.behind) words.push(hop.behind);
  return words.join("; ");
}

const NAMES = {
  self: "its own threads",
  kernel: "kernel threads",
  others: "others",
  nobody: "nobody",
  unknown: "unknown",
};

function nameOf({ kind, name }) {
  if (kind === "device") return `device ${name}`;
  return NAMES[kind] ?? name ?? "unknown";
}

// One line of the rail.
function lineOf({ depth, via, amount, share, name, more, text, isEnd, isCause, up }, link) {
  const classes = [kindClass(via ?? "work"), isEnd ? "end" : "", isCause ? "cause" : "", up > 0 ? "far" : ""];
  return element(
    "li",
    { class: classes.join(" "), style: { "--depth": depth, "--up": up } },
    depth > 0 ? element("i", { class: "rail", "aria-hidden": "true" }) : null,
    element("i", { class: "knot", "aria-hidden": "true" }),
    element(
      "div",
      { class: "who" },
      element(
        "span",
        { class: "name" },
        link ?? visible(name),
        more ? element("span", { class: "quiet" }, ` ${visible(more)}`) : "",
      ),
      via
        ? element(
            "span",
            { class: "via" },
            kindMark(via),
            `${kindWord(via)} ${amount}${share ? `, ${share}` : ""}`,
          )
        : null,
    ),
    element("div", { class: "text", title: visible(text) }, visible(text)),
  );
}

// The path of the verdict: [{depth, ...}].
function pathLines(verdict, tree, isTrouble) {
  const all = tree.actionable;
  return verdict.hops.map((hop, depth) => {
    if (depth === 0) {
      const at = hop.site ? ` (${hop.site})` : "";
      return {
        depth,
        name: hop.name,
        unit: hop.name,
        text: `${threads(hop.threads)} threads wait ${waitsFor(hop.for)}${at}`,
      };
    }
    const before = verdict.hops[depth - 1];
    const amount = depth === 1 ? (hop.threadsWaited ?? before.threads) : before.threads;
    return {
      depth,
      via: before.for,
      amount: threads(amount),
      name: nameOf(hop),
      unit: hop.kind === "unit" ? hop.name : null,
      share: depth === 1 && all > 0 ? portion(amount / all) : "",
      more: hop.process ? `${hop.process}${hop.pid ? `, pid ${hop.pid}` : ""}` : "",
      text: hop.kind === "unknown" ? `unknown, because ${hop.because}` : deedOf(hop),
      isEnd: hop.end,
      isCause: isTrouble && hop.end && hop.kind !== "unknown",
    };
  });
}

// Whom else it waits for: the other parts of its causes, the largest first.
function otherLines(verdict, tree) {
  const next = verdict.hops[1];
  const parts = tree.causes
    .filter((cause) => cause.share !== null)
    .flatMap((cause) => cause.parts.map((part) => ({ cause, part })));
  const isTold = ({ cause, part }) =>
    cause.for === verdict.for && part.kind === next?.kind && (part.name ?? null) === (next?.name ?? null);
  return parts
    .filter((each) => !isTold(each) && (each.part.share ?? 0) >= LEAST_SHARE)
    .sort((a, b) => b.part.threads - a.part.threads)
    .slice(0, MOST_OTHERS)
    .map(({ cause, part }) => ({
      depth: 1,
      via: cause.for,
      amount: threads(part.threads),
      share: portion(part.share),
      name: nameOf(part),
      unit: part.kind === "unit" ? part.name : null,
      more: part.process ?? "",
      isEnd: true,
      text: part.because
        ? part.kind === "unknown"
          ? `because ${part.because}`
          : part.because
        : (cause.name ?? ""),
    }));
}

// How far up the rail of a line reaches: lines between it and the one that waits for it.
function withReach(lines) {
  return lines.map((line, i) => {
    let up = 0;
    for (let j = i - 1; j >= 0 && lines[j].depth >= line.depth; j -= 1) up += 1;
    return { ...line, up };
  });
}

// The part of the path that the tree measured: how much of what the unit waits is for whom.
function measured(verdict, tree) {
  const [, next] = verdict.hops;
  if (!next) return verdict;
  const cause = tree.causes.find((each) => each.for === verdict.for);
  const part = cause?.parts.find(
    (each) => each.kind === next.kind && (each.name ?? null) === (next.name ?? null),
  );
  if (!part) return verdict;
  const hops = verdict.hops.map((hop, i) => (i === 1 ? { ...hop, threadsWaited: part.threads } : hop));
  return { ...verdict, hops };
}

// `why`: the answer about one unit, which is in trouble or not; `linkOf(name)` makes a link to a unit.
export function chainOf(why, { name, isTrouble }, linkOf) {
  const tree = why.units.find((unit) => unit.unit === name) ?? why.units[0];
  const verdict = why.verdicts.find((each) => each.unit === tree?.unit);
  if (!tree || !verdict)
    return element("p", { class: "quiet" }, "It waits for nothing that somebody could act on.");
  const path = measured(verdict, tree);
  const lines = withReach([...pathLines(path, tree, isTrouble), ...otherLines(verdict, tree)]);
  return element(
    "ol",
    { class: "chain" },
    ...lines.map((line, i) =>
      lineOf(line, line.unit && i > 0 ? linkOf(line.unit, shortName(line.unit)) : null),
    ),
  );
}
