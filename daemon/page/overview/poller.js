// SPDX-License-Identifier: Apache-2.0

// Calls `poll(signal)` repeatedly, `every` milliseconds after the last call ended. Never runs two
// calls at once, and pauses while the page is hidden.
export class Poller {
  constructor(poll, every) {
    this.poll = poll;
    this.every = every; // 0: only on request
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

  // Polls now and aborts the call in progress.
  async now() {
    this.stop();
    const mine = new AbortController();
    this.running = mine;
    await this.poll(mine.signal);
    if (mine.signal.aborted || this.every === 0 || document.hidden) return;
    this.timer = window.setTimeout(() => this.now(), this.every);
  }
}
