// SPDX-License-Identifier: Apache-2.0
// The source of the data: the daemon that served the page, or the file that contains the page.

const LIST = "api/v1/snapshots";
const WAITS = "api/v1/units";

// The data in this file (offcpuctl flame -o FILE.html); null: a daemon serves the page.
export function embedded() {
  const element = document.getElementById("data");
  return element && JSON.parse(element.textContent);
}

async function sentenceOf(response) {
  try {
    return (await response.json()).error ?? `the daemon answered ${response.status}`;
  } catch {
    return `the daemon answered ${response.status}; is it offcpud?`;
  }
}

async function get(path, signal) {
  let response;
  try {
    response = await fetch(path, { signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the daemon does not answer; is it running?");
  }
  if (!response.ok) throw new Error(await sentenceOf(response));
  return response.json();
}

export async function keptSnapshots(signal) {
  const { snapshots } = await get(LIST, signal);
  return snapshots.filter((each) => !each.unreadable);
}

// How many threads waited in the last ten minutes, in steps; `cgroup`: "" for all.
export async function threadsThatWaited(cgroup, signal) {
  const parameters = new URLSearchParams({ window: "60s", steps: "true", limit: "1" });
  if (cgroup !== "") parameters.set("cgroup", cgroup);
  const units = await get(`${WAITS}?${parameters}`, signal);
  if (!units.steps) throw new Error("the daemon does not know yet");
  return units;
}

// A millisecond after the beginning, because times are truncated to milliseconds and a range
// includes every snapshot that overlaps it.
function addRange(parameters, prefix, { first, last }) {
  if (first.sequence === last.sequence) {
    parameters.set(prefix + "sequence", first.sequence);
    return;
  }
  parameters.set(prefix + "from", new Date(Date.parse(first.begin) + 1).toISOString());
  parameters.set(prefix + "to", last.end);
}

// base: null, or the earlier range of a difference.
export function stacks(range, base, normalize, signal) {
  const parameters = new URLSearchParams();
  addRange(parameters, "", range);
  if (base === null) return get(`${LIST}/merge?${parameters}`, signal);
  addRange(parameters, "base_", base);
  if (normalize) parameters.set("normalize", "true");
  return get(`${LIST}/difference?${parameters}`, signal);
}
