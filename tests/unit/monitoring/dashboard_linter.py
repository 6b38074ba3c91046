# SPDX-License-Identifier: Apache-2.0
"""The rules of grafana/dashboard-linter (docs/index.md there), each by its name, as far as they are
about Prometheus. target-promql-rule is promtool's business; target-histogram-rule, which wants every
_bucket in a histogram_quantile, is left out: heatmaps are made of buckets."""

import re

from dashboards import panels, targets, variables

# Those of Grafana's units (packages/grafana-data/src/valueFormats/categories.ts) that are used here.
UNITS = {"short", "s", "ops", "bytes", "Bps", "percentunit", "bool_yes_no"}
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


def template_datasource_rule(dashboard):
    found = [v for v in dashboard["templating"]["list"] if v["type"] == "datasource"]
    if [(v["name"], v["label"], v["query"]) for v in found] != [
            ("datasource", "Data source", "prometheus")]:
        yield "one variable datasource, with the label Data source"


def _template_rule(dashboard, name):
    variable = variables(dashboard).get(name)
    if variable is None:
        yield f"a variable {name}"
        return
    wanted = {"type": "query", "datasource": DATASOURCE, "label": name.title(), "multi": True,
              "allValue": ".+"}
    for key, value in wanted.items():
        if variable.get(key) != value:
            yield f"{key} of the variable {name}: {value!r}, not {variable.get(key)!r}"


def template_job_rule(dashboard):
    yield from _template_rule(dashboard, "job")


def template_instance_rule(dashboard):
    yield from _template_rule(dashboard, "instance")


def template_label_promql_rule(dashboard):
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query" and not re.fullmatch(
                r"label_values\(\w+(\{.*\})?, \w+\)", variable["query"]["query"]):
            yield f"label_values(metric, label) for {variable['name']}"


def template_on_time_change_reload_rule(dashboard):
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query" and variable["refresh"] != 2:
            yield f"{variable['name']} to be read again when the time range changes"


def panel_datasource_rule(dashboard):
    for panel in panels(dashboard):
        for place in (panel, *panel["targets"]):
            if place["datasource"] != DATASOURCE:
                yield f"the variable as data source of {panel['title']}"


def panel_title_description_rule(dashboard):
    for panel in panels(dashboard):
        if not panel["title"] or not panel["description"]:
            yield f"title and description of panel {panel['id']}"


def panel_units_rule(dashboard):
    for panel in panels(dashboard):
        given = [panel["fieldConfig"]["defaults"].get("unit")]
        given += [p["value"] for o in panel["fieldConfig"]["overrides"] for p in o["properties"]
                  if p["id"] == "unit"]
        if not set(given) <= UNITS:
            yield f"a unit of Grafana's for {panel['title']}, not one of {given}"


def panel_no_targets_rule(dashboard):
    for panel in panels(dashboard):
        if not panel["targets"]:
            yield f"a query in {panel['title']}"


def target_rate_interval_rule(dashboard):
    for panel, target in targets(dashboard):
        expr = re.sub(r'"[^"]*"', "", target["expr"])  # matchers may have brackets
        for interval in re.findall(r"\brate\([^\[]*\[([^\]]*)\]", expr):
            if interval != "$__rate_interval":
                yield f"rate over $__rate_interval in {panel['title']}, not {interval}"


def _selectors(expr):
    """Every metric with its matchers; every metric of the dashboards has some."""
    return re.findall(r"\b([a-z_]\w*)\{([^}]*)\}", expr)


def _matcher_rule(dashboard, name):
    for panel, target in targets(dashboard):
        found = _selectors(target["expr"])
        if not found or any(f'{name}=~"${name}"' not in of for _, of in found):
            yield f'{name}=~"${name}" in {panel["title"]}: {target["expr"]}'


def target_job_rule(dashboard):
    yield from _matcher_rule(dashboard, "job")


def target_instance_rule(dashboard):
    yield from _matcher_rule(dashboard, "instance")


def target_counter_agg_rule(dashboard):
    counter = re.compile(r"(\w+\()?\b\w+_(?:total|sum|count|bucket)\{")
    for panel, target in targets(dashboard):
        for match in counter.finditer(target["expr"]):
            if match[1] not in ("rate(", "irate(", "increase("):
                yield f"rate or increase of a counter in {panel['title']}: {target['expr']}"


def uneditable_dashboard(dashboard):
    if dashboard["editable"]:
        yield "a dashboard that is not editable"


RULES = [of for name, of in sorted(globals().items())
         if name.endswith("_rule") and not name.startswith("_")] + [uneditable_dashboard]


def complaints(dashboard):
    """Sentences; none for a dashboard without fault."""
    return [f"{rule.__name__.replace('_', '-')} wants {wanted}"
            for rule in RULES for wanted in rule(dashboard)]
