# SPDX-License-Identifier: Apache-2.0
"""The Kubernetes manifests, and what follows from them for a container."""

from pathlib import Path

import yaml

TREE = Path(__file__).resolve().parents[2]
KUBERNETES = TREE / "packaging" / "kubernetes"
KIBI = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def documents(path):
    """The YAML documents of a file below packaging/kubernetes."""
    with open(KUBERNETES / path) as file:
        return [document for document in yaml.safe_load_all(file) if document]


def kustomizations():
    """By folder, each kustomization.yaml."""
    return {
        path.parent: documents(path)[0] for path in sorted(KUBERNETES.rglob("kustomization.yaml"))
    }


def daemon_set():
    return documents("base/daemonset.yaml")[0]


def pod():
    return daemon_set()["spec"]["template"]["spec"]


def container():
    (only,) = pod()["containers"]
    return only


def capabilities():
    """As the kernel names them."""
    return ["CAP_" + name for name in container()["securityContext"]["capabilities"]["add"]]


def size(text):
    return int(text[:-2]) * KIBI[text[-2:]]
