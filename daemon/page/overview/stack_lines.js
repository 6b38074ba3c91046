// SPDX-License-Identifier: Apache-2.0
// The stacks in which a unit waited longest, a line each, as `offcpuctl why -v` has them.
import { boundOf, duration } from "../script/format.js";
import { visible } from "../script/names.js";
import { StackTable } from "../script/table.js";
import { element } from "../shared/elements.js";
import { kindMark, kindWord } from "../shared/kinds.js";
import { clock, counted, portion, time } from "../shared/numbers.js";

const MOST_STACKS = 5;

// The program's functions, the innermost first; those of the kernel only where there are no others.
function tellingOf(frames) {
  const program = frames.filter((frame) => frame.kind !== "kernel");
  return (program.length > 0 ? program : frames).map(({ name }) => name).reverse();
}

// Names a stack in the page's address; the same for each load of the page (FNV-1a).
function keyOf(text) {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(36);
}

// `functions`: the texts of stacks that were seen before.
function addStack({ lines, functions }, table, row) {
  const [kind, site] = ["for", "site"].map((column) => table.text(row, column));
  const frames = table.framesOf(row, "stack");
  if (!functions.has(frames)) functions.set(frames, tellingOf(frames).join(" < ") || "[no stack]");
  const text = functions.get(frames);
  const place = `${kind}\n${site}\n${text}`;
  if (!lines.has(place)) {
    lines.set(place, { place, kind, site, text, ns: 0, waits: 0, lastingNs: 0, stacks: new Map() });
  }
  const line = lines.get(place);
  const { ns, episodes, progressNs } = table.amounts(row);
  line.ns += ns;
  line.waits += episodes;
  line.lastingNs += progressNs;
  line.stacks.set(frames, (line.stacks.get(frames) ?? 0) + ns);
}

// `isOwn(cgroup)`: whether it is of the unit. Returns {lines, ns, answer}: the lines from the heaviest on,
// and the time of all.
export function stackLines(answer, isOwn) {
  const table = new StackTable(answer);
  const sums = { lines: new Map(), functions: new Map() };
  for (const row of table.rows) if (isOwn(table.text(row, "cgroup"))) addStack(sums, table, row);
  const list = [...sums.lines.values()].sort((a, b) => b.ns - a.ns);
  return { lines: list, ns: list.reduce((sum, line) => sum + line.ns, 0), answer };
}

const rangeOf = ({ begin, end }) => [Date.parse(begin), Date.parse(end)];

// The time that the answer covers: "12:08:00 to 12:10:00".
function timeOf(answer) {
  return rangeOf(answer).map(clock).join(" to ");
}

// What the shares are parts of; "" where there are none.
export function wholeOf({ ns, answer }) {
  return ns > 0 ? `of ${duration(ns)} in all, ${timeOf(answer)}` : "";
}

// What the line itself does not say of its waits. `most`: the time of the stack that is shown.
function sentencesOf({ waits, ns, lastingNs, stacks }, most) {
  const sentences = [];
  const ended = Math.round(waits);
  if (ended > 0) sentences.push(`About ${counted(ended, "wait")} ended.`);
  if (lastingNs > 0) sentences.push(`Waits that lasted at the end have ${duration(lastingNs)} of it.`);
  if (stacks.size > 1) {
    const share = portion(most / ns);
    sentences.push(`Of ${stacks.size} stacks that differ in the kernel, this one has ${share}.`);
  }
  return [...sentences, "The innermost function first:"].join(" ");
}

// The heaviest stack of the line, whole. The others differ from it in the kernel alone.
function wholeStack(line) {
  const [[frames, most]] = [...line.stacks].sort(([, a], [, b]) => b - a);
  const items = [...frames].reverse().map(({ name, object, kind }) =>
    element(
      "li",
      { class: kind === "kernel" ? "quiet" : null },
      name,
      object === "" ? null : element("small", { class: "quiet" }, ` ${object}`),
    ),
  );
  return [
    element("p", { class: "quiet detail" }, sentencesOf(line, most)),
    element("ol", { class: "stack" }, ...items),
  ];
}

// The whole stack is made when somebody wants to see it.
function stackLine(line, whole, { open, toggled }) {
  const { kind, site, text, ns } = line;
  const key = keyOf(line.place);
  const purpose = kindWord(kind) + (site === "" ? "" : `: ${visible(site)}`);
  const isOpen = open.has(key);
  const toggle = ({ target: details }) => {
    if (!details.isConnected) return;
    if (details.open && details.children.length === 1) details.append(...wholeStack(line));
    toggled(key, details.open);
  };
  return element(
    "li",
    {},
    element(
      "details",
      { open: isOpen, toggle },
      element(
        "summary",
        { title: text },
        element("span", { class: "cut" }, kindMark(kind), purpose),
        element("span", { class: "number" }, portion(ns / whole)),
        element("span", { class: "number" }, duration(ns)),
        element("span", { class: "functions cut quiet" }, text),
      ),
      ...(isOpen ? wholeStack(line) : []),
    ),
  );
}

function emptyText(answer, isQueued) {
  const bound = boundOf(answer);
  const queue = isQueued ? " Waits for a CPU have no stacks." : "";
  return `No wait of it that is not idle is in the snapshots, ${timeOf(answer)}${bound}.${queue}`;
}

// The first argument comes from stackLines(). `isQueued`: the unit mostly waits for a CPU; `open`: the keys
// of lines that are open; `toggled(key, isOpen)`: somebody opened or closed one; `all(range)`: the address
// of all stacks.
export function stacksList({ lines, ns, answer }, { isQueued, open, toggled, all }) {
  if (lines.length === 0) return [element("p", { class: "quiet" }, emptyText(answer, isQueued))];
  const list = lines.slice(0, MOST_STACKS).map((line) => stackLine(line, ns, { open, toggled }));
  const notes = [];
  const more = lines.length - list.length;
  if (more > 0) notes.push(element("a", { href: all(rangeOf(answer)) }, counted(more, "other stack")), " ");
  const { lost_of_any_seconds: lost = 0 } = answer;
  if (lost > 0) notes.push(`Samples of ${time(lost)} were lost; some may be of this unit.`);
  return [
    element("ol", { class: "stacks" }, ...list),
    notes.length > 0 ? element("p", { class: "quiet detail" }, ...notes) : null,
  ];
}
