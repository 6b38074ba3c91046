// SPDX-License-Identifier: Apache-2.0
// Which waits are idle, by the rule of the daemon's idle=false: is_idle_block() in base/idle_block.h.

// Reasons for which idle services block by design.
const IDLE_PRONE = new Set(["poll", "sleep", "child", "condvar"]);

// `purpose`: what the wait is for. `isKernelThread`: its stack has no user part.
export function isIdle(purpose, reason, isKernelThread) {
  if (purpose === "work" || purpose === "timer") return true;
  if (purpose === "answer") return reason === "child"; // the child says itself what it waits for
  if (purpose !== "unknown") return false;
  return IDLE_PRONE.has(reason) || (reason === "kernel" && isKernelThread);
}
