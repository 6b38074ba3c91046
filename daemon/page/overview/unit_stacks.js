// SPDX-License-Identifier: Apache-2.0
// Asks for the stacks in which a unit waited. They come with snapshots, so it asks less often than the page
// does, and the other numbers do not wait for the answer.

const MERGE = "api/v1/snapshots/merge";
const AGAIN_MS = 30_000; // the daemon reads files for an answer, and writes one file a minute
const RECENT = ["-90s", "-10min"]; // the second is for snapshots that take longer than a minute
const NOT_THERE = 404;

export class UnitStacks {
  // `ask(path, parameters, signal)`: as Questions.once(); `changed()`: there is an answer.
  constructor(ask, changed) {
    Object.assign(this, { ask, changed, running: new AbortController() });
    this.forget();
  }

  forget() {
    this.running.abort();
    this.key = "";
    this.answer = undefined;
  }

  // The answer or refusal about a cgroup, or undefined before the first one. `range`: null for now.
  of(cgroup, range) {
    const key = JSON.stringify([cgroup, range]);
    if (key !== this.key) {
      this.forget();
      this.key = key;
      this.read(cgroup, range);
    } else if (!this.isReading && !this.isWhole(range) && performance.now() - this.asked >= AGAIN_MS) {
      this.read(cgroup, range);
    }
    return this.answer;
  }

  // Whether no further snapshot belongs to the range.
  isWhole(range) {
    return range !== null && Date.parse(this.answer?.value?.end) >= range[1];
  }

  async read(cgroup, range) {
    const { signal } = (this.running = new AbortController());
    this.isReading = true;
    this.asked = performance.now();
    try {
      const answer = await this.answerOf({ cgroup, idle: false }, range, signal);
      if (signal.aborted) return;
      this.answer = answer;
    } catch (error) {
      if (signal.aborted) return;
      if (error.name !== "Gone") throw error;
      this.answer ??= { error: "The daemon does not answer." };
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
    this.changed();
  }

  async answerOf(about, range, signal) {
    if (range !== null) {
      const [from, to] = range.map((at) => new Date(at).toISOString());
      return this.ask(MERGE, { ...about, from, to }, signal);
    }
    const [minute, longer] = RECENT;
    const answer = await this.ask(MERGE, { ...about, from: minute }, signal);
    return answer.status === NOT_THERE ? this.ask(MERGE, { ...about, from: longer }, signal) : answer;
  }
}
