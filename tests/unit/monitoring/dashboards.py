# SPDX-License-Identifier: Apache-2.0
"""The dashboards as JSON, and their expressions as Prometheus gets them."""

import json
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
FOLDER = TREE / "config" / "grafana" / "dashboards"
# What Grafana puts in for its own variables, and for "All" of each template variable.
BUILT_IN = {"$__rate_interval": "1m", "$__range": "1m", "$__interval": "30s"}


def load():
    return [json.loads(file.read_text()) for file in sorted(FOLDER.glob("*.json"))]


def panels(dashboard):
    return [p for p in dashboard["panels"] if p["type"] != "row"]


def variables(dashboard):
    return {v["name"]: v for v in dashboard["templating"]["list"]}


def targets(dashboard):
    """(panel, target) of every query."""
    return [(p, t) for p in panels(dashboard) for t in p["targets"]]


def values(dashboard, **chosen):
    """{variable: regular expression}, as Grafana writes a selection; `chosen` says other ones."""
    found = {}
    for name, variable in variables(dashboard).items():
        if name in chosen:
            found[name] = chosen[name]
        elif variable["type"] == "custom":
            current = variable["current"]["value"]
            found[name] = current if isinstance(current, str) else "(" + "|".join(current) + ")"
        else:
            found[name] = variable.get("allValue") or ".+"
    return found


def substituted(expr, of):
    for name, value in BUILT_IN.items():
        expr = expr.replace(name, value)
    for name in sorted(of, key=len, reverse=True):
        expr = expr.replace(f"${{{name}}}", of[name]).replace(f"${name}", of[name])
    if "$" in expr.replace('"$1"', ""):  # label_replace's own
        raise ValueError(f"a variable that the dashboard does not have: {expr}")
    return expr
