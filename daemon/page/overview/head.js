// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { byId, element, setText } from "../shared/elements.js";
import { bytes, clock, count, portion, time } from "../shared/numbers.js";

const NEARLY_FULL = 0.9;

// Of these events nothing is missing.
const LOSES_NOTHING = "takers_full";

// What is wrong with the daemon itself, in words.
function troublesOf(status) {
  const lost = Object.entries(status.lost_events).filter(
    ([cause, events]) => events > 0 && cause !== LOSES_NOTHING,
  );
  const full = status.maps.filter((map) => map.entries > NEARLY_FULL * map.capacity);
  const missing = status.features.filter((feature) => !feature.enabled);
  const { config } = status;
  return [
    status.last_pass === null ? "no pass so far" : null,
    status.pass_failures > 0 ? `${count(status.pass_failures)} passes have failed` : null,
    lost.length > 0
      ? `events lost since the start: ${lost.map(([cause, events]) => `${cause} ${count(events)}`).join(", ")}`
      : null,
    status.series_folded > 0 ? `${count(status.series_folded)} more series are summed in (other)` : null,
    full.length > 0
      ? `nearly full: ${full.map((map) => `${map.map} ${count(map.entries)} of ${count(map.capacity)}`).join(", ")}`
      : null,
    missing.length > 0
      ? `this kernel lacks ${missing.map((feature) => `${feature.name}: ${feature.detail}`).join("; ")}`
      : null,
    config.last_reload_successful
      ? null
      : `the previous configuration is in force: ${config.last_reload_error}`,
  ].filter((trouble) => trouble !== null);
}

// The host, whether the numbers are current, and how the daemon is.
export class Head {
  constructor() {
    this.host = byId("host");
    this.line = byId("state");
    this.banner = byId("banner");
    this.main = byId("main");
    this.health = byId("health");
    this.answered = null; // time of the last answer
    this.failed = null; // since when there is none
    this.status = null;
    this.first = undefined; // revision of the daemon that served this page
    this.wasRestarted = false;
  }

  // `every`: milliseconds to the next attempt; 0: none.
  gone(every) {
    this.failed ??= Date.now();
    const since =
      this.answered === null
        ? "The daemon does not answer."
        : `The daemon has not answered since ${clock(this.answered)} UTC; the numbers are from then.`;
    const next = every > 0 ? ` Trying again every ${every / 1000} s.` : "";
    this.say("no answer", "gone");
    this.warn(since + next);
    this.main.classList.add("stale");
  }

  // `status`: an answer; `taken`: when the numbers were read; `mode`: "live", "paused", "then".
  here(status, taken, mode) {
    this.answered = Date.now();
    this.failed = null;
    this.main.classList.remove("stale");
    if (status.value !== undefined) {
      this.wasRestarted ||= status.value.uptime_seconds < this.status?.uptime_seconds;
      this.status = status.value;
      this.first ??= this.status.revision;
      setText(this.host, visible(this.status.host || "offcpud"));
    }
    const words = { live: "live, ", paused: "paused, ", then: "not live: a range is chosen, " };
    this.say(
      `${words[mode]}${clock(taken)} UTC${this.wasRestarted ? "; the daemon was restarted" : ""}`,
      mode,
    );
    this.warn(this.warningOf());
    this.showHealth(status);
  }

  // A sentence that stands above everything; "": none.
  warningOf() {
    if (this.status === null) return "";
    const { version, revision, threads } = this.status;
    if (revision !== this.first) return `The daemon is ${version} (${revision}) now: reload this page.`;
    const stuck = (threads ?? []).filter((thread) => thread.sentence).map((thread) => thread.sentence);
    if (stuck.length === 0) return "";
    return `Of the daemon itself: ${stuck.join("; ")}. Numbers that it makes may be old.`;
  }

  warn(sentence) {
    this.banner.hidden = sentence === "";
    setText(this.banner, visible(sentence));
  }

  // Screen readers announce only what has changed.
  say(sentence, mode) {
    setText(this.line, sentence);
    this.line.className = mode;
  }

  showHealth({ value: status, error }) {
    if (status === undefined) {
      setText(this.health, error);
      return;
    }
    const use = status.own_use;
    const ratio = use?.overhead_ratio ?? null;
    const share = ratio === null ? "" : ` and ${portion(ratio)} of the CPUs`;
    const about = `offcpud ${status.version}, Linux ${status.kernel}, up for ${time(Math.floor(status.uptime_seconds))}`;
    const takes = use ? `; takes ${bytes(use.resident_bytes)}${share}` : "";
    const troubles = troublesOf(status);
    const text = `${about}${takes}; ${troubles.length === 0 ? "nothing lost." : ""}`;
    const bad =
      troubles.length > 0 ? element("span", { class: "bad" }, visible(`${troubles.join("; ")}.`)) : "";
    const key = text + troubles.join();
    if (this.healthKey === key) return;
    this.healthKey = key;
    this.health.replaceChildren(visible(text), bad);
  }
}
