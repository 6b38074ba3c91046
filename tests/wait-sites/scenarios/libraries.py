# SPDX-License-Identifier: Apache-2.0
"""Libraries in which programs of C and C++ wait: the C library, GLib, OpenMP, D-Bus, the resolver."""

import sys

from scenario import DEBIAN_PYTHON, PROGRAMS, scenario
from scenarios.daemons import dbus_daemon


@scenario("C library", "g++")
def libc_waits(stage):
    stage.do("g++", "-O2", "-g0", "-std=c++20", "-pthread", "-o", "waits", PROGRAMS / "libc_waits.cpp")
    stage.start("threads", stage.folder / "waits")


@scenario("OpenMP", "gcc")
def openmp_teams(stage):
    stage.do("gcc", "-O2", "-g0", "-fopenmp", "-o", "team", PROGRAMS / "openmp.c")
    for kind, truth in (("lock", "lock"), ("idle", "work")):
        stage.start(kind, stage.folder / "team", kind, truth={"*:sleep": "timer", "*": truth})


@scenario("GLib", DEBIAN_PYTHON)
def glib_waits(stage):
    stage.start("threads", DEBIAN_PYTHON, PROGRAMS / "glib_waits.py", truth={"sleep": "timer"})


@scenario("D-Bus", "dbus-daemon", "busctl", DEBIAN_PYTHON)
def dbus_service_that_is_silent(stage):
    """Whoever calls it waits, by each of the three client libraries."""
    address = dbus_daemon(stage)
    service = "offcpud.silent"
    call = f"'{service}', '/', '{service}', 'Call'"
    stage.start("timer-service", DEBIAN_PYTHON, PROGRAMS / "silent_service.py", address, service)
    for _ in range(50):
        if service in stage.do("busctl", f"--address={address}", "list", "--no-pager"):
            break
        stage.nap()
    stage.start("answer-libdbus", DEBIAN_PYTHON, "-c", "import dbus\n"
                f"dbus.bus.BusConnection('{address}').call_blocking({call}, '', (), timeout=3600)")
    stage.start("answer-systemd", "busctl", f"--address={address}", "--timeout=3600", "call", service, "/", service,
                "Call")
    stage.start("answer-gio", DEBIAN_PYTHON, "-c", "from gi.repository import Gio\n"
                f"bus = Gio.DBusConnection.new_for_address_sync('{address}', Gio.DBusConnectionFlags."
                "AUTHENTICATION_CLIENT | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)\n"
                f"bus.call_sync({call}, None, None, Gio.DBusCallFlags.NONE, 3600000, None)",
                truth={"gdbus": "work", "gmain": "work", "pool-*": "work", "*": "answer"})


@scenario("resolver", DEBIAN_PYTHON, "unshare")
def name_server_that_is_silent(stage):
    """Its port is the only one that resolvers ask, so it has an address of its own."""
    address = "127.82.0.53"
    stage.aside(sys.executable, PROGRAMS / "silent_datagrams.py", address, 53)
    settings = stage.file("resolv.conf", f"nameserver {address}\noptions timeout:30 attempts:5\n")
    stage.start("answer", "unshare", "--mount", "sh", "-c", f"mount --bind {settings} /etc/resolv.conf && "
                f"exec {DEBIAN_PYTHON} {PROGRAMS}/kernel_waits.py look-up")
