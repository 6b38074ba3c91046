// SPDX-License-Identifier: Apache-2.0
import { duration, episodes, share, signed } from "./format.js";

const WHAT = {
  root: "everything shown",
  group: "",
  user: "",
  kernel: "kernel",
  separator: "above: what ended the wait, upside down",
  waker: "waker",
  progress: "",
};

const MOST_TAILS = 3;

// What is folded into a frame, outermost first; of several, which part of the time each is.
export function tailTexts(node) {
  const { tails } = node;
  if (!tails || tails.every(({ frames }) => frames.length === 1)) return [];
  const amount = (sums) => Math.max(sums.ns, sums.beforeNs);
  const whole = tails.reduce((sum, tail) => sum + amount(tail), 0);
  const texts = tails.slice(0, MOST_TAILS).map((tail) => {
    const names = tail.frames.map(({ name }) => name).join(" › ");
    return tails.length === 1 ? `folded: ${names}` : `folded, ${share(amount(tail), whole)}: ${names}`;
  });
  if (tails.length > MOST_TAILS) texts.push(`and ${tails.length - MOST_TAILS} more such tails`);
  return texts;
}

// Text lines about one node of the tree, for the tooltip and for screen readers.
export function describe(node, root, isDifference) {
  const origin = [node.object, WHAT[node.kind]].filter((text) => text !== "" && text !== undefined);
  const lines = [node.name];
  if (origin.length > 0) lines.push(origin.join(", "));
  lines.push(`${duration(node.ns)}, ${share(node.ns, root.ns)}, ${episodes(node.episodes)}`);
  if (isDifference) {
    const before = `${duration(node.beforeNs)}, ${share(node.beforeNs, root.beforeNs)}`;
    lines.push(`earlier: ${before}, ${episodes(node.beforeEpisodes)}`);
    lines.push(`change: ${signed(node.ns - node.beforeNs)}`);
  }
  lines.push(...tailTexts(node));
  if (node.progressNs > 0) lines.push(`of this in progress: ${duration(node.progressNs)}`);
  return lines;
}
