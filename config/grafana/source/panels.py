# SPDX-License-Identifier: Apache-2.0
"""Panels of Grafana's dashboard model, schema 39 (Grafana 10.4 and later), as plain dictionaries."""

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24  # of the grid


def target(expr, legend="", ref="A", instant=False, shape="time_series"):
    return {"datasource": DATASOURCE, "editorMode": "code", "expr": expr, "format": shape,
            "instant": instant, "legendFormat": legend or "__auto", "range": not instant, "refId": ref}


def _panel(kind, title, description, targets, width, height, unit, **more):
    defaults = {"unit": unit, **more.pop("defaults", {})}
    return {"type": kind, "title": title, "description": description, "datasource": DATASOURCE,
            "targets": targets, "gridPos": {"w": width, "h": height},
            "fieldConfig": {"defaults": defaults, "overrides": more.pop("overrides", [])},
            "options": more.pop("options", {}), **more}


def timeseries(title, description, unit, queries, width=12, stacked=False, links=(), **custom):
    """`queries`: pairs of expression and legend."""
    style = {"drawStyle": "line", "fillOpacity": 30 if stacked else 5, "lineWidth": 1,
             "showPoints": "never", "spanNulls": False,
             "stacking": {"mode": "normal" if stacked else "none", "group": "A"}, **custom}
    targets = [target(expr, legend, chr(ord("A") + i)) for i, (expr, legend) in enumerate(queries)]
    return _panel("timeseries", title, description, targets, width, 8, unit,
                  defaults={"min": 0, "custom": style, "links": list(links)},
                  options={"legend": {"displayMode": "table", "placement": "right",
                                      "calcs": ["mean", "max"], "showLegend": True},
                           "tooltip": {"mode": "multi", "sort": "desc"}})


def logarithmic(title, description, unit, queries, **more):
    """For quantities over many orders of magnitude, as waits are."""
    panel = timeseries(title, description, unit, queries,
                       scaleDistribution={"type": "log", "log": 10}, **more)
    del panel["fieldConfig"]["defaults"]["min"]  # a logarithm has no 0
    return panel


def stat(title, description, unit, expr, width=4, limits=(), mappings=(), legend=""):
    """`limits`: pairs of a value and the colour from there on."""
    steps = [{"color": "green", "value": None}]
    steps += [{"color": color, "value": value} for value, color in limits]
    return _panel("stat", title, description, [target(expr, legend, instant=True)], width, 4, unit,
                  defaults={"thresholds": {"mode": "absolute", "steps": steps},
                            "color": {"mode": "thresholds"}, "mappings": list(mappings),
                            "noValue": "-"},
                  options={"colorMode": "value", "graphMode": "none", "textMode": "auto",
                           "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}})


def heatmap(title, description, queries, width=12):
    """`queries`: by the kind of histograms."""
    legends = {"classic": "{{le}}", "native": ""}
    return _panel("heatmap", title, description,
                  [target(expr, legends[kind], kind, shape="heatmap") for kind, expr in queries.items()],
                  width, 9, "short",
                  options={"calculate": False, "cellGap": 1, "filterValues": {"le": 1e-9},
                           "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64,
                                     "exponent": 0.5, "fill": "dark-orange"},
                           "yAxis": {"unit": "s", "axisPlacement": "left", "reverse": False},
                           "rowsFrame": {"layout": "auto", "value": "Episodes"},
                           "tooltip": {"mode": "single", "yHistogram": False},
                           "legend": {"show": True}})


def table(title, description, columns, hidden=(), links=(), width=WIDTH, height=10):
    """`columns`: (title, unit, expression); rows are joined by their labels and sorted by the first.
    `links`: pairs of the label that carries them and links."""
    refs = [chr(ord("A") + i) for i in range(len(columns))]
    names = {f"Value #{ref}": name for ref, (name, _, _) in zip(refs, columns)}
    if len(columns) == 1:  # not every Grafana gives a single query's column its letter
        names["Value"] = columns[0][0]
    overrides = [{"matcher": {"id": "byName", "options": name},
                  "properties": [{"id": "unit", "value": unit}]} for name, unit, _ in columns]
    overrides += [{"matcher": {"id": "byName", "options": label},
                   "properties": [{"id": "links", "value": list(of)}]} for label, of in links]
    excluded = {name: True for name in ("Time", "__name__", *hidden)}
    return _panel("table", title, description,
                  [target(expr, "", ref, instant=True, shape="table")
                   for ref, (_, _, expr) in zip(refs, columns)],
                  width, height, "short", overrides=overrides,
                  defaults={"custom": {"align": "auto", "filterable": True}},
                  options={"showHeader": True, "sortBy": [{"displayName": columns[0][0], "desc": True}]},
                  transformations=[{"id": "merge", "options": {}},
                                   {"id": "organize", "options": {
                                       "excludeByName": excluded, "indexByName": {},
                                       "renameByName": names}}])


def graph(title, description, edges, width=WIDTH, height=12):
    """`edges`: has the labels id, source and target; Grafana takes the nodes from them (nodeGraph/utils.ts,
    processNodes). The panel looks for a field of the name mainstat, which a display name does not give."""
    return _panel("nodeGraph", title, description, [target(edges, ref="edges", instant=True, shape="table")],
                  width, height, "short",
                  transformations=[{"id": "calculateField", "options": {
                      "mode": "reduceRow", "reduce": {"reducer": "sum"}, "alias": "mainstat"}}])


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": [],
            "gridPos": {"w": WIDTH, "h": 1}}


def arranged(panels):
    """From left to right and from top to bottom, with ids in that order."""
    x = y = height = 0
    for number, panel in enumerate(panels, 1):
        place = panel["gridPos"]
        if x + place["w"] > WIDTH:
            x, y, height = 0, y + height, 0
        place.update(x=x, y=y)
        panel["id"] = number
        x, height = x + place["w"], max(height, place["h"])
    return panels
