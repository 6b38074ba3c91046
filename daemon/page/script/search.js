// SPDX-License-Identifier: Apache-2.0

// What a term means: a part of a name or, between slashes, a regular expression; null: nothing.
// Case is ignored. Throws if the expression is invalid.
export function matcher(term) {
  if (term === "") return null;
  if (term.length > 2 && term.startsWith("/") && term.endsWith("/")) {
    const expression = new RegExp(term.slice(1, -1), "i");
    return (frame) => expression.test(frame.name);
  }
  const part = term.toLowerCase();
  return (frame) => frame.name.toLowerCase().includes(part);
}

// A folded frame has the names of all that is in it.
function isFound(node, matches) {
  if (!node.tails) return matches(node);
  return node.tails.some(({ frames }) => frames.some(matches));
}

// Marks the nodes of a tree that match; null: unmarks all.
export function mark(node, matches) {
  node.matches = matches !== null && isFound(node, matches);
  for (const child of node.children) mark(child, matches);
}

// The sum of all items (tree.js) with a matching frame, once each, drawn or not, folded or not.
export function amountOf(items, matches, amount) {
  const known = new Map(); // frames are few, but occur on many paths
  const isMatch = (frame) => {
    if (!known.has(frame)) known.set(frame, matches(frame));
    return known.get(frame);
  };
  let sum = 0;
  for (const { path, folds, amounts } of items) {
    const isIn = path.some(isMatch) || folds.some(({ tail }) => tail.frames.some(isMatch));
    if (isIn) sum += amounts[amount];
  }
  return sum;
}
