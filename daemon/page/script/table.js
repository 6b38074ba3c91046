// SPDX-License-Identifier: Apache-2.0
import { visible } from "./names.js";

const COLUMNS = [
  "pid", "comm", "thread", "cgroup", "reason", "in_progress", "stack", "waker", "waker_stack",
  "ns", "episodes",
];

const LINE = 3; // of a frame: where its line is

// Columns that answers of earlier daemons lack, with what their rows would say.
const LATER_COLUMNS = { for: "unknown", site: "" };

function frameOf([name, object, kernel], strings) {
  return {
    name: visible(strings[name]) || "[unknown]",
    object: visible(strings[object]),
    kind: kernel ? "kernel" : "user",
  };
}

// An answer of /api/v1/snapshots/merge or /difference: rows of numbers that refer to tables of
// strings, frames and stacks (docs/http.md, "Snapshots").
export class StackTable {
  constructor(answer) {
    const missing = COLUMNS.filter((name) => !answer.columns?.includes(name));
    if (missing.length > 0) {
      throw new Error("the data lack " + missing.join(", ") + "; are they of another version?");
    }
    this.answer = answer;
    this.rows = answer.rows;
    this.stacks = answer.stacks;
    const known = new Map(); // frames that differ only in their address or line become one object
    this.frames = answer.frames.map((frame) => {
      const key = frame.slice(0, LINE).join();
      if (!known.has(key)) known.set(key, frameOf(frame, answer.strings));
      return known.get(key);
    });
    this.named = new Map(); // stacks as frames, by number
    this.column = Object.fromEntries(answer.columns.map((name, index) => [name, index]));
    this.isDifference = "before_ns" in this.column;
  }

  // The text of `comm`, `thread`, `cgroup`, `reason`, `for`, `site` or `waker`, as the daemon wrote it.
  text(row, column) {
    if (!(column in this.column)) return LATER_COLUMNS[column];
    return this.answer.strings[row[this.column[column]]];
  }

  // The same stack is the same list.
  framesOf(row, column) {
    const number = row[this.column[column]];
    if (!this.named.has(number)) {
      this.named.set(
        number,
        this.stacks[number].map((frame) => this.frames[frame]),
      );
    }
    return this.named.get(number);
  }

  // Whether the stack has no user part.
  isKernelThread(row) {
    return this.framesOf(row, "stack").every((frame) => frame.kind === "kernel");
  }

  amounts(row) {
    const { ns, episodes, before_ns: beforeNs, before_episodes: beforeEpisodes } = this.column;
    return {
      ns: row[ns],
      episodes: row[episodes],
      beforeNs: this.isDifference ? row[beforeNs] : 0,
      beforeEpisodes: this.isDifference ? row[beforeEpisodes] : 0,
      progressNs: row[this.column.in_progress] ? row[ns] : 0,
    };
  }
}
