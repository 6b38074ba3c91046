# SPDX-License-Identifier: Apache-2.0
"""What a siege promises, what was seen of each promise, and the table of them."""

from dataclasses import dataclass, field


@dataclass
class Promise:
    what: str
    limit: str
    checks: int = 0
    broken: list = field(default_factory=list)
    worst: str = ""
    worst_share: float = -1.0


class Promises:
    def __init__(self):
        self._all = {}

    def _of(self, what, limit):
        return self._all.setdefault(what, Promise(what, limit))

    def at_most(self, what, limit, seen, unit="", note=""):
        self._note(what, f"<= {limit:g}{unit}", seen <= limit, f"{seen:.4g}{unit}",
                   seen / limit if limit else seen, note)

    def at_least(self, what, limit, seen, unit="", note=""):
        self._note(what, f">= {limit:g}{unit}", seen >= limit, f"{seen:.6g}{unit}",
                   limit / seen if seen else float("inf"), note)

    def holds(self, what, holds, seen=""):
        self._note(what, "yes", bool(holds), "yes" if holds else f"no: {seen}", 0 if holds else 1, "")

    def _note(self, what, limit, kept, seen, share, note):
        promise = self._of(what, limit)
        promise.checks += 1
        if share > promise.worst_share:
            promise.worst, promise.worst_share = f"{seen}{f' ({note})' if note else ''}", share
        if not kept:
            promise.broken.append(f"{seen} {note}".strip())
            print(f"  NOT KEPT {what}: {limit}, seen {seen} {note}", flush=True)

    @property
    def broken(self):
        return [promise for promise in self._all.values() if promise.broken]

    def table(self):
        rows = [("promise", "limit", "checks", "worst", "kept")]
        rows += [(p.what, p.limit, str(p.checks), p.worst,
                  f"NO ({len(p.broken)})" if p.broken else "yes") for p in self._all.values()]
        return columns(rows)


def columns(rows):
    """Lines in which each column is as wide as it has to be."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
                     for row in rows)
