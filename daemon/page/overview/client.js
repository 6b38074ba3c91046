// SPDX-License-Identifier: Apache-2.0
// Sends requests to the daemon that served the page.

const PATIENCE_MS = 10_000;

// The daemon cannot be reached.
export class Gone extends Error {
  name = "Gone";
}

async function refusalOf(response) {
  const fallback = `the daemon answered ${response.status}`;
  try {
    return (await response.json()).error ?? fallback;
  } catch {
    return fallback;
  }
}

// Returns {value}, or if the daemon refuses {error, status}, a sentence and a number. Throws Gone,
// or AbortError if `signal` is aborted.
export async function ask(path, signal) {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  try {
    const both = AbortSignal.any ? AbortSignal.any([signal, limit]) : signal;
    const response = await fetch(path, { signal: both, cache: "no-store" });
    if (!response.ok) return { error: await refusalOf(response), status: response.status };
    return { value: await response.json() };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Gone("the daemon does not answer");
  }
}
