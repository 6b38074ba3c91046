// SPDX-License-Identifier: Apache-2.0
// Where the boxes of a graph stand: in columns, from those that wait to those that are waited for,
// with few crossings.

const SWEEPS = 8;

// Edges that close a circle are apart: they do not decide about columns. The largest come first.
function withoutCircles(edges) {
  const out = new Map(); // names by name
  const reaches = (from, to) => {
    const seen = new Set([from]);
    const rest = [from];
    while (rest.length > 0) {
      const at = rest.pop();
      if (at === to) return true;
      for (const next of out.get(at) ?? []) {
        if (!seen.has(next)) {
          seen.add(next);
          rest.push(next);
        }
      }
    }
    return false;
  };
  const forward = [];
  const backward = [];
  for (const edge of edges) {
    if (reaches(edge.to, edge.from)) {
      backward.push(edge);
      continue;
    }
    forward.push(edge);
    if (!out.has(edge.from)) out.set(edge.from, []);
    out.get(edge.from).push(edge.to);
  }
  return { forward, backward };
}

// The column of each name: right of everybody who waits for it.
function columnsOf(names, forward) {
  const column = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round += 1) {
    let changed = false;
    for (const { from, to } of forward) {
      if (column.get(to) > column.get(from)) continue;
      column.set(to, column.get(from) + 1);
      changed = true;
    }
    if (!changed) break;
  }
  // For whom nobody waits, right before the first whom it waits for: shorter lines.
  const awaited = new Set(forward.map((edge) => edge.to));
  const firsts = new Map();
  for (const { from, to } of forward)
    firsts.set(from, Math.min(firsts.get(from) ?? Infinity, column.get(to)));
  for (const [name, first] of firsts) if (!awaited.has(name)) column.set(name, first - 1);
  return column;
}

// Puts each name near the middle of its neighbours in other columns, again and again.
function untangle(columns, edges) {
  const place = new Map();
  const number = (column) => column.forEach((name, i) => place.set(name, i - (column.length - 1) / 2));
  columns.forEach(number);
  const near = new Map();
  for (const { from, to, threads: weight } of edges) {
    for (const [one, other] of [
      [from, to],
      [to, from],
    ]) {
      if (!near.has(one)) near.set(one, []);
      near.get(one).push([other, Math.sqrt(weight)]);
    }
  }
  const middle = (name) => {
    const all = near.get(name) ?? [];
    const weight = all.reduce((sum, [, each]) => sum + each, 0);
    return weight === 0
      ? place.get(name)
      : all.reduce((sum, [other, each]) => sum + each * place.get(other), 0) / weight;
  };
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const column of sweep % 2 === 0 ? columns : [...columns].reverse()) {
      const middles = new Map(column.map((name) => [name, middle(name)]));
      column.sort((a, b) => middles.get(a) - middles.get(b));
      number(column);
    }
  }
}

// `edges`: {from, to, threads}, the largest first. Returns {columns, forward, backward}: names by
// column, edges to the right, and those that close circles.
export function layOut(edges) {
  const { forward, backward } = withoutCircles(edges);
  const amounts = new Map();
  for (const { from, to, threads: amount } of edges) {
    for (const name of [from, to]) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  }
  const names = [...amounts.keys()].sort((a, b) => amounts.get(b) - amounts.get(a));
  const column = columnsOf(names, forward);
  const columns = [];
  for (const name of names) (columns[column.get(name)] ??= []).push(name);
  const used = columns.filter(Boolean);
  untangle(used, forward);
  return { columns: used, forward, backward };
}
