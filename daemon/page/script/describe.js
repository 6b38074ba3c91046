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
  if (node.progressNs > 0) lines.push(`of this in progress: ${duration(node.progressNs)}`);
  return lines;
}
