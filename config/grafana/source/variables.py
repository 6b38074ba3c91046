# SPDX-License-Identifier: Apache-2.0
"""Template variables, and the dashboard around panels."""

from panels import DATASOURCE, arranged
from queries import HOST, select

REASONS = ["disk", "lock", "network", "pipe", "kernel", "stopped", "other"]
IDLE_PRONE = ["condvar", "poll", "sleep", "child"]  # an idle service blocks there: off by default
PURPOSES = ["lock", "answer", "storage", "memory", "stopped"]
OTHER_PURPOSES = ["unknown", "work", "timer"]  # nobody can tell, and idle: off by default
ALL = {"text": ["All"], "value": ["$__all"]}


def datasource():
    return {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
            "current": {}, "hide": 0, "refresh": 1, "regex": "", "multi": False, "includeAll": False}


def _query(name, label, query, all_value, **more):
    return {"name": name, "label": label, "type": "query", "datasource": DATASOURCE,
            "query": {"query": query, "refId": f"{name}-values"}, "definition": query,
            "current": ALL, "includeAll": True, "allValue": all_value, "multi": True, "refresh": 2,
            "regex": "", "sort": 1, "hide": 0, **more}


def job():
    return _query("job", "Job", "label_values(offcpud_build_info, job)", ".+")


def instance():
    return _query("instance", "Instance",
                  'label_values(offcpud_build_info{job=~"$job"}, instance)', ".+")


def _of_subjects(name, label, *matchers, all_value=".*"):
    subjects = select("offcpud_running_seconds_total", HOST, *matchers)
    return _query(name, label, f"label_values({subjects}, {name})", all_value)


def slices():
    return _of_subjects("slice", "Slice")


def unit():
    return _of_subjects("unit", "Unit", 'slice=~"$slice"')


def cgroup():
    """Of the chosen units: the series of processes have no other label in common with theirs. All
    means each of them, not every text, so it has no value of its own."""
    return _of_subjects("cgroup", "Cgroup", 'slice=~"$slice"', 'unit=~"$unit"', all_value=None)


def over():
    query = f"label_values({select('offcpud_stalled_threads', HOST)}, over)"
    return _query("over", "Stalled over", query, None, multi=False, includeAll=False,
                  current={"text": "10s", "value": "10s"})


def _custom(name, label, values, chosen, multi):
    options = [{"text": v, "value": v, "selected": v in chosen} for v in values]
    current = chosen if multi else chosen[0]
    return {"name": name, "label": label, "type": "custom", "query": ",".join(values),
            "options": options, "current": {"text": current, "value": current}, "multi": multi,
            "includeAll": False, "hide": 0}


def purpose():
    return _custom("for", "Waits for", PURPOSES + OTHER_PURPOSES, PURPOSES, multi=True)


def reason():
    return _custom("reason", "Reason", REASONS + IDLE_PRONE, REASONS, multi=True)


def like():
    return _query("like", "Like host", 'label_values(offcpud_build_info{job=~"$job"}, instance)', None,
                  multi=False, includeAll=False, current={})


def quantile():
    return _custom("quantile", "Quantile", ["0.5", "0.9", "0.99", "0.999"], ["0.99"], multi=False)


def scheme():
    return _custom("scheme", "Links by", ["http", "https"], ["http"], multi=False)


def flame_link(cgroup_field=None, labels="__data.fields"):
    """To /flame of a row's or a series' instance, at the time that the dashboard shows."""
    url = (f"${{scheme}}://${{{labels}.instance}}/flame"
           "?from=${__from:date:seconds}&to=${__to:date:seconds}")
    if cgroup_field:
        url += f"&cgroup=${{{labels}.{cgroup_field}:percentencode}}"
    return {"title": "Flame graph of this time", "url": url, "targetBlank": True}


def point_link(cgroup_label=None):
    """To /flame of the minute of the point that is clicked, on the series' instance. `cgroup_label`: of the
    series; it may be a unit, and is empty where the series has none."""
    url = "${scheme}://${__field.labels.instance}/flame?at=${__value.time}"
    if cgroup_label:
        url += f"&cgroup=${{__field.labels.{cgroup_label}:percentencode}}"
    return {"title": "Flame graph of this minute", "url": url, "targetBlank": True}


def dashboard_link(title, uid, *fields, labels="__data.fields"):
    """To another of the dashboards, with what the row says."""
    chosen = "".join(f"&var-{f}=${{{labels}.{f}:percentencode}}" for f in fields)
    return {"title": title, "targetBlank": False,
            "url": f"/d/{uid}?${{datasource:queryparam}}&${{__url_time_range}}{chosen}"}


def _annotation(name, color, expr, title, text, **more):
    return {"name": name, "datasource": DATASOURCE, "enable": True, "hide": False, "iconColor": color,
            "expr": expr, "step": "30s", "titleFormat": title, "textFormat": text, "tagKeys": "", **more}


def annotations():
    """When a daemon began, before which its numbers are of another one; and while alerts fire."""
    started = f"{select('process_start_time_seconds', HOST)} * 1000"
    alerts = select("ALERTS", 'alertname=~"Offcpud.+"', 'alertstate="firing"', HOST)
    return [_annotation("Restarts", "blue", started, "offcpud began", "{{instance}}", useValueForTime=True),
            _annotation("Alerts", "red", alerts, "{{alertname}}", "{{instance}} {{unit}} {{cgroup}}")]


def dashboard(uid, title, description, variables, panels):
    beside = {"type": "dashboards", "title": "offcpud", "tags": ["offcpud"], "asDropdown": False,
              "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
              "tooltip": "", "url": ""}
    return {"uid": uid, "title": title, "description": description, "tags": ["offcpud"], "id": None,
            "schemaVersion": 39, "version": 1, "editable": False, "graphTooltip": 1, "refresh": "30s",
            "time": {"from": "now-1h", "to": "now"}, "timezone": "browser", "weekStart": "",
            "fiscalYearStartMonth": 0, "liveNow": False, "timepicker": {}, "links": [beside],
            "annotations": {"list": annotations()}, "templating": {"list": variables},
            "panels": arranged(panels)}
