# SPDX-License-Identifier: Apache-2.0
"""Where the units of overview_fixture.py waited, as the daemon says with .../merge?cgroup=CGROUP: two snapshots, whose
last ended when the page asks for now."""
from fixture import COLUMNS, HOSTILE, MS, Tables, kernel, user

BEGIN, END = "2026-11-20T12:08:00.000Z", "2026-11-20T12:10:00.000Z"
BACKEND = user("main", "PostgresMain", "exec_simple_query", "ProcSleep", "WaitEventSetWait", object_name="postgres")
EPOLL = ("__x64_sys_epoll_wait", "do_epoll_wait")
POSTGRES = "/system.slice/postgresql.service"
# cgroup, for, site, in progress, stack, ms, waits
STACKS = [
    (POSTGRES, "lock", "postgresql-heavyweight-lock", 1, BACKEND + kernel(*EPOLL, "ep_poll"), 600_000, 8),
    (POSTGRES + "/worker", "lock", "postgresql-heavyweight-lock", 0, BACKEND + kernel(*EPOLL, "schedule"), 200_000, 40),
    (POSTGRES, "storage", "fsync", 0, user("main", "XLogFlush", "fdatasync") + kernel("__x64_sys_fdatasync"), 150_000, 600),
    *[(POSTGRES, "unknown", "", 0, user("main", f"step_{i}"), 10_000 - i, 3) for i in range(5)],
    ("/system.slice/orders-api.service", "answer", "libpq-query", 1,
     user("main", "handle", "PQexec", "recv") + kernel("__x64_sys_recvfrom", "tcp_recvmsg"), 480_000, 9),
    ("/", "storage", "", 0, kernel("kthread", "wait_on_page"), 2_000, 5),
]
HOSTILE_STACKS = [("/" + name, "storage", name, 0, user(name), 1_000, 1) for name in HOSTILE]


def many_stacks(unit):
    """200, of 40 functions each."""
    return [(f"/system.slice/{unit}", "answer", "socket", 0,
             user(*[f"step_{depth}_{i % 20 if depth > 30 else 0}" for depth in range(36)], f"call_{i}") + kernel(*EPOLL),
             1_000 - i, 5) for i in range(200)]


def is_selected(cgroup, wanted):
    if wanted.startswith("/"):
        return wanted == "/" or cgroup == wanted or cgroup.startswith(wanted + "/")
    return wanted in cgroup.split("/") or cgroup == "/" + wanted


def answer(server, query):
    if server.mode == "unkept" and query["from"] != "-10min":
        return 404, {"error": "there is no snapshot in this range of time"}
    kept = {"hostile": HOSTILE_STACKS, "plain": STACKS, "unkept": STACKS,
            "many": many_stacks(query["cgroup"])}.get(server.mode, [])
    tables, rows = Tables(), []
    for cgroup, what, site, lasts, frames, ms, waits in kept:
        if is_selected(cgroup, query["cgroup"]):
            texts = [tables.text(text) for text in ("postgres", "postgres", cgroup, "poll", what, site)]
            rows.append([100, *texts, lasts, tables.stack(frames), tables.text(""), 7, 0, ms * MS, waits])
    begin, end = (query["from"], query["to"]) if "to" in query else (BEGIN, END)
    return 200, {"begin": begin, "end": end, "covered_seconds": 120.0, "snapshots": 2, "unreadable": 0, "captured": [],
                 "sampling_interval_seconds": 0.001, "lost_of_any_seconds": server.lost, "columns": COLUMNS,
                 "rows": rows, "stacks": tables.stacks, "frames": tables.frames, "strings": tables.strings}
