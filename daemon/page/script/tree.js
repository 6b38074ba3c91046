// SPDX-License-Identifier: Apache-2.0
import { countText, Folder, tailsOf } from "./kernel_tail.js";
import { visible } from "./names.js";
import { add, nothing } from "./totals.js";

const SEPARATOR = { name: "--", object: "", kind: "separator" };
const IN_PROGRESS = { name: "[in progress]", object: "the wait went on after this snapshot", kind: "progress" };
const NO_FOLDS = [];
const NO_WAKER = { name: "[no waker]", object: "", kind: "waker" };

// The sum of a day has up to 100,000 stacks, and no browser draws millions of frames: narrower
// parts than this are left out of the picture, and of nothing else.
const MANY_ROWS = 2_000;
const LEAST_PART = 1 / 50_000;

// Frames are compared by identity, so equal ones must be the same object.
class Frames {
  constructor(table, { kernel }) {
    this.table = table;
    this.wakers = new Map(); // by frame of the table
    this.names = new Map();
    this.folder = kernel ? null : new Folder("kernel");
    this.wakerFolder = kernel ? null : new Folder("waker");
  }

  named(name, kind) {
    const key = kind + name;
    if (!this.names.has(key)) {
      this.names.set(key, { name: visible(name) || "[no name]", object: "", kind });
    }
    return this.names.get(key);
  }

  waker(frame) {
    if (frame.kind === "waker") return frame; // folded
    if (!this.wakers.has(frame)) this.wakers.set(frame, { ...frame, kind: "waker" });
    return this.wakers.get(frame);
  }

  // {path, fold}: as of Folder.
  stack(row, column, folder) {
    const frames = this.table.framesOf(row, column);
    return folder === null ? { path: frames, fold: null } : folder.fold(frames);
  }

  // What ended the wait, in reverse like offwaketime's: the two stacks meet at the separator.
  wakerPath(row) {
    if (row[this.table.column.in_progress]) return { path: [SEPARATOR, IN_PROGRESS], fold: null };
    const name = this.table.text(row, "waker");
    const { path, fold } = this.stack(row, "waker_stack", this.wakerFolder);
    const frames = path.map((frame) => this.waker(frame)).reverse();
    return { path: [SEPARATOR, ...frames, name === "" ? NO_WAKER : this.named(name, "waker")], fold };
  }

  // {path, folds}: the frames from the root, and what is folded in some of them.
  of(row, { group, wakers }) {
    const first = this.named(this.table.text(row, group), "group");
    const { path, fold } = this.stack(row, "stack", this.folder);
    const folds = fold === null ? NO_FOLDS : [fold];
    if (!wakers) {
      const isInProgress = row[this.table.column.in_progress];
      return { path: isInProgress ? [first, ...path, IN_PROGRESS] : [first, ...path], folds };
    }
    const waker = this.wakerPath(row);
    const both = waker.fold === null ? folds : [...folds, waker.fold];
    return { path: [first, ...path, ...waker.path], folds: both };
  }
}

function byName(a, b) {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.kind < b.kind ? -1 : 1;
}

// The node of these items and the sums of everything above it. The chart reads `value`.
function nodeOf(frame, items, width) {
  const { name, object, kind } = frame;
  const node = { name, object, kind, frame, ...nothing(), children: [] };
  for (const item of items) add(node, item.amounts);
  node.value = node[width];
  return node;
}

function tellTails(node, items) {
  node.tails = tailsOf(node.frame, items);
  node.name += countText(node.tails);
}

function grow(node, items, depth, options) {
  const groups = new Map();
  for (const item of items) {
    const frame = item.path[depth];
    if (frame === undefined) continue;
    if (groups.has(frame)) groups.get(frame).push(item);
    else groups.set(frame, [item]);
  }
  for (const [frame, members] of groups) {
    const child = nodeOf(frame, members, options.width);
    if (child.value === 0 || child.value < options.least) continue;
    if (frame.isFold) tellTails(child, members);
    node.children.push(child);
    grow(child, members, depth + 1, options);
  }
  node.children.sort(byName);
}

// The rows as paths from the root with their sums. options: `group` (the column on the first
// level), `wakers` (with what ended the wait), `kernel` (with each frame of the kernel).
export function itemsOf(table, rows, options) {
  const frames = new Frames(table, options);
  return rows.map((row) => ({ row, ...frames.of(row, options), amounts: table.amounts(row) }));
}

// One tree of these paths. `width`: the value to draw, ns or beforeNs.
export function treeOf(items, width) {
  const root = nodeOf({ name: "all", object: "", kind: "root" }, items, width);
  const least = items.length > MANY_ROWS ? root.value * LEAST_PART : 0;
  grow(root, items, 0, { width, least });
  return root;
}

// Those whose paths go through all of these frames, which begin after the root.
export function itemsThrough(items, frames) {
  return items.filter(({ path }) => frames.every((frame, depth) => path[depth] === frame));
}
