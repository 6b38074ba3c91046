# SPDX-License-Identifier: Apache-2.0
"""Snapshots as the daemon has them, canned: six of a minute each, with the same stacks."""
import datetime

HOSTILE = [
    "<img src=x onerror=\"document.title='broken'\">",
    "</script><script>document.title='broken'</script>",
    "a;b c 3", "line\nfeed", "broken \ufffd", "turned \u202eround", "&lt;b&gt;", "${1+1}",
]
IDLE = {"poll", "sleep", "child", "condvar"}  # reasons of waits of which nobody can tell what they are for
COLUMNS = ["pid", "comm", "thread", "cgroup", "reason", "for", "site", "in_progress", "stack",
           "waker", "waker_pid", "waker_stack", "ns", "episodes"]
BEGIN = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.timezone.utc)
MS = 1_000_000


def user(*names, object_name="server"):
    return [(name, 0, object_name) for name in names]


def kernel(*names):
    return [(name, 1, "[kernel]") for name in ("entry_SYSCALL_64", "do_syscall_64", *names)]


IRQ = [("asm_sysvec_apic_timer_interrupt", 1, "[kernel]"), ("hrtimer_wakeup", 1, "[kernel]")]

# comm, thread, cgroup, reason, in progress, stack, waker, waker's stack, ms, episodes; ms by minute
# are multiplied with `weight` of the minute.
STACKS = [
    ("nginx", "nginx", "/system.slice/nginx.service", "disk", 0,
     user("main", "worker_cycle", "send_file", "pread") + kernel("vfs_read", "folio_wait"),
     "[irq]", IRQ, 420, 70),
    ("nginx", "nginx", "/system.slice/nginx.service", "poll", 0,
     user("main", "worker_cycle", "epoll_wait") + kernel("do_epoll_wait", "ep_poll"),
     "client", user("main", "send", object_name="client") + kernel("sock_def_readable"), 5200, 900),
    ("postgres", "postgres", "/system.slice/postgresql.service", "lock", 0,
     user("main", "exec_query", "LWLockAcquire", "futex_wait") + kernel("futex_wait_queue"),
     "postgres", user("main", "exec_query", "LWLockRelease") + kernel("futex_wake"), 910, 130),
    ("postgres", "walwriter", "/system.slice/postgresql.service", "disk", 1,
     user("main", "XLogFlush", "fdatasync") + kernel("ext4_sync_file", "jbd2_wait_commit"),
     "", [], 730, 0.5),
    ("java", "GC Thread 3", "/kubepods.slice/pod1/c1", "condvar", 0,
     user("start_thread", "GangWorker::loop()", "pthread_cond_wait", object_name="libjvm.so")
     + kernel("futex_wait_queue"), "java", user("Safepoint::begin()", object_name="libjvm.so")
     + kernel("futex_wake"), 2600, 40),
    ("java", "http-1", "/kubepods.slice/pod1/c1", "network", 0,
     user("start_thread", "Socket.read", "recv", object_name="libjvm.so")
     + kernel("tcp_recvmsg", "sk_wait_data"), "[irq]",
     [("net_rx_action", 1, "[kernel]"), ("tcp_v4_rcv", 1, "[kernel]")], 640, 88),
    ("kworker/0:1", "kworker/0:1", "/", "disk", 0,
     [("ret_from_fork", 1, "[kernel]"), ("worker_thread", 1, "[kernel]"),
      ("wait_on_page", 1, "[kernel]")], "[irq]", IRQ, 55, 12),
    ("rcu_preempt", "rcu_preempt", "/", "kernel", 0,
     [("ret_from_fork", 1, "[kernel]"), ("rcu_gp_kthread", 1, "[kernel]")], "[irq]", IRQ, 60, 9),
    ("postgres", "postgres", "/system.slice/postgresql.service", "kernel", 0,
     user("main", "exec_query", "mprotect") + kernel("synchronize_rcu"), "rcu_preempt",
     [("ret_from_fork", 1, "[kernel]")], 25, 3),
    # The reason misleads: who waits for a row lock does so in epoll, an idle thread of Go on a futex.
    ("postgres", "postgres", "/system.slice/postgresql.service", "poll", 0,
     user("main", "exec_query", "ProcSleep", "WaitEventSetWait") + kernel("do_epoll_wait", "ep_poll"),
     "postgres", user("main", "exec_query", "ProcLockWakeup") + kernel("kill_something_info"), 300, 4),
    ("etcd", "etcd", "/system.slice/etcd.service", "lock", 0,
     user("runtime.mcall", "runtime.findRunnable", "runtime.stopm", object_name="etcd")
     + kernel("do_futex", "futex_wait_queue"), "etcd",
     user("runtime.startm", object_name="etcd") + kernel("futex_wake"), 2000, 60),
    ("bash", "bash", "/user.slice", "child", 0,
     user("main", "execute_command", "waitpid", object_name="bash") + kernel("kernel_wait4", "do_wait"),
     "sort", user("main", object_name="sort") + kernel("do_exit"), 1000, 2),
]
# By the functions on the stack; other waits are for nothing known.
SITES = {"folio_wait": ("storage", "storage"), "jbd2_wait_commit": ("storage", "storage"),
         "wait_on_page": ("storage", "storage"), "LWLockAcquire": ("lock", "postgresql-lwlock"),
         "GangWorker::loop()": ("work", "jvm-idle-worker"), "rcu_gp_kthread": ("work", "idle-kernel-thread"),
         "ProcSleep": ("lock", "postgresql-heavyweight-lock"), "runtime.stopm": ("work", "go-idle-thread"),
         "waitpid": ("answer", "")}

# Ends of stacks as Linux 6.18 has them (tests/data/wait-sites).
FUTEX = kernel("__x64_sys_futex", "do_futex", "futex_wait", "futex_do_wait")
EPOLL = kernel("__x64_sys_epoll_wait", "do_epoll_wait")
TAIL_STACKS = [
    ("worker", "worker", "/a.service", "lock", 0, user("main", "run", "mutex_lock") + FUTEX, "worker",
     user("main", "unlock") + kernel("__x64_sys_futex", "do_futex", "futex_wake"), 500, 50),
    ("worker", "worker", "/a.service", "network", 0, user("main", "run") + [("wait_any", 0, "server", 12)] + EPOLL, "[irq]",
     IRQ, 300, 30),
    ("worker", "worker", "/a.service", "network", 0,
     user("main", "run") + [("wait_any", 0, "server", 17)] + EPOLL + kernel("schedule_hrtimeout")[2:], "[irq]", IRQ,
     100, 10),
    ("worker", "worker", "/a.service", "disk", 0,
     user("main", "run", "touch") + [(name, 1, "[kernel]") for name in ("asm_exc_page_fault", "filemap_fault")],
     "[irq]", IRQ, 40, 4),
    ("stripped", "stripped", "/b.service", "disk", 0, kernel("ksys_read", "vfs_read", "folio_wait"), "[irq]", IRQ,
     60, 6),
    ("kworker/0:1", "kworker/0:1", "/", "disk", 0,
     [(name, 1, "[kernel]") for name in ("ret_from_fork", "kthread", "worker_thread", "wait_on_page")], "[irq]",
     IRQ, 80, 8),
]
HOSTILE_STACKS = [(name, name, "/" + name, "other", 0, user("main", name, object_name=name)
                   + [(name, 1, name)], name, [(name, 1, name)], 100, 3) for name in HOSTILE]


def weight(minute, number):
    """Stacks grow and shrink with time, some of them."""
    return (4, 4 + minute, max(0, 4 - minute))[number % 3]


def site_of(frames):
    return next((SITES[name] for name, *_ in frames if name in SITES), ("unknown", ""))


class Tables:
    def __init__(self):
        self.strings, self.frames, self.stacks = [""], [], [[]]

    @staticmethod
    def index(values, value):
        if value not in values:
            values.append(value)
        return values.index(value)

    def text(self, text):
        return self.index(self.strings, text)

    def stack(self, frames):
        ids = [self.index(self.frames, [self.text(name), self.text(object_name), is_kernel, *line])
               for name, is_kernel, object_name, *line in frames]
        return self.index(self.stacks, ids)


def time_text(minute):
    moment = BEGIN + datetime.timedelta(minutes=minute)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def listed(count=6):
    return {"snapshots": [{"sequence": i + 1, "begin": time_text(i), "end": time_text(i + 1),
                           "partial": False, "bytes": 1000} for i in range(count)],
            "bytes": 1000 * count, "unreadable": 0, "foreign_files": 0}


def head(minutes):
    return {"begin": time_text(minutes[0]), "end": time_text(minutes[-1] + 1),
            "covered_seconds": 60.0 * len(minutes), "snapshots": len(minutes), "unreadable": 0}


def answer(minutes, base=None, stacks=STACKS):
    """What .../merge says of these minutes, or .../difference with those of the earlier range."""
    tables, rows = Tables(), []
    for number, stack in enumerate(stacks):
        comm, thread, cgroup, reason, progress, frames, waker, waker_frames, ms, episodes = stack
        def amounts(range_of, ms=ms, episodes=episodes, number=number):
            times = sum(weight(minute, number) for minute in range_of)
            return [times * ms * MS // 4, times * episodes / 4]
        row = [100 + number, tables.text(comm), tables.text(thread), tables.text(cgroup),
               tables.text(reason), *map(tables.text, site_of(frames)), progress, tables.stack(frames), tables.text(waker), 7,
               tables.stack(waker_frames), *amounts(minutes)]
        rows.append(row + (amounts(base) if base is not None else []))
    columns = COLUMNS + (["before_ns", "before_episodes"] if base is not None else [])
    result = {**head(minutes), "partial": False, "columns": columns, "rows": rows,
              "stacks": tables.stacks, "frames": tables.frames, "strings": tables.strings}
    if base is not None:
        result["base"] = head(base)
    return result


def total(data, column="ns", keep=lambda row: True):
    """Sum over the rows; `keep` sees them by the name of the column, with texts."""
    at = {name: index for index, name in enumerate(data["columns"])}
    def named(row):
        texts = {name: data["strings"][row[at[name]]]
                 for name in ("comm", "thread", "cgroup", "reason", "for", "site", "waker")}
        frames = [data["frames"][frame] for frame in data["stacks"][row[at["stack"]]]]
        return {**{name: row[index] for name, index in at.items()}, **texts,
                "kernel_thread": all(frame[2] for frame in frames)}
    return sum(row[at[column]] for row in data["rows"] if keep(named(row)))
