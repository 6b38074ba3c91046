# SPDX-License-Identifier: Apache-2.0
"""A container of the image's file system, run by runc as Kubernetes would run the DaemonSet's pod."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import manifests

IMAGE_MOUNTS = {"/sys/fs/cgroup"}  # of `runc spec`, that the manifest replaces


class Container:
    """Runs until close(); `pid` is the daemon's."""

    def __init__(self, folder, root):
        self.name = f"offcpud-image-test-{os.getpid()}"
        self.folder = Path(folder)
        self.state = self.folder / "runc"
        self._write_bundle(root)
        pid_file = self.folder / "pid"
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(
            self._runc("run", "--no-pivot", "--pid-file", pid_file, self.name),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )
        self.pid = 0
        deadline = time.monotonic() + 20
        while not self.pid and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
            if pid_file.exists():
                self.pid = int(pid_file.read_text() or 0)

    def _runc(self, *arguments):
        return ["runc", "--root", self.state, *arguments]

    def _write_bundle(self, root):
        subprocess.run(["runc", "spec"], cwd=self.folder, check=True)
        path = self.folder / "config.json"
        config = json.loads(path.read_text())
        container, context = manifests.container(), manifests.container()["securityContext"]
        held = manifests.capabilities()
        config["process"].update(
            terminal=False,
            args=["/usr/bin/offcpud", *container["args"]],
            user={"uid": context["runAsUser"], "gid": context["runAsGroup"]},
            noNewPrivileges=not context["allowPrivilegeEscalation"],
            capabilities={kind: held for kind in ("bounding", "effective", "permitted")},
        )
        config["root"] = {"path": str(root), "readonly": context["readOnlyRootFilesystem"]}
        linux = config["linux"]
        kinds = ["mount", "ipc", "uts", "network", "cgroup"]
        linux["namespaces"] = [
            {"type": kind} for kind in kinds + ([] if manifests.pod()["hostPID"] else ["pid"])
        ]
        linux["cgroupsPath"] = "/" + self.name
        linux["resources"]["memory"] = {
            "limit": manifests.size(container["resources"]["limits"]["memory"])
        }
        linux["seccomp"] = json.loads(
            (manifests.TREE / "packaging/container/seccomp.json").read_text()
        )
        config["mounts"] = [
            mount for mount in config["mounts"] if mount["destination"] not in IMAGE_MOUNTS
        ] + self._mounts()
        path.write_text(json.dumps(config, indent=1))

    def _mounts(self):
        mounts = []
        volumes = {volume["name"]: volume for volume in manifests.pod()["volumes"]}
        for mount in manifests.container()["volumeMounts"]:
            volume = volumes[mount["name"]]
            if "hostPath" in volume:
                source = Path(volume["hostPath"]["path"])
            else:
                source = self.folder / mount["name"]
                source.mkdir()
            if "configMap" in volume:
                shutil.copy(manifests.KUBERNETES / "base" / "offcpud.yaml", source)
            mounts.append(
                {
                    "destination": mount["mountPath"],
                    "type": "bind",
                    "source": str(source),
                    "options": ["rbind", "ro" if mount.get("readOnly") else "rw"],
                }
            )
        return mounts

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def http(self, path):
        """(status, text) from within the pod's network."""
        (port,) = manifests.container()["ports"]
        url = f"http://127.0.0.1:{port['containerPort']}{path}"
        answer = subprocess.run(
            ["nsenter", f"--net=/proc/{self.pid}/ns/net"]
            + ["curl", "-sS", "--max-time", "10", "-w", "\n%{http_code}", url],
            capture_output=True,
            text=True,
        )
        text, _, status = answer.stdout.rpartition("\n")
        return int(status or 0), text

    def run(self, *command):
        """What kubectl exec would do."""
        return subprocess.run(
            self._runc("exec", self.name, *command), capture_output=True, text=True, timeout=60
        )

    def configure(self, key, value):
        """Sets a key, which the config map may have already, and has it read."""
        path = self.folder / "config" / "offcpud.yaml"
        lines = path.read_text().splitlines()
        kept = [line for line in lines if not line.startswith(f"{key}:")]
        path.write_text("\n".join(kept + [f"{key}: {value}"]) + "\n")
        os.kill(self.pid, signal.SIGHUP)

    def stop(self):
        """Seconds until it has ended after SIGTERM, and its exit status."""
        began = time.monotonic()
        os.kill(self.pid, signal.SIGTERM)
        status = self.process.wait(30)
        return time.monotonic() - began, status

    def close(self):
        if self.process.poll() is None:
            subprocess.run(self._runc("kill", self.name, "KILL"), capture_output=True)
            self.process.wait(30)
        subprocess.run(self._runc("delete", "--force", self.name), capture_output=True)
        self.log.close()
