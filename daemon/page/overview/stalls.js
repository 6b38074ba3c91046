// SPDX-License-Identifier: Apache-2.0
import { visible } from "../script/names.js";
import { age } from "./numbers.js";
import { cell, element, fillRows, showError } from "./rows.js";

// Who is to blame, as far as that is known: "held by worker [101], a deadlock", "on redis.service".
function culpritOf({ held_by: held, waits_on: peer, waits_for: object }) {
  if (held) {
    const who = `held by ${held.comm ?? held.process ?? "?"} [${held.tid ?? held.pid ?? "?"}]`;
    return held.deadlock ? [who, "a deadlock"] : [who];
  }
  const owner = object?.futex?.owner;
  if (owner) return [`held by ${owner.comm ?? "?"} [${owner.tid}]`];
  return peer ? [`on ${peer.on}`] : [];
}

// What a thread waits for, in words: "lock, postgresql-heavyweight-lock", "storage, /var/log/x".
function objectOf(stall) {
  const { futex, file, socket } = stall.waits_for ?? {};
  const words = [stall.for ?? stall.reason];
  if (stall.site) words.push(stall.site);
  const culprit = culpritOf(stall);
  words.push(...culprit);
  if (futex && culprit.length === 0) words.push(`futex ${futex.address ?? futex.id ?? ""}`);
  if (file?.path) words.push(file.path);
  if (socket && typeof socket === "string") words.push(socket);
  return visible(words.join(", "));
}

function threadOf(stall) {
  const process = stall.process ?? stall.comm;
  const thread = stall.comm === process ? "" : ` (${stall.comm})`;
  return visible(`${process}${thread} [${stall.tid ?? "?"}]`);
}

// Those that have lasted as long and are no stalls.
function untold(counts) {
  const { work = 0, timer = 0, child = 0, unknown = 0 } = counts ?? {};
  const words = [
    [work, "wait for work"],
    [timer, "for a timer"],
    [child, "for their own children"],
    [unknown, "for what nobody can tell"],
  ].filter(([threads]) => threads > 0);
  if (words.length === 0) return [];
  return [`as long, and not stuck: ${words.map(([threads, what]) => `${threads} ${what}`).join(", ")}`];
}

// Nobody can tell what these are for, so they are no stalls.
function unusualWaits(waits) {
  const count = waits?.length ?? 0;
  if (count === 0) return [];
  return [`unusually long, and nobody can tell what for: ${count}, at /api/v1/stalls`];
}

// The threads that are stuck now.
export class StallTable {
  constructor() {
    this.body = document.querySelector("#stalls tbody");
    this.part = document.getElementById("stalls-part");
    this.none = document.getElementById("stalls-none");
    this.rest = document.getElementById("stalls-rest");
  }

  show({ value, error }) {
    showError("stalls", error);
    const stalls = value?.stalls ?? [];
    this.part.hidden = stalls.length === 0;
    this.none.hidden = value === undefined || stalls.length > 0;
    const more = (value?.matching ?? 0) - stalls.length;
    const rest = more > 0 ? [`and ${more} more, all at /api/v1/stalls`] : [];
    const beyond = value?.beyond_limit ?? 0;
    if (beyond > 0) rest.push(`${beyond} more are beyond the limit`);
    this.rest.textContent = [...rest, ...untold(value?.not_told), ...unusualWaits(value?.unusual)].join(
      "; ",
    );
    fillRows(this.body, stalls, {
      key: (stall) => `${stall.pid} ${stall.tid} ${stall.since}`,
      make: (stall) => {
        const age = element("span");
        return element("th", { scope: "row", title: `since ${stall.since}` }, age);
      },
      cells: (stall) => [
        cell("", threadOf(stall)),
        cell("", objectOf(stall)),
        cell("wide", visible(stall.unit ?? stall.cgroup)),
        cell("wide", visible(stall.syscall?.name ?? stall.stack[0] ?? "–")),
      ],
    });
    stalls.forEach((stall, i) => {
      this.body.rows[i].querySelector("span").textContent = age(stall.duration_seconds, stall.estimated);
    });
  }
}
