// SPDX-License-Identifier: Apache-2.0
import { clockTime, time } from "./numbers.js";

// The line at the top: whether the numbers are current, and from when they are.
export class Connection {
  constructor() {
    this.line = document.getElementById("state");
    this.main = document.querySelector("main");
    this.answered = null; // time of the last answer
    this.status = null;
    this.first = undefined; // revision of the daemon that served this page
    this.wasRestarted = false;
  }

  gone(every) {
    const since =
      this.answered === null
        ? "The daemon does not answer."
        : `The daemon has not answered since ${clockTime(this.answered)}; the numbers are from then.`;
    const next = every > 0 ? ` Trying again every ${every / 1000} s.` : "";
    this.say(since + next, true);
    this.main.classList.add("stale");
  }

  // `status`, `units`: answers of the daemon.
  here(status, units) {
    this.answered = new Date();
    this.main.classList.remove("stale");
    if (status.value !== undefined) {
      this.wasRestarted ||= status.value.uptime_seconds < this.status?.uptime_seconds;
      this.status = status.value;
      this.first ??= this.status.revision;
    }
    this.say(this.sentence(units), this.isOutdated);
  }

  // Shown if the daemon has another version than this page.
  get isOutdated() {
    return this.status !== null && this.status.revision !== this.first;
  }

  sentence({ value }) {
    if (this.isOutdated) {
      return `The daemon is ${this.status.version} (${this.status.revision}) now: reload this page.`;
    }
    const parts = [`Live, ${clockTime(this.answered)}`];
    if (value !== undefined && value.window_seconds === 0) parts.push("first numbers come in seconds");
    if (value?.window_seconds > 0) parts.push(`mean of ${time(Math.round(value.window_seconds))}`);
    if (this.wasRestarted) parts.push("the daemon was restarted, its history begins there");
    return parts.join("; ");
  }

  // Screen readers announce only what has changed.
  say(sentence, isBad) {
    if (this.line.textContent !== sentence) this.line.textContent = sentence;
    this.line.classList.toggle("bad", isBad);
  }
}
