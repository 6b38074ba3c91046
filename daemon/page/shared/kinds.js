// SPDX-License-Identifier: Apache-2.0
// What threads wait for, in the order in which pictures stack them. The colours are in tokens.css.
import { element } from "./elements.js";

const KIND_WORDS = {
  cpu: "CPU",
  lock: "lock",
  answer: "answer",
  storage: "storage",
  memory: "memory",
  stopped: "stopped",
  unknown: "unknown",
  throttled: "CPU",
  work: "work",
  timer: "timer",
};

export const STACKED = ["cpu", "lock", "answer", "storage", "memory", "stopped", "unknown"];

// Completes "wait".
const WAITS_FOR = {
  cpu: "for a CPU",
  throttled: "for a CPU, held back by cpu.max",
  lock: "for a lock",
  answer: "for an answer",
  storage: "for storage",
  memory: "for memory",
  stopped: "because they are stopped",
  work: "for work",
  timer: "for a timer",
  unknown: "for what nobody can tell",
};

export function kindWord(kind) {
  return KIND_WORDS[kind] ?? kind;
}

export function waitsFor(kind) {
  return WAITS_FOR[kind] ?? `for ${kind}`;
}

// The class that has the colour of the kind.
export function kindClass(kind) {
  return kind === "throttled" ? "cpu" : kind in KIND_WORDS ? kind : "unknown";
}

export function kindMark(kind) {
  return element("i", { class: `kind ${kindClass(kind)}`, "aria-hidden": "true" });
}
