// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { element } from "./rows.js";

// What the daemon says in words: who waits for what, or that nobody does; stalls; who idles.
export class Now {
  constructor() {
    this.list = document.getElementById("now");
  }

  show({ value: status }) {
    const lines = status?.waiting ?? [];
    this.list.replaceChildren(
      ...lines.map((line) =>
        element("li", { className: line.startsWith("idle: ") ? "quiet" : "" }, visible(line)),
      ),
    );
  }
}
