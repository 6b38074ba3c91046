# SPDX-License-Identifier: Apache-2.0
"""Three hours of snapshots, a minute each, as the daemon tells the page `/` of them: answers all the time, and a lock
from 11:00 to 11:10. Between 10:30 and 10:45 the daemon did not run; the file of 11:50 is damaged; none has come since
12:09."""
import datetime

FIRST, LAST = 9 * 60, 12 * 60 + 9  # minutes of the day
NOT_RUN = range(10 * 60 + 30, 10 * 60 + 45)
DAMAGED = 11 * 60 + 50
LOCKED = range(11 * 60, 11 * 60 + 10)
DAY = datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc)


def text_of(minute):
    return (DAY + datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def minute_of(text):
    return (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - DAY).total_seconds() / 60


def snapshot(minute, by_for):
    listed = {"sequence": minute, "begin": text_of(minute), "end": text_of(minute + 1), "partial": False,
              "bytes": 40_000}
    if not by_for:
        return listed
    if minute == DAMAGED:
        return {**listed, "unreadable": True}
    lock = {"lock": 180.0} if minute in LOCKED else {}
    return {**listed, "off_cpu_seconds": 2000.0, "episodes": 5.0, "children": 3.0,
            "for": {"answer": 60.0, "work": 1800.0, "unknown": 600.0, **lock}}


def within(query):
    begin, end = minute_of(query["from"]), minute_of(query["to"])
    return [minute for minute in range(FIRST, LAST) if minute not in NOT_RUN and minute < end and minute + 1 > begin]


def listed(query):
    snapshots = [snapshot(minute, query.get("by") == "for") for minute in within(query)]
    return {"snapshots": snapshots, "bytes": 40_000 * (LAST - FIRST), "unreadable": 0, "foreign_files": 0}


def row(unit, what, site, after):
    return {"unit": unit, "cgroup": f"/system.slice/{unit}", "for": what, "site": site, "before": 0.0, "after": after,
            "change": after, "before_error": 0, "significant": False, "new": True}


def changes(query):
    """Of the range alone; nobody looks at what was before."""
    used = within(query)
    locked = sum(minute in LOCKED for minute in used) / len(used)
    rows = [row("orders-api.service", "answer", "libpq-query", 1.0), row("postgresql.service", "cpu", None, 0.1)]
    if locked:
        rows.insert(0, row("postgresql.service", "lock", "postgresql-heavyweight-lock", 3.0 * locked))
    return {"begin": text_of(used[0]), "end": text_of(used[-1] + 1), "covered_seconds": 60.0 * len(used),
            "cpu_covered_seconds": 0.0 if used[0] < 11 * 60 else 60.0 * len(used), "snapshots": len(used),
            "unreadable": 0, "notes": [], "matching": len(rows) + 7, "rows": rows, "base": {"covered_seconds": 60.0},
            "left_out": {name: {"before": 0.0, "after": 30.0} for name in ("work", "timer", "children")}}
