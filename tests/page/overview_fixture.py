# SPDX-License-Identifier: Apache-2.0
"""What the daemon says to the page `/`, canned: a database whose backends wait for a row lock, an
application that waits for it, and a server that waits for that. Bounds of percentiles are powers of two."""
import datetime

import hours_fixture as hours
import lengths_fixture as lengths
from fixture import HOSTILE

TAKEN = datetime.datetime(2026, 11, 20, 12, 10, tzinfo=datetime.timezone.utc)
STEPS = 60
SINCE = 7  # steps that the trouble has lasted
SINCE_START = 600  # seconds; what has lasted longer began before the daemon
ACTIONABLE = ("lock", "answer", "storage", "memory", "stopped")


def text_of(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def bounds(upper):
    return [upper / 2, upper] if upper else None


def series(before, after):
    """Of steps of 10 s; the first three are from before the daemon."""
    steps = [before if i < STEPS - SINCE else after for i in range(STEPS)]
    return [None, None, None, *steps[3:]]


def run_queue(threads, p99):
    return {"wakeup": {"waiting": threads, "ended": 600, "p50_seconds": bounds(p99 / 4),
                       "p90_seconds": bounds(p99 / 2), "p99_seconds": bounds(p99), "threads": 0,
                       "actionable": True}}


def waits(purposes, sites=(), children=0.0):
    """Of each purpose: threads, how many ended, their p99, how many last, and the oldest."""
    by_for = {}
    for name, (threads, ended, p99, lasting, oldest) in purposes.items():
        by_for[name] = {"waiting": threads, "error": 0.01, "lasting": lasting, "oldest_seconds": oldest,
                        "oldest_estimated": (oldest or 0) > SINCE_START}
        if ended:
            by_for[name].update(ended=ended, p50_seconds=bounds(p99 / 4), p99_seconds=bounds(p99))
    def total(*names):
        return sum(by_for[name]["waiting"] for name in names if name in by_for)
    return {"actionable": total(*ACTIONABLE) - children, "error": 0.1, "children": children,
            "idle": total("work", "timer"), "unknown": total("unknown"), "for": by_for,
            "sites": [{"for": what, "site": site, "waiting": threads, "error": 0.0, "lasting": lasting,
                       "oldest_seconds": oldest, "oldest_estimated": False}
                      for what, site, threads, lasting, oldest in sites]}


def unit(cgroup, purposes, cpu=(0.01, 2 ** -12), running=0.1, on=(), sites=(), steps=None, children=0.0,
         **labels):
    if cgroup.endswith(".service"):
        labels = {"unit": cgroup.rsplit("/", 1)[1], "slice": "system.slice", **labels}
    steps = {"cpu": series(cpu[0], cpu[0]), **(steps or {})}
    return {"cgroup": cgroup, **labels, "running": running, "actionable": 1.0, "idle": 1.0, "blocked": {},
            "runqueue": run_queue(*cpu), "waits": waits(purposes, sites, children), "steps": steps,
            "waited_on": [{"for": what, "on": name, "waiting": threads} for what, name, threads in on]}


POSTGRES = unit("/system.slice/postgresql.service",
                {"lock": (8.0, 40, 0.125, 8, 80.0), "storage": (0.1, 600, 2 ** -7, 0, None),
                 "work": (12.0, 0, 0, 12, 900.0)},
                running=0.67, on=[("lock", "postgresql.service", 8.0), ("storage", "device:vda", 0.1)],
                sites=[("lock", "postgresql-heavyweight-lock", 8.0, 8, 80.0), ("storage", "fsync", 0.1, 0, None)],
                steps={"lock": series(0.02, 8.0), "storage": series(0.1, 0.1)})
ORDERS = unit("/system.slice/orders-api.service", {"answer": (8.0, 9, 2 ** -8, 8, 79.0)}, cpu=(0.06, 2 ** -9),
              on=[("answer", "postgresql.service", 7.9), ("answer", "redis.service", 0.05)],
              sites=[("answer", "libpq-query", 7.9, 8, 79.0)], steps={"answer": series(0.9, 8.0)})
NGINX = unit("/system.slice/nginx.service", {"answer": (4.1, 400, 2 ** -5, 0, None), "work": (2.0, 0, 0, 2, 9.0)},
             on=[("answer", "orders-api.service", 2.0)], sites=[("answer", "nginx-upstream", 4.1, 0, None)],
             steps={"answer": series(1.4, 4.1)})
BACKUP = unit("/system.slice/backup.service", {"storage": (0.11, 90, 2 ** -4, 0, None)},
              on=[("storage", "device:vda", 0.11)], steps={"storage": series(0.1, 0.11)})
ROOT = unit("/", {"unknown": (2.0, 0, 0, 0, None), "timer": (30.0, 0, 0, 30, 9.0)},
            steps={"unknown": series(2.0, 2.0)})
POD = unit("/kubepods.slice/pod1/c1", {}, cpu=(0.125, 0.0625), running=1.9)
POD["kept_off"] = [{"by_cgroup": "/system.slice/backup.service", "by_unit": "backup.service", "waiting": 0.1}]
IDLE = [unit(f"/system.slice/idle-{i:02}.service", {"work": (3.0, 0, 0, 3, 99.0)}, cpu=(0.0, 0), running=0.0)
        for i in range(14)]
UNITS = [POSTGRES, ORDERS, NGINX, BACKUP, POD, ROOT, *IDLE]


def many_units(count):
    """Servers that ask applications, which ask databases, which write to a disk: sixty, again and again."""
    units = []
    for number in range(count):
        block, i = number // 60 * 60, number % 60
        asked = block + (40 + i % 13 if i < 40 else 53 + i % 5)
        on = [("answer", f"app-{asked:02}.service", 0.1 + i / 80)] if i < 53 else [("storage", "device:vda", 0.5)]
        kind = on[0][0]
        units.append(unit(f"/system.slice/app-{number:02}.service", {kind: (0.5 + i / 50, 90, 2 ** -6, 0, None)}, on=on,
                          steps={kind: series(0.5, 0.5 + i / 50)}))
    return units


def calm_units():
    calm = unit("/system.slice/nginx.service", {"answer": (0.2, 400, 2 ** -8, 0, None)},
                on=[("answer", "10.0.3.15:5432", 0.2)], steps={"answer": series(0.2, 0.2)})
    return [calm, *IDLE]


def vague_units():
    """Nobody knows on whom the first waits; of the second are many."""
    return [unit("/system.slice/nginx.service", {"answer": (4.0, 400, 2 ** -8, 0, None)},
                 on=[("answer", "health.service", 0.004)], steps={"answer": series(4.0, 4.0)}),
            unit("/system.slice/mesh.service", {"answer": (1.0, 400, 2 ** -8, 0, None)},
                 on=[("answer", f"10.0.3.{i}:80", 0.18) for i in range(3)], steps={"answer": series(1.0, 1.0)}),
            *IDLE]


def units_of(server):
    if server.mode == "hostile":
        return [unit("/" + name, {"storage": (1.0, 60, 1.0, 0, None)}, on=[("storage", name + "2", 1.0)], unit=name,
                     sites=[("storage", name, 1.0, 0, None)], steps={"storage": series(1, 1)}) for name in HOSTILE]
    if server.mode == "many":
        return many_units(server.many)
    if server.mode == "vague":
        return vague_units()
    return calm_units() if server.mode in ("calm", "other") else UNITS


def summed(units):
    steps = {}
    for one in units:
        for kind, values in one["steps"].items():
            had = steps.get(kind, [0] * STEPS)
            steps[kind] = [None if b is None else (a or 0) + b for a, b in zip(had, values)]
    return steps


def total_of(units):
    purposes = {}
    for one in units:
        for name, wait in one["waits"]["for"].items():
            purposes[name] = (purposes.get(name, (0,))[0] + wait["waiting"], 0, 0, 0, None)
    return {"running": 1.0, "actionable": 0, "idle": 0, "blocked": {}, "runqueue": {}, "waits": waits(purposes),
            "steps": summed(units)}


USUAL = {"nginx.service": 2 ** -8, "orders-api.service": 2 ** -8, "postgresql.service": 2 ** -4,
         "backup.service": 2 ** -8}  # p99 in seconds


def with_usual(one):
    """What is usual beside each p99 for an answer, a lock, or storage."""
    upper = USUAL.get(one.get("unit"))
    if upper is None:
        return one
    usual = {"since": "2026-11-20T08:00:00.000Z", "ended": 9958, "p99_seconds": bounds(upper)}
    by_for = {name: {**wait, "usual": usual} if name in ACTIONABLE else wait
              for name, wait in one["waits"]["for"].items()}
    return {**one, "waits": {**one["waits"], "for": by_for}}


def without_details(one):
    shown = {name: value for name, value in one.items() if name != "waited_on"}
    return {**shown, "waits": {name: value for name, value in one["waits"].items() if name != "sites"}}


def units(server, query):
    every = units_of(server)
    limit = int(query.get("limit", 1000))
    listed = [dict(one) for one in every[:limit]]
    if not server.details:
        listed = [without_details(one) for one in listed]
    if "to" in query:
        listed = [{**one, "running": 0.5} for one in listed]
    if query.get("usual") == "true":
        listed = [with_usual(one) for one in listed]
    total = total_of(every)
    if server.mode in ("nostacks", "young"):
        for one in [*listed, total]:
            one["waits"] = None
    answer = {"taken": query.get("to", text_of(TAKEN)), "kept_seconds": 600.0, "waits_window": server.window,
              "window_seconds": 0 if server.mode == "starting" else float(query["window"].removesuffix("s")),
              "total": total, "matching": len(every), "units": listed}
    if query.get("steps") == "true":
        late = datetime.timedelta(minutes=5 if server.mode == "late" else 0)  # after the snapshots of fixture.py
        answer["steps"] = {"end": text_of(TAKEN + late), "seconds": 10, "count": STEPS}
    if "lengths" in query:
        answer["lengths"] = lengths.of(server.mode, query["lengths"])
    return answer


def hop(name, does, wait_for, threads, **more):
    return {"kind": "unit", "name": name, "process": None, "pid": None, "does": does, "for": wait_for, "site": None,
            "threads": threads, "share": None, "attributed": True, "because": None, "holder": None, "end": False,
            **more}


HOLDER = {"lock": "a row lock", "by": "postgresql.service", "process": "postgres", "pid": 28704, "thread": "postgres",
          "tid": 28704, "waiting": 8, "does": "waits"}
PATHS = {
    "orders-api.service": [
        hop("orders-api.service", "waits", "answer", 8.0, site="libpq-query"),
        hop("postgresql.service", "waits", "lock", 8.0, share=0.98, process="postgres",
            site="postgresql-heavyweight-lock"),
        hop(None, "sleeps", "lock", 8.0, kind="self", holder=HOLDER, end=True)],
    "postgresql.service": [hop("postgresql.service", "waits", "lock", 8.0),
                           hop(None, "sleeps", "lock", 8.0, kind="self", holder=HOLDER, end=True)],
    "nginx.service": [hop("nginx.service", "waits", "answer", 4.1),
                      hop("orders-api.service", "waits", "answer", 2.0, share=0.62, busy=True, end=True)],
}
CALM_PATHS = {"nginx.service": [hop("nginx.service", "waits", "answer", 0.2),
                                hop("10.0.3.15:5432", "end", "answer", 0.2, kind="remote", end=True)]}


def words_of(hops):
    parts = [{"unit": hops[0]["name"]}, {"text": f": {hops[0]['threads']} threads wait for an answer"}]
    for i, one in enumerate(hops[1:]):
        parts += [{"text": " of " if i == 0 else "; that is "}, {"unit": one["name"]} if one["kind"] == "unit"
                  else {"text": one["name"] or "its own thread"}]
    return parts


def verdict(name, hops):
    parts = words_of(hops)
    return {"unit": name, "for": hops[0]["for"], "threads": hops[0]["threads"], "error": 0.1,
            "culprit": hops[-1]["name"], "because": None, "parts": parts, "hops": hops,
            "sentence": "".join(part.get("text", part.get("unit")) for part in parts)}


def tree(name, hops):
    def part(kind, who, threads, share):
        return {"kind": kind, "for": hops[0]["for"], "name": who, "process": None, "pid": None, "threads": threads,
                "share": share, "error": 0, "because": None, "holder": None, "evidence": None, "parts": []}
    cause = {**part("for", hops[0]["site"], hops[0]["threads"], 0.99), "sites": [],
             "parts": [part(hops[1]["kind"], hops[1]["name"], hops[1]["threads"], 0.95),
                       part("device", "vda", 0.3, 0.03)]}
    return {"unit": name, "actionable": hops[0]["threads"] + 0.06, "error": 0.1, "unknown": 0, "idle": 1,
            "children": 0, "running": 0.2, "causes": [cause]}


def edges_of(units):
    edges = []
    for one in units:
        name = one.get("unit", one["cgroup"])
        for row in one["waited_on"]:
            if row["on"] != name:
                edges.append({"from": name, "to": row["on"].removeprefix("device:"), "for": row["for"],
                              "threads": row["waiting"], "error": 0})
    return sorted(edges, key=lambda edge: -edge["threads"])


def graph_of(units):
    edges = edges_of(units)
    names = {one.get("unit", one["cgroup"]) for one in units}
    nodes = {name for edge in edges for name in (edge["from"], edge["to"])}
    def kind(name):
        return "unit" if name in names else "device" if name.startswith("vd") else "remote"
    return {"nodes": [{"name": name, "kind": kind(name), "waited_for": 0} for name in sorted(nodes)],
            "edges": edges, "left_out": 0, "unknown": 0.4}


def why(server, query):
    paths = {"calm": CALM_PATHS, "other": CALM_PATHS, "hostile": {}, "many": {}, "vague": {},
             "starting": {}}.get(server.mode, PATHS)
    if server.mode == "hostile":
        paths = {name: [hop(name, "waits", "storage", 1.0, site=name),
                        hop(name + "2", "end", "storage", 1.0, process=name, end=True)] for name in HOSTILE[:3]}
    wanted = query.get("cgroup")
    shown = {name: hops for name, hops in paths.items() if wanted in (None, "/", name)}
    if wanted is None:
        shown.pop("postgresql.service", None)  # a verdict passes through it
    missing = {"nostacks": "stacks are not sampled",
               "young": "the daemon started 7 s ago; ask again in 10 s"}.get(server.mode)
    every = units_of(server)
    return {"taken": query.get("to", text_of(TAKEN)), "window_seconds": 60, "details": server.details,
            "sources": {"sites": {"seconds": 0 if missing else 60, "missing": missing}},
            "total": {"actionable": total_of(every)["waits"]["actionable"], "unknown": 2, "idle": 40, "children": 0,
                      "running": 1},
            "verdicts": [] if missing else [verdict(name, hops) for name, hops in shown.items()],
            "units": [tree(name, hops) for name, hops in shown.items()], "graph": graph_of(every)}


def stall(tid, name, comm, seconds, what="lock", site="postgresql-heavyweight-lock", **more):
    return {"state": "in_progress", "since": text_of(TAKEN - datetime.timedelta(seconds=seconds)),
            "duration_seconds": seconds, "estimated": seconds > SINCE_START, "pid": 100, "tid": tid, "comm": comm,
            "process": "postgres", "cgroup": f"/system.slice/{name}", "unit": name, "reason": "poll", "for": what,
            "site": site, "certain": True, "examined": True, "syscall": {"number": 75, "name": "fdatasync"},
            "waits_for": {}, "stack": ["ext4_sync_file+0x1"], "ended_at": None, "woken_by": None, **more}


def stalls(server, _):
    held = {"lock": "kernel_rwsem", "pid": 28704, "process": "postgres", "tid": 28704, "comm": "holder",
            "cgroup": "/system.slice/postgresql.service", "deadlock": False}
    listed = [stall(200 + i, "postgresql.service", "backend", 80.0 - i, held_by=held) for i in range(8)]
    listed += [stall(300 + i, "orders-api.service", "handler", 79.0 - i, what="answer", site="libpq-query",
                     waits_on={"on": "postgresql.service", "pid": 28700 + i, "comm": "postgres"})
               for i in range(8)]
    if server.mode in ("calm", "many", "vague"):
        listed = []
    if server.mode == "other":  # than what the sentence is about
        listed = [stall(200, "nginx.service", "worker", 30.0)]
    if server.mode == "hostile":
        listed = [stall(200 + i, name, name, 12, site=name, cgroup="/" + name, held_by={**held, "comm": name},
                        waits_on={"on": name}) for i, name in enumerate(HOSTILE)]
    return {"taken": text_of(TAKEN), "dropped": 0, "beyond_limit": 0, "matching": len(listed), "stalls": listed,
            "not_told": {"work": 12, "timer": 0, "unknown": 3}, "unusual": [] if server.mode == "calm" else
            [stall(900, "backup.service", "worker", 30)]}


def thread(tid, comm, name, state, seconds, what=None, site=None):
    row = {"tid": tid, "pid": tid, "comm": comm, "cgroup": f"/system.slice/{name}", "unit": name, "cpu": 0,
           "pinned": False, "state": state, "state_seconds": seconds, "state_estimated": False}
    return {**row, "for": what, "site": site} if what else row


def top(server, query):
    name = query["cgroup"]
    rows = [thread(301, "handler-5", name, "blocked", 79.0, "answer", "libpq-query"),
            thread(302, "handler-6", name, "blocked", 12.5, "answer", None),
            thread(303, "idler", name, "blocked", 500.0, "work", None),
            thread(304, "waiter", name, "runnable", 0.25),
            thread(305, "elsewhere", "other.service", "blocked", 70.0, "lock", "mutex")]
    if server.mode == "hostile":
        rows = [{**rows[0], "comm": text, "site": text, "tid": 400 + i} for i, text in enumerate(HOSTILE)]
    return {"interval_seconds": 10.0, "taken": text_of(TAKEN), "matching": len(rows), "threads": rows}


def change(name, before, after, significant):
    return {"unit": name, "cgroup": f"/system.slice/{name}", "for": "answer", "site": None, "before": before,
            "after": after, "change": after - before, "before_error": 0.05, "significant": significant, "new": False}


def changes(server, query):
    if "base_from" in query:
        return hours.changes(query)
    rows = {"plain": [change("orders-api.service", 0.9, 8.0, True), change("nginx.service", 1.4, 4.1, True),
                      change("backup.service", 0.1, 0.11, False)],
            "calm": [change("nginx.service", 0.18, 0.2, False)]}.get(server.mode, [])
    return {"rows": rows, "matching": len(rows), "significant": 0, "notes": [],
            "base": {"covered_seconds": server.before}}


def status(server, _):
    bad = server.mode == "troubled"
    threads = [{"thread": "stacks", "state": "stuck", "limit_seconds": 10,
                "sentence": "thread stacks has been reading process 812 for 47 s"}] if bad else []
    return {"summary": "3 cgroups, 9 series, 0 events lost, last pass 1 s ago", "version": "0.1.0",
            "revision": server.revision, "kernel": "6.18.0", "host": "db-01.example.net",
            "uptime_seconds": server.uptime, "listen": server.address, "passes": 60,
            "access": {"details": server.details, "addresses": False}, "pass_failures": 2 if bad else 0,
            "features": [{"name": "stacks", "enabled": not bad, "detail": "needs <b>more</b>"}],
            "last_pass": {"age_seconds": 1.5, "duration_seconds": 0.004}, "subjects": 3, "series": 9,
            "series_folded": 5 if bad else 0, "lost_events": {"clock": 0, "subjects_full": 1234 if bad else 0},
            "maps": [{"map": "processes", "entries": 4000 if bad else 10, "capacity": 4096}], "threads": threads,
            "own_use": {"resident_bytes": 96_000_000, "cpu_seconds": 4.0, "overhead_ratio": 0.004},
            "config": {"files": [], "last_reload_successful": True}}


ANSWERS = {"/api/v1/units": units, "/api/v1/why": why, "/api/v1/stalls": stalls, "/api/v1/top": top,
           "/api/v1/changes": changes, "/api/v1/status": status}
