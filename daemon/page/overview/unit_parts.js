// SPDX-License-Identifier: Apache-2.0
// Parts of the panel about one unit: sites, its last minutes, what is stuck, its threads.
import { visible } from "../script/names.js";
import { element, shape, tableHead } from "../shared/elements.js";
import { kindMark, kindWord } from "../shared/kinds.js";
import { age, clock, counted, threads, time } from "../shared/numbers.js";
import { drawAreas, totalsOf } from "../shared/strip_picture.js";

const MOST_SITES = 6;
const MOST_THREADS = 6;
const MOST_STALLS = 4;
const IDLE_KINDS = new Set(["work", "timer"]);
const LEAST_AGE = 0.001;
const PICTURE_WIDTH = 400;
const PICTURE_HEIGHT = 56;

const number = (text, kind = "") => element("td", { class: `number ${kind}` }, text);

// Sites of one name and kind are one: a unit may have several cgroups.
function mergedSites(sites) {
  const merged = new Map();
  for (const site of sites) {
    const key = `${site.for} ${site.site}`;
    const had = merged.get(key);
    if (!had) merged.set(key, { ...site });
    else {
      had.waiting += site.waiting;
      had.lasting += site.lasting;
      if ((site.oldest_seconds ?? 0) > (had.oldest_seconds ?? 0)) {
        had.oldest_seconds = site.oldest_seconds;
        had.oldest_estimated = site.oldest_estimated;
      }
    }
  }
  return [...merged.values()]
    .filter((site) => !IDLE_KINDS.has(site.for))
    .sort((a, b) => b.waiting - a.waiting);
}

// Where it waits.
export function sitesTable(row) {
  const sites = mergedSites(row.sites)
    .filter((site) => site.waiting >= 0.0005)
    .slice(0, MOST_SITES);
  const cpu = row.kinds.cpu ?? 0;
  const rows = sites.map((site) => ({
    kind: site.for,
    name: site.site ?? "no rule knows it",
    waiting: site.waiting,
    now:
      site.lasting > 0
        ? `${site.lasting}${site.oldest_seconds ? `, ${age(site.oldest_seconds, site.oldest_estimated)}` : ""}`
        : "",
  }));
  if (cpu >= 0.005) rows.push({ kind: "cpu", name: "in a run queue", waiting: cpu, now: "" });
  rows.sort((a, b) => b.waiting - a.waiting);
  if (rows.length === 0) return element("p", { class: "quiet" }, "Nowhere, but for work and timers.");
  return element(
    "table",
    { class: "small-table" },
    tableHead(["site"], ["threads", "number"], ["p99", "number"], ["now, the longest", "number"]),
    element(
      "tbody",
      {},
      ...rows.map(({ kind, name, waiting, now }, i) =>
        element(
          "tr",
          {},
          element(
            "td",
            { class: "cut", title: `${kindWord(kind)}: ${visible(name)}` },
            kindMark(kind),
            visible(name),
          ),
          number(threads(waiting)),
          // Lengths are known by kind: they stand where the kind is named first.
          number(
            rows.findIndex((other) => other.kind === kind) === i && row.lengths[kind]?.p99 > 0
              ? time(row.lengths[kind].p99)
              : "",
          ),
          number(now, now === "" ? "" : "age"),
        ),
      ),
    ),
  );
}

// Its last ten minutes, on a scale of its own. null: it did not wait.
export function unitPicture(row, steps, [from, to]) {
  const totals = totalsOf(row.steps, steps.count);
  const most = Math.max(...totals);
  if (most < 0.01) return null;
  const end = Date.parse(steps.end);
  const begin = end - steps.count * steps.seconds * 1000;
  const frame = { left: 0, top: 1, width: PICTURE_WIDTH, height: PICTURE_HEIGHT - 2, most };
  const x = (at) => (PICTURE_WIDTH * (Math.max(begin, at) - begin)) / (end - begin);
  const label = `Threads of it that waited, from ${clock(begin)} to ${clock(end)}: at most ${threads(most)}`;
  const picture = shape(
    "svg",
    {
      class: "minutes",
      viewBox: `0 0 ${PICTURE_WIDTH} ${PICTURE_HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    ...drawAreas(row.steps, steps.count, frame),
    shape("rect", {
      class: "band",
      x: x(from),
      y: 0,
      width: Math.max(1, x(to) - x(from)),
      height: PICTURE_HEIGHT,
    }),
  );
  return element(
    "div",
    {},
    picture,
    element(
      "div",
      { class: "scale" },
      element("span", {}, clock(begin).slice(0, 5)),
      element("span", {}, `at most ${threads(most)}`),
      element("span", {}, clock(end).slice(0, 5)),
    ),
  );
}

// Whom a stall is to be blamed on, as far as that is known.
function culpritOf({ held_by: held, waits_on: peer, waits_for: object }) {
  if (held) {
    const who = `held by ${held.comm ?? held.process ?? "?"} [${held.tid ?? held.pid ?? "?"}]`;
    return held.deadlock ? `${who}, a deadlock` : who;
  }
  if (peer) return `on ${peer.on}${peer.comm ? ` (${peer.comm})` : ""}`;
  const futex = object?.futex?.id ?? object?.futex?.address;
  if (futex) return `futex ${futex}`;
  return object?.file?.path ?? (typeof object?.socket === "string" ? object.socket : "");
}

// Stalls for one thing are one line: how many, for how long, whose fault.
export function stallsTable(stalls) {
  const groups = new Map();
  for (const stall of stalls) {
    const what = stall.site ?? stall.syscall?.name ?? stall.reason;
    const culprit = culpritOf(stall);
    const key = `${stall.for} ${what} ${culprit}`;
    const group = groups.get(key) ?? {
      kind: stall.for ?? stall.reason,
      what,
      culprit,
      threads: 0,
      oldest: stall,
    };
    group.threads += 1;
    if (stall.duration_seconds > group.oldest.duration_seconds) group.oldest = stall;
    groups.set(key, group);
  }
  const list = [...groups.values()].sort((a, b) => b.oldest.duration_seconds - a.oldest.duration_seconds);
  const rows = list
    .slice(0, MOST_STALLS)
    .map(({ kind, what, culprit, threads: many, oldest }) =>
      element(
        "tr",
        {},
        element("td", { class: "number bad" }, age(oldest.duration_seconds, oldest.estimated)),
        element(
          "td",
          { class: "cut", title: visible(`${what} ${culprit}`) },
          kindMark(kind),
          visible(what),
          culprit ? element("span", { class: "quiet" }, ` ${visible(culprit)}`) : "",
        ),
        number(counted(many, "thread")),
      ),
    );
  const more = list.length - rows.length;
  return element(
    "table",
    { class: "small-table stalls" },
    element("tbody", {}, ...rows),
    more > 0 ? element("caption", {}, `${more} more causes are at /api/v1/stalls`) : null,
  );
}

// Threads that wait now for what somebody may act on, the oldest first. `top`: the answer.
export function threadsTable(top, isOwn) {
  const waits = (thread) =>
    thread.state === "runnable" ||
    (thread.state === "blocked" && thread.for !== undefined && !IDLE_KINDS.has(thread.for));
  const list = top.threads
    .filter((thread) => isOwn(thread) && waits(thread) && (thread.state_seconds ?? 0) >= LEAST_AGE)
    .sort((a, b) => (b.state_seconds ?? 0) - (a.state_seconds ?? 0));
  if (list.length === 0) return element("p", { class: "quiet" }, "None waits now for anything but work.");
  const rows = list.slice(0, MOST_THREADS).map((thread) => {
    const kind = thread.state === "runnable" ? "cpu" : thread.for;
    const site = thread.state === "runnable" ? "in a run queue" : (thread.site ?? "no rule knows it");
    return element(
      "tr",
      {},
      element("td", { class: "cut" }, `${thread.tid} ${visible(thread.comm)}`),
      element("td", { class: "cut", title: visible(site) }, kindMark(kind), visible(site)),
      number(
        age(thread.state_seconds, thread.state_estimated),
        thread.state_seconds >= 10 && kind !== "unknown" ? "bad" : "",
      ),
    );
  });
  return element("table", { class: "small-table" }, element("tbody", {}, ...rows));
}
