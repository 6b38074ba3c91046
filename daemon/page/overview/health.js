// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { bytes, count, time } from "./numbers.js";
import { element, showError } from "./rows.js";

const NEARLY_FULL = 0.9;

function losses(status) {
  const lost = Object.entries(status.lost_events).filter(([, events]) => events > 0);
  if (lost.length === 0) return ["Events lost", "none since the start", false];
  const text = lost.map(([cause, events]) => `${cause} ${count(events)}`).join(", ");
  return ["Events lost since the start", text, true];
}

function pass(status) {
  const last = status.last_pass;
  if (!last) return ["Last pass", "none so far", true];
  const text = `${time(last.age_seconds)} ago, took ${time(last.duration_seconds)}`;
  const failed = status.pass_failures > 0 ? `; ${count(status.pass_failures)} have failed` : "";
  return ["Last pass", text + failed, status.pass_failures > 0];
}

function series(status) {
  const folded = status.series_folded;
  const cgroups = status.subjects === 1 ? "cgroup" : "cgroups";
  const text = `${count(status.series)} of ${count(status.subjects)} ${cgroups}`;
  const rest = folded > 0 ? `; ${count(folded)} more are summed in (other)` : "";
  return ["Histogram series", text + rest, folded > 0];
}

function tables(status) {
  const full = status.maps.filter((map) => map.entries > NEARLY_FULL * map.capacity);
  if (full.length === 0) return null;
  const text = full.map((map) => `${map.map} ${count(map.entries)} of ${count(map.capacity)}`);
  return ["Nearly full", text.join(", "), true];
}

// `now`: the time on the daemon's host.
function snapshots(answer, now) {
  if (answer === null) return null;
  if (answer.error !== undefined) return ["Snapshots", answer.error, false];
  const { snapshots: kept, bytes: size } = answer.value;
  if (kept.length === 0) return ["Snapshots", "none so far", false];
  const age = Math.max(0, (now - Date.parse(kept.at(-1).end)) / 1000);
  const text = `${count(kept.length)}, ${bytes(size)}, the last ended ${time(Math.floor(age))} ago`;
  return ["Snapshots", text, false];
}

function features(status) {
  const missing = status.features.filter((feature) => !feature.enabled);
  if (missing.length === 0) return ["Features missing", "none", false];
  const text = missing.map((feature) => `${feature.name}: ${feature.detail}`).join("; ");
  return ["Features missing", text, true];
}

function reload({ config }) {
  if (config.last_reload_successful) return null;
  return ["Configuration", `the previous one is in force: ${config.last_reload_error}`, true];
}

// The state of the daemon itself.
export class Health {
  constructor() {
    this.list = document.getElementById("health");
  }

  // `kept`: the answer about snapshots; null: not requested yet. `now`: milliseconds since 1970.
  show({ value: status, error }, kept, now) {
    showError("health", error);
    if (status === undefined) {
      this.list.replaceChildren();
      return;
    }
    const about = `${status.version} on Linux ${status.kernel}, up for ${time(
      Math.floor(status.uptime_seconds),
    )}`;
    const items = [
      ["offcpud", about, false],
      losses(status),
      pass(status),
      series(status),
      tables(status),
      snapshots(kept, now),
      features(status),
      reload(status),
    ];
    this.list.replaceChildren(
      ...items.filter(Boolean).flatMap(([name, text, isBad]) => [
        element("dt", {}, name),
        element("dd", { className: isBad ? "bad" : "" }, visible(text)),
      ]),
    );
  }
}
