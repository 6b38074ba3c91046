// SPDX-License-Identifier: Apache-2.0

// Hue, saturation and lightness of frames. Labels on them are black in light and dark mode.
const KINDS = {
  root: [0, 0, 82],
  group: [0, 0, 74],
  user: [208, 75, 76],
  kernel: [36, 90, 68],
  separator: [0, 0, 60],
  waker: [150, 50, 68],
};
const MATCH = "hsl(300 90% 78%)";
export const HATCHED = "url(#in-progress)";

// The same name always has the same shade.
function shade(name) {
  let hash = 0;
  for (let i = 0; i < name.length; i += 1) hash = (hash * 31 + name.charCodeAt(i)) % 997;
  return (hash / 997) * 12 - 6;
}

// From -1 (all gone) to 1 (all new).
export function growth(node) {
  const largest = Math.max(node.ns, node.beforeNs);
  return largest === 0 ? 0 : (node.ns - node.beforeNs) / largest;
}

function differenceColor(node) {
  const change = growth(node);
  const lightness = 90 - 32 * Math.abs(change);
  if (Math.abs(change) < 0.005) return "hsl(0 0% 86%)";
  return `hsl(${change > 0 ? 4 : 214} 85% ${lightness.toFixed(1)}%)`;
}

export function colorOf(node, isDifference) {
  if (node.matches) return MATCH;
  if (node.kind === "progress") return HATCHED;
  if (isDifference && node.kind !== "separator") return differenceColor(node);
  const [hue, saturation, lightness] = KINDS[node.kind];
  return `hsl(${hue} ${saturation}% ${(lightness + shade(node.name)).toFixed(1)}%)`;
}
