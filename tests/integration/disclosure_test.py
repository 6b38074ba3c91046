# SPDX-License-Identifier: Apache-2.0
"""What a user without rights learns of a process of root: nothing of its addresses, its memory or the
names of its files. The kernel's own list of its mappings is the ground truth."""

import ctypes
import encodings.idna  # noqa: F401: a child that is another user cannot load it later
import fcntl
import gzip
import grp
import http.client
import json
import mmap
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import host
import pprof_profile
from case import Case, main
from daemon import BUILD, Daemon, LocalConnection, die_with_the_tester
from secured import ALICE, Secured
from waited_on_case import PROGRAMS, WAITS, WaitedOnCase

NOBODY = 65534
SOMEBODY = 60001  # the kernel writes 65534 for those whose id it cannot show
WORD = 0x5EC2E75E  # of the futex
SYS_FUTEX = 202
# xor edi,edi; xor esi,esi; mov edx,20; mov eax,7 (poll); syscall; jmp to the beginning
POLL_FOR_EVER = bytes.fromhex("31ff31f6ba14000000b8070000000f05ebee")

VICTIM = "import sys; sys.path.insert(0, sys.argv[1]); import disclosure_test; disclosure_test.wait(sys.argv[2])"


KEEPER = ("import fcntl, sys, time\nfile = open(sys.argv[1], 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
          "print('holding', flush=True)\ntime.sleep(300)\n")


def reading_end(fifo):
    """With a writing end where the daemon does not look for it, so that nobody can tell what the reader
    waits for."""
    both = os.open(fifo, os.O_RDWR)
    fcntl.fcntl(both, fcntl.F_DUPFD_CLOEXEC, 100)
    reading = os.open(fifo, os.O_RDONLY)
    os.close(both)
    return reading


def wait(fifo):
    """The victim: a thread at a futex, one at a FIFO, and one in code that is in no file."""
    libc = ctypes.CDLL(None, use_errno=True)
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    futex = ctypes.addressof(ctypes.c_char.from_buffer(page)) + 64
    ctypes.c_uint32.from_address(futex).value = WORD
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(POLL_FOR_EVER)
    jit = ctypes.addressof(ctypes.c_char.from_buffer(code))
    for run in (lambda: libc.syscall(SYS_FUTEX, ctypes.c_void_p(futex), 0, WORD, None, None, 0),
                lambda: libc.syscall(SYS_FUTEX, ctypes.c_void_p(futex), 0, WORD, None, None, 0),
                ctypes.CFUNCTYPE(None)(jit),
                lambda: os.read(reading_end(fifo), 1)):
        threading.Thread(target=run, daemon=True).start()
    print(json.dumps({"futex": futex, "jit": jit}), flush=True)
    time.sleep(600)


def become(uid, groups, root_of_its_own):
    """For a child: another user, who may be root in a user namespace of his own."""
    os.setgroups(list(groups))
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    if root_of_its_own:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(4, 1)  # PR_SET_DUMPABLE: files in /proc/self are its own again
        if libc.unshare(0x10000000) != 0:  # CLONE_NEWUSER
            raise OSError(ctypes.get_errno(), "unshare")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")


def status_and_body(path, where, uid=NOBODY, groups=(), root_of_its_own=False):
    """What is answered to a process of this user; who it is counts when it connects."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            become(uid, groups, root_of_its_own)
            made = LocalConnection if str(where).startswith("/") else http.client.HTTPConnection
            connection = made(str(where), timeout=30)
            connection.request("GET", path, headers={"Host": "localhost"})
            answer = connection.getresponse()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(b"%d\n" % answer.status + answer.read())
        except BaseException as error:  # pylint: disable=broad-except
            os.write(2, f"{path} at {where}: {error!r}\n".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if not said:
        return 0, b""
    status, body = said.split(b"\n", 1)
    return int(status), body


class Disclosure(Case):
    settings = {"stalls.threshold": "1s", "pass_interval": "1s", "snapshots.interval": "1s"}

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="offcpud-disclosure-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.chmod(0o755)
        cls.socket = cls.folder / "local.sock"
        cls.settings = {**cls.settings, **cls.local_settings()}
        super().setUpClass()
        secret = cls.folder / "secret"
        secret.mkdir(mode=0o700)
        cls.fifo = secret / "of-payroll"
        os.mkfifo(cls.fifo)
        cls.victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(Path(__file__).parent), str(cls.fifo)],
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_the_tester)
        cls.addClassCleanup(cls.victim.wait)
        cls.addClassCleanup(cls.victim.kill)
        cls.known = json.loads(cls.victim.stdout.readline())
        cls.wait_for("stalls of the victim", lambda: len(
            cls.stalls_of(cls.answer("/api/v1/stalls?for=unknown", cls.tcp()))) == 3)
        merge = f"/api/v1/snapshots/merge?pid={cls.victim.pid}"
        cls.wait_for("a snapshot of the victim", lambda: b"poll" in status_and_body(
            merge, cls.tcp())[1])

    @staticmethod
    def wait_for(what, condition):
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within a minute: {what}")
            time.sleep(0.2)

    @classmethod
    def local_settings(cls):
        return {"web.local_socket": cls.socket}

    @classmethod
    def tcp(cls):
        return f"127.0.0.1:{cls.daemon.port}"

    @classmethod
    def answer(cls, path, where, **asker):
        """What a process of this user gets; a status of 200 is expected."""
        status, body = status_and_body(path, where, **asker)
        if status != 200:
            raise AssertionError(f"{path} at {where} as {asker}: {status} {body[:200]}")
        return body

    @classmethod
    def stalls_of(cls, body):
        return [stall for stall in json.loads(body)["stalls"] if stall["pid"] == cls.victim.pid]

    def mappings(self):
        for line in Path(f"/proc/{self.victim.pid}/maps").read_text().splitlines():
            begin, end = line.split()[0].split("-")
            yield int(begin, 16), int(end, 16)

    def disclosed(self, body):
        """What in these bytes is an address of the victim, its word, or the name of its file."""
        text = body.decode("utf-8", "replace")
        mappings = list(self.mappings())
        found = [number for number in set(re.findall(r"[0-9a-fA-F]{8,16}", text))
                 if any(begin <= int(number, 16) < end for begin, end in mappings)]
        found += [word for word in (f"{WORD:x}", str(WORD), "payroll", str(self.folder / "secret"))
                  if word in text]
        return found

    def addresses_in(self, profile):
        """Those of the victim's memory that the profile has, as numbers."""
        message = pprof_profile.fields(gzip.decompress(profile))
        mappings = list(self.mappings())
        locations = [dict(pprof_profile.fields(value)) for number, value in message if number == 4]
        return [hex(location.get(3, 0)) for location in locations
                if any(begin <= location.get(3, 0) < end for begin, end in mappings)]

    def expect_nothing(self, where, **asker):
        victim = f"pid={self.victim.pid}"
        for path in ("/api/v1/stalls", "/api/v1/top?" + victim, "/api/v1/top?threads=true&" + victim,
                     "/api/v1/snapshots", "/api/v1/snapshots/merge?" + victim,
                     "/api/v1/snapshots/merge?format=folded&" + victim, "/api/v1/units",
                     "/api/v1/status", "/metrics"):
            found = self.disclosed(self.answer(path, where, **asker))
            self.say(not found, f"{path} at {where} discloses", "nothing", found or "nothing")
        for path in ("/debug/pprof/offcpu?seconds=1&" + victim,
                     "/api/v1/snapshots/merge?format=pprof&" + victim):
            profile = self.answer(path, where, **asker)
            self.expect_at_least(f"stacks of {path}", 1, len(pprof_profile.Profile(profile).samples))
            found = self.addresses_in(profile)
            self.say(not found, f"{path} at {where} discloses", "nothing", found or "nothing")
        stalls = self.stalls_of(self.answer("/api/v1/stalls?for=unknown", where, **asker))
        self.expect_equal("stalls that are told of all the same", 3, len(stalls))

    def expect_all(self, where, **asker):
        body = self.answer("/api/v1/stalls?for=unknown", where, **asker).decode()
        for what in (f"{self.known['futex']:#x}", f"{WORD:#x}", str(self.fifo)):
            self.say(what in body, f"stalls at {where} have", what, what if what in body else "not")

    def test_over_tcp_nobody_is_known(self):
        self.expect_nothing(self.tcp())
        self.expect_nothing(self.tcp(), uid=0)

    def test_the_local_socket_knows_who_asks(self):
        self.expect_all(self.socket, uid=0)
        self.expect_nothing(self.socket)
        self.expect_nothing(self.socket, root_of_its_own=True)
        mode = self.socket.stat().st_mode & 0o777
        self.expect_equal("mode of the socket", 0o666, mode)

    def test_the_status_says_what_the_asker_may_see(self):
        for uid, addresses in ((0, True), (NOBODY, False)):
            status = json.loads(self.answer("/api/v1/status", self.socket, uid=uid))
            self.say(status["access"] == {"details": True, "addresses": addresses}, f"access of {uid}",
                     addresses, status["access"])

    def test_waiters_at_one_futex_have_one_name(self):
        stalls = self.stalls_of(self.answer("/api/v1/stalls?for=unknown", self.tcp()))
        names = [stall["waits_for"]["futex"]["id"] for stall in stalls if "futex" in stall["waits_for"]]
        self.expect_equal("waiters at the futex", 2, len(names))
        self.expect_equal("names of it", 1, len(set(names)))

    def test_the_pages_are_there_on_the_socket(self):
        for path in ("/", "/flame", "/overview.js", "/-/ready"):
            self.answer(path, self.socket)


class Group(Disclosure):
    """Members of web.socket_group are trusted."""

    @classmethod
    def local_settings(cls):
        cls.group = grp.getgrnam("games")
        return {"web.local_socket": cls.socket, "web.socket_group": cls.group.gr_name}

    def test_members_see_all_and_others_do_not(self):
        self.expect_all(self.socket, uid=SOMEBODY, groups=[self.group.gr_gid])
        self.expect_nothing(self.socket, uid=SOMEBODY, groups=[self.group.gr_gid + 1])


class Numbers(WaitedOnCase):
    """Who may not see details is told what units wait for, but not on whom."""

    settings = {**WaitedOnCase.settings, "web.details": "off"}

    def answers(self, cgroup):
        """How long threads of the cgroup have waited for answers."""
        family = self.daemon.scrape().families.get(WAITS)
        return sum(one.sum for having, one in (family.histograms.items() if family else ())
                   if dict(having)["cgroup"] == cgroup.path and dict(having)["for"] == "answer")

    def test_whom_units_wait_on_is_a_detail(self):
        server, client = self.new_unit("server"), self.new_unit("client")
        self.serve(server, "tcp", "127.0.0.1:29771")
        self.run_in(client, *PROGRAMS, "ask", "tcp", "recv,kept", "127.0.0.1:29771", 60)
        self.wait_until("the client's waits are told", lambda: self.answers(client) > 2, 60)
        where = f"127.0.0.1:{self.daemon.port}"
        metrics = status_and_body("/metrics", where)[1].decode()
        found = re.findall(r"(?m)^(?:# HELP )?offcpud_waited_on.*|[{,]on=\"[^\"]*\"", metrics)
        self.say(not found, "what /metrics says of whom units wait on", "nothing", found[:3] or "nothing")
        why = json.loads(status_and_body(f"/api/v1/why?unit={client.unit}", where)[1])
        answers = [verdict for verdict in why["verdicts"] if verdict["for"] == "answer"]
        self.expect_at_least("verdicts about answers", 1, len(answers))
        self.say(server.unit not in json.dumps(answers), "the server in these", "not named", answers)
        edges = [edge for edge in why["graph"]["edges"] if edge["for"] not in ("cpu", "throttled")]
        self.say(not edges, "edges of the graph that are no waits for a CPU", "none", edges or "none")

        def rows():
            status, body = status_and_body(f"/api/v1/changes?unit={client.unit}&from=-10s", where)
            return json.loads(body)["rows"] if status == 200 else []
        self.wait_until("changes know the client's waits", rows)
        named = [row for row in rows() if row["site"] or row.get("functions")]
        self.say(not named, "rows of changes with a site or functions", "none", named or "none")


class NumbersOfStalls(WaitedOnCase):
    """The same of a thread that is stuck behind a lock. At first this client may see details, so that what it may not
    see later is known to be there."""

    WITH_CULPRIT = ("/api/v1/why?unit={}", "/api/v1/why?format=text&unit={}", "/api/v1/stalls?cgroup={}")

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-numbers-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.configure("open")
        cls.settings = {**WaitedOnCase.settings, "stalls.threshold": "1s", "config": cls.folder / "offcpud.yaml"}
        super().setUpClass()

    @classmethod
    def configure(cls, details):
        (cls.folder / "offcpud.yaml").write_text(f"web:\n  details: '{details}'\n")

    def told(self, path):
        """What a client over TCP gets, and its status."""
        status, body = status_and_body(path, f"127.0.0.1:{self.daemon.port}")
        return status, body.decode()

    def stalls_on(self, cgroup):
        """On whom threads of the cgroup are stuck, by /metrics."""
        family = self.daemon.scrape().families.get("offcpud_stalls_waiting_on")
        return {dict(having)["on"] for (_, having), number in (family.samples.items() if family else ())
                if dict(having)["cgroup"] == cgroup.path and number > 0}

    def test_who_holds_a_lock_is_a_detail(self):
        keeper, customer = self.new_unit("keeper"), self.new_unit("customer")
        book = self.folder / "book"
        holder = self.run_in(keeper, sys.executable, "-c", KEEPER, book, stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "holding\n")
        self.run_in(customer, "flock", book, "true")
        paths = [path.format(customer.unit) for path in self.WITH_CULPRIT]
        self.wait_until("who may see details is told the holder in each answer", lambda: all(
            keeper.unit in self.told(path)[1] for path in paths), 60)
        self.wait_until("and in /metrics", lambda: self.stalls_on(customer) == {keeper.unit})

        self.configure("off")
        os.kill(self.daemon.pid, signal.SIGHUP)
        self.wait_until("details are off", lambda: self.told("/api/v1/stalls")[0] == 403)
        # Who had the CPU while others waited for it is a number that all may see.
        why = json.loads(self.told(paths[0])[1])
        cpus = ("cpu", "throttled")
        rows = [*why["verdicts"], *(cause for tree in why["units"] for cause in tree["causes"]), *why["graph"]["edges"]]
        others = [row for row in rows if row["for"] not in cpus]
        self.say(keeper.unit not in json.dumps(others), "the holder in all but waits for a CPU", "not named", others)
        locks = [verdict for verdict in why["verdicts"] if verdict["for"] == "lock"]
        self.say(bool(locks), "why still knows of the lock", "a verdict", locks)
        lines = [line for line in self.told(paths[1])[1].splitlines() if " for a lock" in line]
        self.say(lines and not any(keeper.unit in line for line in lines), "lines about a lock",
                 "some, without the holder", lines)
        metrics = self.told("/metrics")[1]
        found = re.findall(r"(?m)^(?:# HELP )?offcpud_stalls_waiting_on.*|[{,]on=\"[^\"]*\"", metrics)
        self.say(not found, "what /metrics says of whom the stall is on", "nothing", found[:3] or "nothing")
        stuck = self.daemon.scrape().value("offcpud_stalls_in_progress", cgroup=customer.path, **{"for": "lock"})
        self.expect_equal("stalls that /metrics still counts", 1, stuck)


class Lifetime(Case):
    """The socket comes and goes with its daemon, and is nobody else's to take."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())

    def setUp(self):
        super().setUp()
        self.folder = Path(tempfile.mkdtemp(prefix="offcpud-lifetime-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.folder.chmod(0o755)
        self.socket = self.folder / "made" / "local.sock"

    def daemon_there(self, **settings):
        daemon = Daemon.start(**{"web.local_socket": self.socket, **settings})
        self.addCleanup(daemon.stop)
        return daemon

    def status(self, uid=0):
        return status_and_body("/api/v1/status", self.socket, uid=uid)[0]

    def test_it_goes_with_the_daemon_and_so_does_the_folder(self):
        daemon = self.daemon_there()
        self.expect_equal("answer", 200, self.status(uid=NOBODY))
        daemon.stop()
        self.say(not self.socket.parent.exists(), "folder that was made for it", "gone",
                 self.socket.parent.exists())

    def test_that_of_a_dead_daemon_is_replaced_and_that_of_a_living_one_is_not(self):
        first = self.daemon_there()
        first.kill()
        self.say(self.socket.exists(), "socket of the dead daemon", "left behind", self.socket.exists())
        second = self.daemon_there()
        self.expect_equal("answer of the second", 200, self.status())
        third = self.daemon_there()
        self.say(any("another process listens on unix:" in line and "--set web.local_socket=" in line for line in third.log()),
                 "log of the third", "says why it has none", third.log()[-3:])
        status = third.get_json("/api/v1/status")
        self.say(status["local_socket"] is None, "its local socket", None, status["local_socket"])
        third.stop()
        self.expect_equal("answer of the second", 200, self.status())
        second.stop()


class Login(Secured):
    """With users nobody but root gets in without a password, and who has one sees all."""

    web = "basic_auth_users: {alice: @HASH@}\n"

    @classmethod
    def setUpClass(cls):
        sockets = tempfile.TemporaryDirectory(prefix="offcpud-login-")
        cls.addClassCleanup(sockets.cleanup)
        Path(sockets.name).chmod(0o755)
        cls.socket = Path(sockets.name) / "local.sock"
        cls.options = {"web.local_socket": cls.socket}
        super().setUpClass()

    def test_root_needs_none_on_the_socket(self):
        self.expect_equal("root", 200, status_and_body("/api/v1/stalls", self.socket, uid=0)[0])
        self.expect_equal("a user", 401, status_and_body("/api/v1/stalls", self.socket)[0])
        self.expect_equal("root over TCP", 401,
                          status_and_body("/api/v1/stalls", f"127.0.0.1:{self.daemon.port}", uid=0)[0])

    def test_who_logged_in_sees_addresses(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=20)
        self.addCleanup(connection.close)
        for _ in range(2):  # the second time it is remembered
            connection.request("GET", "/api/v1/status", headers=ALICE)
            access = json.loads(connection.getresponse().read())["access"]
            self.say(access == {"details": True, "addresses": True}, "access", "all", access)


class Client(Case):
    """offcpuctl asks on the socket by itself, and elsewhere when nobody answers there."""

    settings = {}
    default = Path("/run/offcpud/offcpud.sock")

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable(), cls.default.exists() and f"{cls.default} is in use")

    def test_without_server_it_asks_the_local_socket(self):
        daemon = Daemon.start(**{"web.local_socket": self.default})
        self.addCleanup(daemon.stop)
        asked = subprocess.run([BUILD / "bin" / "offcpuctl", "status", "--json"], capture_output=True,
                               text=True, timeout=30, check=True)
        status = json.loads(asked.stdout)
        self.expect_equal("port of who answered", daemon.port, int(status["listen"].rsplit(":")[-1]))
        self.say(status["access"]["addresses"], "addresses", True, status["access"])
        daemon.kill()
        self.addCleanup(self.default.unlink)
        asked = subprocess.run([BUILD / "bin" / "offcpuctl", "status"], capture_output=True, text=True,
                               timeout=30, check=False)
        self.say("local.sock" not in asked.stderr and "19435" in asked.stderr + asked.stdout,
                 "where it asks when the daemon is dead", "loopback", asked.stderr)


if __name__ == "__main__":
    main()
