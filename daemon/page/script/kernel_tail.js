// SPDX-License-Identifier: Apache-2.0
// Between the last function of a program and the scheduler, a stack has functions of the kernel: four
// to fifteen, which say little more than the system call. They are folded into one frame.
import { add, nothing } from "./totals.js";

// How a program enters the kernel. All system calls have these functions, so none is named by them.
const ENTRIES = new RegExp(
  "^(entry_\\w+|do_syscall_64|x64_sys_call|\\w*do_fast_syscall_32|do_int80_\\w+" + // x86
    "|el0\\w*|do_el0_svc\\w*|invoke_syscall)(\\.|$)", // arm64
);

// The kernel's frames at the end of a stack, as {at, frames, named}: where they begin, all of them, and
// the outermost one that says what they do, such as the system call. null: there are none, or they are
// all that a thread of the kernel has, which is then its program.
export function kernelTail(stack) {
  const at = stack.findLastIndex((frame) => frame.kind !== "kernel") + 1;
  const frames = stack.slice(at);
  const isCall = frames.length > 0 && ENTRIES.test(frames[0].name); // of a program without a stack
  if (frames.length === 0 || (at === 0 && !isCall)) return null;
  const named = frames.find(({ name }) => !ENTRIES.test(name)) ?? frames[0];
  return { at, frames, named };
}

// Folds stacks. The same function is the same frame in all of them, whatever it has called.
export class Folder {
  // `kind`: of the folded frames.
  constructor(kind) {
    this.kind = kind;
    this.known = new Map(); // what is made of a stack
    this.frames = new Map(); // folded frames by the one that names them
    this.tails = { next: new Map(), tail: null };
  }

  // {path, fold}: the stack with its tail in one frame, and this frame with the `tail` that it has
  // here; null: nothing is folded.
  fold(stack) {
    if (!this.known.has(stack)) this.known.set(stack, this.folded(stack));
    return this.known.get(stack);
  }

  folded(stack) {
    const tail = kernelTail(stack);
    if (tail === null) return { path: stack, fold: null };
    const { at, frames, named } = tail;
    if (!this.frames.has(named)) {
      this.frames.set(named, { name: named.name, object: named.object, kind: this.kind, isFold: true });
    }
    const frame = this.frames.get(named);
    return { path: [...stack.slice(0, at), frame], fold: { frame, tail: this.tailOf(frames) } };
  }

  // The same frames are the same tail.
  tailOf(frames) {
    let place = this.tails;
    for (const frame of frames) {
      if (!place.next.has(frame)) place.next.set(frame, { next: new Map(), tail: null });
      place = place.next.get(frame);
    }
    place.tail ??= { frames };
    return place.tail;
  }
}

// What a folded frame has in these items: [{frames, ns, ...}], the longest time first.
export function tailsOf(frame, items) {
  const tails = new Map();
  for (const { folds, amounts } of items) {
    const fold = folds.find((each) => each.frame === frame);
    if (!fold) continue;
    const { tail } = fold;
    if (!tails.has(tail)) tails.set(tail, { ...tail, ...nothing() });
    add(tails.get(tail), amounts);
  }
  return [...tails.values()].sort((a, b) => b.ns + b.beforeNs - a.ns - a.beforeNs);
}

// " +5": how many frames are folded into the one that is named; " +4–6" where stacks differ.
export function countText(tails) {
  const counts = tails.map(({ frames }) => frames.length - 1);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (most === 0) return "";
  return least === most ? ` +${most}` : ` +${least}–${most}`;
}
