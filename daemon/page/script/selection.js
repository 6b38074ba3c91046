// SPDX-License-Identifier: Apache-2.0
// Beside the picture: the chosen frame with its whole stack, folded or not, and exact numbers.
import { element } from "../shared/elements.js";
import { kindMark, kindWord } from "../shared/kinds.js";
import { episodes, exactSeconds, share } from "./format.js";
import { visible } from "./names.js";
import { itemsThrough } from "./tree.js";

const NO_BREAK = "\u00a0";
const MOST = 3; // sites, wakers, and tails of a folded frame

// The frames with which all of these stacks begin.
function commonOf(stacks) {
  const [first = [], ...others] = stacks;
  let length = first.length;
  for (const stack of others) {
    let same = 0;
    while (same < length && stack[same] === first[same]) same += 1;
    length = same;
  }
  return first.slice(0, length);
}

// Sums of `amount` by what `keyOf(row)` says, the largest first: [[key, sum], ...].
function largestBy(items, keyOf, amount) {
  const sums = new Map();
  for (const { row, amounts } of items) {
    const key = keyOf(row);
    sums.set(key, (sums.get(key) ?? 0) + amounts[amount]);
  }
  return [...sums].filter(([, sum]) => sum > 0).sort(([, a], [, b]) => b - a);
}

function stackList(frames, chosen) {
  const items = frames.map((frame) =>
    element(
      "li",
      { class: frame.kind, "aria-current": frame === chosen },
      element("span", {}, frame.name),
      frame.object === "" ? null : element("small", {}, ` ${frame.object}`),
    ),
  );
  return element("ol", { class: "stack" }, ...items);
}

// The standard error of the sum of `column`; "": it is not known, or there is none.
function errorText(items, table, column) {
  const at = table.column[column];
  if (at === undefined) return "";
  const variance = items.reduce((sum, { row }) => sum + row[at], 0);
  return variance > 0 ? ` ± ${exactSeconds(Math.sqrt(variance))}` : "";
}

export class Selection {
  constructor(box, title) {
    this.box = box;
    this.title = title;
  }

  clear() {
    this.title.textContent = "";
    this.box.replaceChildren();
  }

  // `node`: of the picture (chart.js). `shown`: {table, items, amount} of all that is shown.
  show(node, { table, items, amount }) {
    const { data } = node;
    const frames = node.ancestors().reverse().slice(1).map((each) => each.data.frame);
    const mine = itemsThrough(items, frames);
    const isAll = frames.length === 0;
    this.title.textContent = isAll ? "All that is shown" : "Chosen frame";
    const list = [
      ...this.amounts(data, mine, { table, whole: node.ancestors().at(-1).data }),
      ...this.causes(data, mine, table, amount),
    ];
    const terms = list.flatMap(([term, ...parts]) => [element("dt", {}, term), element("dd", {}, ...parts)]);
    this.box.replaceChildren(
      isAll ? "" : element("h3", {}, data.frame.name),
      element("dl", {}, ...terms),
      ...(isAll ? [] : this.stacks(data, mine, table, frames)),
    );
  }

  amounts(data, mine, { table, whole }) {
    const now = `${exactSeconds(data.ns)}${errorText(mine, table, "variance")}`;
    const list = [["waited", `${now}, ${share(data.ns, whole.ns)}`]];
    if (table.isDifference) {
      const before = `${exactSeconds(data.beforeNs)}${errorText(mine, table, "before_variance")}`;
      list.push(["earlier", `${before}, ${share(data.beforeNs, whole.beforeNs)}`]);
      const change = data.ns - data.beforeNs;
      const sign = change > 0 ? "+" : change < 0 ? "−" : "";
      list.push(["change", `${sign}${exactSeconds(Math.abs(change))}`]);
    }
    list.push(["waits", episodes(data.episodes)]);
    const { progressNs } = data;
    if (progressNs > 0) list.push(["lasting", `${exactSeconds(progressNs)} in progress at the end`]);
    return list;
  }

  causes(data, mine, table, amount) {
    const whole = data[amount];
    const part = (sum) => (sum >= whole ? "" : ` ${share(sum, whole).replace(" ", NO_BREAK)}`);
    const listed = (column, nameOf) => {
      const all = largestBy(mine, (row) => table.text(row, column), amount);
      const parts = all.slice(0, MOST).map(([key, sum]) => [...nameOf(key), part(sum)]);
      if (all.length > MOST) parts.push([`${all.length - MOST} more`]);
      const isLast = (i) => i === parts.length - 1;
      return parts.flatMap((each, i) => [element("span", {}, ...each, isLast(i) ? "" : ","), " "]);
    };
    const plain = (missing) => (text) => [text === "" ? missing : visible(text)];
    const causes = [
      ["for", ...listed("for", (kind) => [kindMark(kind), kindWord(kind)])],
      ["site", ...listed("site", plain("none known"))],
      ["ended by", ...listed("waker", plain("not known"))],
      ["reason", ...listed("reason", plain("unknown"))],
    ];
    return causes.filter(([, ...parts]) => parts.length > 0);
  }

  // Whole stacks, from the root: what all that is chosen has in common, and where it parts.
  stacks(data, mine, table, frames) {
    const all = [...new Set(mine.map(({ row }) => table.framesOf(row, "stack")))];
    const common = commonOf(all);
    const above = frames.length - 2; // the group, and the frame itself
    const chosen = common[above] === data.frame ? data.frame : null;
    const parts = [element("h4", {}, "stack"), stackList(common, chosen)];
    const isTail = data.kind === "kernel" && data.tails?.length > 1;
    if (isTail) parts.push(...this.tails(data, common.length - above));
    else if (all.length > 1) parts.push(element("p", {}, `${all.length} different stacks go on from here`));
    return [...parts, ...this.wakerStack(mine, table)];
  }

  // The ends of the stacks, without the first `told` frames, which they have in common.
  tails({ tails, ns, beforeNs }, told) {
    const whole = ns > 0 ? ns : beforeNs;
    const parts = tails.slice(0, MOST).flatMap((tail) => {
      const rest = tail.frames.slice(told);
      const title = `then, in ${share(ns > 0 ? tail.ns : tail.beforeNs, whole)}`;
      return [element("p", {}, rest.length > 0 ? title : `${title}, nothing more`), stackList(rest, null)];
    });
    if (tails.length > MOST) parts.push(element("p", {}, `and ${tails.length - MOST} more such ends`));
    return parts;
  }

  // Of what ended the waits, if it was in one place.
  wakerStack(mine, table) {
    const all = new Set(mine.map(({ row }) => table.framesOf(row, "waker_stack")));
    const [only] = all;
    if (all.size !== 1 || only.length === 0) return [];
    return [element("h4", {}, "stack of what ended it"), stackList(only, null)];
  }
}
