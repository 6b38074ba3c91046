// SPDX-License-Identifier: Apache-2.0

// Calls `poll(signal)` again and again, `every` milliseconds after it has ended, never twice at
// once, and not while the page cannot be seen.
export class Poller {
  constructor(poll, every) {
    this.poll = poll;
    this.every = every; // 0: only when asked to
    this.timer = null;
    this.running = new AbortController();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.stop();
      else this.now();
    });
  }

  setInterval(every) {
    this.every = every;
    this.now();
  }

  stop() {
    window.clearTimeout(this.timer);
    this.running.abort();
  }

  // At once; what was under way is given up.
  async now() {
    this.stop();
    const mine = new AbortController();
    this.running = mine;
    await this.poll(mine.signal);
    if (mine.signal.aborted || this.every === 0 || document.hidden) return;
    this.timer = window.setTimeout(() => this.now(), this.every);
  }
}
