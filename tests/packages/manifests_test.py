# SPDX-License-Identifier: Apache-2.0
"""The manifests refer to what exists, and give the daemon what the systemd unit gives it, no more."""

import json
import re
import subprocess
import unittest

import manifests

UNIT = (manifests.TREE / "systemd" / "offcpud.service.in").read_text()


class Kustomize(unittest.TestCase):
    def test_what_they_name_exists(self):
        self.assertEqual(len(manifests.kustomizations()), 3)
        for folder, kustomization in manifests.kustomizations().items():
            files = list(kustomization.get("resources", []))
            for generator in kustomization.get("configMapGenerator", []):
                files += generator["files"]
            for name in files:
                self.assertTrue((folder / name).is_file(), f"{folder}/{name}")

    def test_every_file_belongs_to_one(self):
        for folder, kustomization in manifests.kustomizations().items():
            named = set(kustomization.get("resources", [])) | {"kustomization.yaml"}
            for generator in kustomization.get("configMapGenerator", []):
                named.update(generator["files"])
            self.assertEqual({path.name for path in folder.iterdir()}, named)

    def test_kinds_and_versions(self):
        kinds = {}
        for folder, kustomization in manifests.kustomizations().items():
            for name in kustomization.get("resources", []):
                for document in manifests.documents(folder / name):
                    kinds[document["kind"]] = document["apiVersion"]
                    self.assertRegex(document["metadata"]["name"], r"^offcpud$")
        self.assertEqual(
            kinds,
            {
                "Namespace": "v1",
                "PriorityClass": "scheduling.k8s.io/v1",
                "DaemonSet": "apps/v1",
                "PodMonitor": "monitoring.coreos.com/v1",
            },
        )

    def test_patches_replace_what_is_there(self):
        (patch,) = manifests.kustomizations()[
            manifests.KUBERNETES / "components" / "seccomp-profile"
        ]["patches"]
        self.assertEqual(patch["target"], {"kind": "DaemonSet", "name": "offcpud"})
        for operation in manifests.yaml.safe_load(patch["patch"]):
            self.assertEqual(operation["op"], "replace")
            at = manifests.daemon_set()
            for step in operation["path"].strip("/").split("/"):
                at = at[int(step)] if isinstance(at, list) else at[step]


class DaemonSet(unittest.TestCase):
    def test_selects_its_own_pods(self):
        base = manifests.kustomizations()[manifests.KUBERNETES / "base"]
        (labels,) = base["labels"]
        self.assertTrue(labels["includeTemplates"])
        selector = manifests.daemon_set()["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(selector.items(), labels["pairs"].items())
        (monitor,) = manifests.documents("components/pod-monitor/pod-monitor.yaml")
        self.assertEqual(monitor["spec"]["selector"]["matchLabels"], selector)

    def test_capabilities_are_those_of_the_unit(self):
        allowed = re.search(r"^CapabilityBoundingSet=(.*)$", UNIT, re.M).group(1).split()
        self.assertEqual(sorted(manifests.capabilities()), sorted(allowed))
        context = manifests.container()["securityContext"]
        self.assertEqual(context["capabilities"]["drop"], ["ALL"])
        self.assertIs(context["privileged"], False)
        self.assertIs(context["allowPrivilegeEscalation"], False)
        self.assertIs(context["readOnlyRootFilesystem"], True)

    def test_memory_is_that_of_the_unit(self):
        most = re.search(r"^MemoryMax=(\d+)M$", UNIT, re.M).group(1)
        limit = manifests.container()["resources"]["limits"]["memory"]
        self.assertEqual(manifests.size(limit), int(most) << 20)

    def test_mounts_have_volumes_and_the_host_is_read_only(self):
        volumes = {volume["name"]: volume for volume in manifests.pod()["volumes"]}
        mounts = {mount["name"]: mount for mount in manifests.container()["volumeMounts"]}
        self.assertEqual(volumes.keys(), mounts.keys())
        for name, volume in volumes.items():
            if "hostPath" in volume:
                self.assertIs(mounts[name]["readOnly"], True, name)
        self.assertEqual(
            {v["hostPath"]["path"] for v in volumes.values() if "hostPath" in v},
            {"/sys/fs/cgroup", "/sys/kernel/btf"},
        )
        maps = [g["name"] for g in self._base().get("configMapGenerator")]
        self.assertIn(volumes["config"]["configMap"]["name"], maps)

    def test_probes_and_monitor_use_the_port_that_it_listens_on(self):
        container = manifests.container()
        (port,) = container["ports"]
        (config,) = manifests.documents("base/offcpud.yaml")
        self.assertTrue(config["listen"].endswith(f":{port['containerPort']}"))
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            self.assertEqual(container[probe]["httpGet"]["port"], port["name"])
        (monitor,) = manifests.documents("components/pod-monitor/pod-monitor.yaml")
        self.assertEqual(monitor["spec"]["podMetricsEndpoints"][0]["port"], port["name"])

    def _base(self):
        return manifests.kustomizations()[manifests.KUBERNETES / "base"]


class Seccomp(unittest.TestCase):
    def test_profile_is_what_the_unit_allows(self):
        profile = json.loads((manifests.TREE / "packaging/container/seccomp.json").read_text())
        made = subprocess.run(
            [manifests.TREE / "packaging/container/seccomp-profile"],
            check=True,
            capture_output=True,
            text=True,
        )
        (allowed,) = profile["syscalls"]
        (now,) = json.loads(made.stdout)["syscalls"]
        self.assertEqual(profile["defaultAction"], "SCMP_ACT_ERRNO")
        # Another systemd may know more calls; those that the unit names itself must be there.
        self.assertEqual(set(allowed["names"]) - set(now["names"]), set())
        named = set(re.findall(r"^SystemCallFilter=([a-z].*)$", UNIT, re.M)[0].split())
        self.assertLessEqual(named, set(allowed["names"]))
        self.assertTrue(set(allowed["names"]).isdisjoint({"mount", "ptrace", "init_module"}))


if __name__ == "__main__":
    unittest.main()
