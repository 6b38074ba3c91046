// SPDX-License-Identifier: Apache-2.0
import { exactSeconds, episodes, share } from "./format.js";

// The sums above the picture. The attributes are meant for programs.
export function showTotals(element, shown, all, isDifference) {
  const parts = [`${exactSeconds(shown.ns)} in ${episodes(shown.episodes)} shown`];
  if (isDifference) parts.push(`earlier ${exactSeconds(shown.beforeNs)}`);
  parts.push(`${share(shown.ns, all.ns)} of ${exactSeconds(all.ns)} off CPU`);
  if (shown.progressNs > 0) parts.push(`${exactSeconds(shown.progressNs)} in progress`);
  element.textContent = parts.join(" · ");
  Object.assign(element.dataset, {
    shownNs: shown.ns,
    allNs: all.ns,
    beforeNs: shown.beforeNs,
    progressNs: shown.progressNs,
  });
}

export function showLegend(element, isDifference, wakers) {
  for (const item of element.children) {
    const { of } = item.dataset;
    item.hidden =
      (of === "difference" && !isDifference) ||
      (of === "plain" && isDifference) ||
      (of === "wakers" && (!wakers || isDifference));
  }
}

// The source of the data, if the page is a file and has no range to select.
export function originOf(answer) {
  const part = ({ begin, end, snapshots }) => `${begin} to ${end}, ${snapshots} snapshots`;
  return part(answer) + (answer.base ? `; compared with ${part(answer.base)}` : "");
}

// Why the sums are incomplete, in words; "": they are complete.
export function caveatOf(answer) {
  const damaged = answer.unreadable + (answer.base?.unreadable ?? 0);
  const caveats = [];
  if (damaged > 0) caveats.push(`${damaged} snapshots of this time cannot be read`);
  for (const filter of answer.captured ?? []) caveats.push(`captured with ${filter} only`);
  if (answer.partial) caveats.push("the daemon stopped within this time");
  return caveats.join("; ");
}
