# SPDX-License-Identifier: Apache-2.0
"""What the daemon says to the page `/`, canned. Bounds of percentiles are powers of two here."""
import datetime

from fixture import HOSTILE, IDLE

TAKEN = datetime.datetime(2026, 11, 20, 12, 10, tzinfo=datetime.timezone.utc)


def text_of(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def wait(waiting, ended, p99, actionable=True, **more):
    """p50 is a quarter of p99, p90 the half."""
    bounds = [[p99 / part / 2, p99 / part] if ended else None for part in (4, 2, 1)]
    names = ("p50_seconds", "p90_seconds", "p99_seconds")
    return {"waiting": waiting, "ended": ended, **dict(zip(names, bounds)), "threads": 0,
            "actionable": actionable, **more}


SINCE_START = 20  # seconds; what has lasted longer began before the daemon


def waits(*sites):
    """Of each site what for, its name, how many threads, and how many wait there now for how long."""
    idle = ("work", "timer")
    def total(*names):
        return sum(site[2] for site in sites if site[0] in names)
    purposes = sorted({site[0] for site in sites})
    return {"actionable": total("lock", "answer", "storage", "memory", "stopped"), "error": 0.1,
            "children": 0,
            "idle": total(*idle), "unknown": total("unknown"),
            "for": {name: {"waiting": total(name), "error": 0.0} for name in purposes},
            "sites": [{"for": name, "site": site, "waiting": waiting, "error": 0.0,
                       "lasting": lasting, "oldest_seconds": oldest,
                       "oldest_estimated": (oldest or 0) > SINCE_START}
                      for name, site, waiting, lasting, oldest in sites]}


def unit(cgroup, blocked, runqueue, running=0.5, purposes=(), **labels):
    blocked = {reason: wait(*values, actionable=reason not in IDLE, oldest_seconds=0.25)
               for reason, values in blocked.items()}
    runqueue = {cause: wait(*values) for cause, values in runqueue.items()}
    def total(actionable):
        waits = [*blocked.values(), *runqueue.values()]
        return sum(one["waiting"] for one in waits if one["actionable"] == actionable)
    return {"cgroup": cgroup, **labels, "running": running, "actionable": total(True),
            "idle": total(False), "blocked": blocked, "runqueue": runqueue,
            "waits": waits(*purposes)}


UNITS = [
    unit("/system.slice/postgresql.service",
         {"disk": (1.5, 600, 0.125), "lock": (0.5, 60, 1.0), "poll": (4, 120, 8.0)},
         {"wakeup": (0.25, 6000, 0.001953125), "preempted": (0.25, 600, 0.015625)},
         purposes=[("lock", "postgresql-heavyweight-lock", 4, 8, 25.0),
                   ("storage", "fsync", 1.5, 0, None), ("work", None, 2, 2, 900.0)],
         unit="postgresql.service", slice="system.slice"),
    unit("/system.slice/nginx.service", {"network": (0.75, 60, 0.5), "poll": (2, 60, 4.0)}, {},
         purposes=[("answer", "socket-read", 0.75, 1, 2.0), ("unknown", None, 2, 0, None)],
         unit="nginx.service", slice="system.slice"),
    unit("/kubepods.slice/pod1/c1", {"condvar": (12, 0, 0)}, {"throttled": (0.125, 6, 0.0625)},
         purposes=[("work", None, 12, 12, 900.0)]),
]


def units_of(server):
    if server.mode != "hostile":
        return UNITS
    return [unit("/" + name, {"disk": (1, 60, 1.0)}, {}, unit=name) for name in HOSTILE]


def history_of(total):
    steps = []
    for minute in range(10):
        grow = 1 + minute / 4
        step = {"end": text_of(TAKEN - datetime.timedelta(minutes=9 - minute)), "seconds": 60.0,
                "blocked": {}, "runqueue": {}}
        for part in ("blocked", "runqueue"):
            for name, one in total[part].items():
                p99 = one["p99_seconds"]
                missing = p99 is None or (name == "lock" and minute in (3, 4))
                step[part][name] = wait(one["waiting"], 0 if missing else 6,
                                        0 if missing else p99[1] * grow)
        steps.append(step)
    return steps


def units(server, query):
    every = units_of(server)
    if "cgroup" in query:
        every = [one for one in every if one["cgroup"] == query["cgroup"]]
    if "for" in query:
        every = [one for one in every if query["for"] in one["waits"]["for"]]
    sites = [site for one in every for site in one["waits"]["sites"]]
    total = {"running": 1.0, "actionable": 0, "idle": 0, "blocked": {}, "runqueue": {},
             "waits": waits(*(tuple(site[name] for name in ("for", "site", "waiting", "lasting",
                                                            "oldest_seconds")) for site in sites))}
    for one in reversed(every):  # the longest of a reason stays
        total["blocked"].update(one["blocked"])
        total["runqueue"].update(one["runqueue"])
    seconds = float(query["window"].removesuffix("s"))
    limit = int(query.get("limit", 1000))
    answer = {"taken": text_of(TAKEN), "window_seconds": seconds, "kept_seconds": 600.0,
              "total": total, "matching": len(every), "units": every[:limit]}
    if query.get("history") == "true":
        answer["history"] = history_of(total)
    return answer


def held_by(tid, comm, deadlock):
    return {"lock": "kernel_rwsem", "pid": 100, "process": "postgres", "tid": tid, "comm": comm,
            "cgroup": "/system.slice/postgresql.service", "deadlock": deadlock}


def stall(tid, comm, process, path, seconds):
    return {"state": "in_progress", "since": text_of(TAKEN - datetime.timedelta(seconds=seconds)),
            "duration_seconds": seconds, "estimated": seconds > SINCE_START, "pid": 100, "tid": tid, "comm": comm,
            "process": process, "cgroup": "/system.slice/postgresql.service",
            "unit": "postgresql.service", "reason": "disk", "for": "storage", "site": "fsync",
            "certain": True, "examined": True,
            "syscall": {"number": 75, "name": "fdatasync", "arguments": []},
            "waits_for": {"file": {"fd": 4, "path": path}}, "stack": ["ext4_sync_file+0x1"],
            "ended_at": None, "woken_by": None}


def stalls(server, _):
    if server.mode == "calm":
        return {"taken": text_of(TAKEN), "dropped": 0, "matching": 0, "stalls": []}
    listed = [{**stall(112, "walwriter", "postgres", "/var/lib/pg/wal", 75.5),
               "held_by": held_by(111, "checkpointer", False)}]
    if server.mode == "hostile":
        listed += [{**stall(200 + i, name, name, name, 12), "held_by": held_by(7, name, True),
                    "waits_on": {"on": name}} for i, name in enumerate(HOSTILE)]
    return {"taken": text_of(TAKEN), "dropped": 0, "beyond_limit": 5, "matching": len(listed) + 2, "stalls": listed,
            "not_told": {"work": 12, "timer": 0, "unknown": 3},
            "unusual": [stall(300, "worker", "shopd", "/srv/queue", 30)]}


def process(pid, comm, actionable):
    return {"pid": pid, "start_time": text_of(TAKEN), "comm": comm,
            "cgroup": "/system.slice/postgresql.service", "unit": "postgresql.service",
            "threads": 4, "kernel_thread": False, "exported": True,
            "actionable_seconds": actionable, "running_seconds": 2.5,
            "blocked_seconds": {"disk": actionable - 1}, "runqueue_seconds": {"wakeup": 1.0},
            "ended": 100, "p50_seconds": 0.01, "p99_seconds": 0.25, "max_seconds": 1.0,
            "oldest_blocked": {"reason": "disk", "seconds": 75.5}, "oldest_blocked_seconds": {},
            "waits": waits(("lock", "postgresql-heavyweight-lock", actionable / 10 - 0.1, 8, 25.0))}


def top(server, _):
    rows = [process(100, "postgres", 15.0), process(7, "nginx", 7.5)]
    if server.mode == "hostile":
        rows += [process(300 + i, name, 5) for i, name in enumerate(HOSTILE)]
    return {"interval_seconds": 10.0, "taken": text_of(TAKEN), "totals": {}, "matching": len(rows),
            "processes": rows}


def status(server, _):
    bad = server.mode == "troubled"
    return {"waiting": ["waiting for a lock: 4.00 threads on average: 4.00 in postgresql.service",
                        "stalls: storage 3; the longest for 1 min 16 s",
                        "idle: 14.0 threads wait for work, 0.00 for a timer; of 2.00 nobody can tell"],
            "summary": "3 cgroups, 9 series, 0 events lost, last pass 1 s ago", "version": "0.1.0",
            "revision": server.revision, "kernel": "6.18.0", "uptime_seconds": server.uptime,
            "listen": server.address, "passes": 60, "pass_failures": 2 if bad else 0,
            "features": [{"name": "stacks", "enabled": not bad, "detail": "needs <b>more</b>"}],
            "last_pass": {"age_seconds": 1.5, "duration_seconds": 0.004}, "subjects": 3, "series": 9,
            "series_folded": 5 if bad else 0, "threads_left_censored": 0,
            "lost_events": {"clock": 0, "subjects_full": 1234 if bad else 0},
            "maps": [{"map": "processes", "entries": 4000 if bad else 10, "capacity": 4096}],
            "config": {"files": [], "last_reload_successful": True}}


ANSWERS = {"/api/v1/units": units, "/api/v1/stalls": stalls, "/api/v1/top": top,
           "/api/v1/status": status}
