# SPDX-License-Identifier: Apache-2.0
"""Daemons of a plain host, which wait for somebody who wants something."""

import os
import subprocess

from scenario import scenario  # first: it makes the support folder known

from own_cron import CRON

DBUS = """<busconfig><type>custom</type><listen>unix:path={folder}/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>"""
SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/key.pub
PidFile none
StrictModes no
UsePAM no
"""
# In a namespace like cron's, journald has no other's log, and no socket that others write to.
JOURNALD = """
mount --bind {folder}/journald.conf /etc/systemd/journald.conf
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/journal /run/log/journal
exec {program}
"""
JOURNALD_CONF = "[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nForwardToWall=no\n"
JOURNALD_PROGRAM = "/lib/systemd/systemd-journald"


def dbus_daemon(stage):
    """The address of a bus whose daemon waits for work."""
    config = stage.file("bus.conf", DBUS.format(folder=stage.folder))
    stage.start("work", "dbus-daemon", f"--config-file={config}", "--nofork", "--nopidfile")
    stage.wait_for_file(stage.folder / "bus")
    return f"unix:path={stage.folder}/bus"


@scenario("D-Bus", "dbus-daemon", "dbus-monitor")
def dbus_idle(stage):
    stage.start("work-client", "dbus-monitor", "--address", dbus_daemon(stage))


@scenario("cron", "cron")
def cron_idle(stage):
    """It naps until the next minute."""
    stage.start("timer", "cron", "-f")


@scenario("cron", "cron", "unshare")
def cron_with_a_job_that_naps(stage):
    """Who waits for the job waits for its time; who reads its output, for that or for something to come."""
    stage.file("crontab", "* * * * * root sleep 3600\n").chmod(0o644)
    stage.start("jobs", "unshare", "--mount", "bash", "-e", "-c", CRON.format(folder=stage.folder),
                truth={"*:sleep": "timer", "*": "idle"})


@scenario("journald", JOURNALD_PROGRAM, "unshare", "journalctl", "nsenter")
def journald_idle(stage):
    """It writes what comes, and otherwise waits for more, as whoever follows its journal does."""
    stage.file("journald.conf", JOURNALD_CONF)
    journald = stage.start("idle", "unshare", "--mount", "bash", "-e", "-c",
                           JOURNALD.format(folder=stage.folder, program=JOURNALD_PROGRAM))
    stage.nap(1)
    into = ("nsenter", "--mount", "--target", journald.pid)
    stage.start("work-follower", *into, "journalctl", "-f")
    stage.start("timer-writer", *into, "bash", "-c",
                "while sleep 0.2; do echo a line; done | systemd-cat", truth={"sleep": "timer", "*": "-"})


@scenario("OpenSSH", "sshd", "ssh", "ssh-keygen")
def sshd_idle_and_session(stage):
    for name in ("host_key", "key"):
        stage.do("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", name)
    port = stage.port()
    os.makedirs("/run/sshd", exist_ok=True)
    config = stage.file("sshd_config", SSHD.format(folder=stage.folder, port=port))
    stage.start("work-server", stage.need("sshd"), "-D", "-e", "-f", config)
    stage.wait_for_port(port)
    stage.start("work-client", "ssh", "-T", "-i", stage.folder / "key", "-p", port, "-o", "StrictHostKeyChecking=no",
                "-o", f"UserKnownHostsFile={stage.folder}/known", "root@127.0.0.1", "cat", stdin=subprocess.PIPE)


@scenario("OpenSSH", "ssh")
def ssh_server_that_is_silent(stage):
    stage.start("answer", "ssh", "-p", stage.silent_server(), "-o", "StrictHostKeyChecking=no",
                "-o", f"UserKnownHostsFile={stage.folder}/known", "root@127.0.0.1", "true")


@scenario("rsync", "rsync", rules=False)
def rsync_daemon(stage):
    port = stage.port()
    config = stage.file("rsyncd.conf", f"use chroot = no\n[files]\npath = {stage.folder}\n")
    stage.start("work", "rsync", "--daemon", "--no-detach", f"--config={config}", f"--port={port}",
                "--address=127.0.0.1")
    stage.wait_for_port(port)
    stage.start("answer", "rsync", f"rsync://127.0.0.1:{stage.silent_server()}/files/", "copy/")


@scenario("dnsmasq", "dnsmasq", rules=False)
def dnsmasq_idle(stage):
    stage.start("work", "dnsmasq", "--keep-in-foreground", f"--port={stage.port()}", "--listen-address=127.0.0.1",
                "--bind-interfaces", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--pid-file=")


@scenario("Unbound", "unbound", rules=False)
def unbound_idle(stage):
    config = stage.file("unbound.conf", f'server:\n interface: 127.0.0.1\n port: {stage.port()}\n username: ""\n'
                        f' chroot: ""\n pidfile: "{stage.folder}/pid"\n use-syslog: no\n do-daemonize: no\n'
                        ' num-threads: 3\n')
    stage.start("work", "unbound", "-d", "-c", config)


@scenario("socat", "socat", rules=False)
def socat_relays(stage):
    """Who relays waits for whoever speaks first."""
    port = stage.port()
    stage.start("work-listener", "socat", f"TCP-LISTEN:{port},bind=127.0.0.1,reuseaddr", "STDIO", stdin=subprocess.PIPE)


@scenario("followers of a log", "logger", "tail", rules=False)
def followers_of_a_log(stage):
    """Whoever follows a log waits for its next line."""
    log = stage.file("log", "one line\n")
    stage.start("work-tail", "tail", "-f", log)
    stage.start("work-reader", "sh", "-c", f"tail -f {log} | grep line", truth={"sh": "-", "*": "work"})
