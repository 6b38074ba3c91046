# SPDX-License-Identifier: Apache-2.0
"""The parts of a daemon's answers that are about the units of an incident. What else the host had to do is taken out,
of sums, too: these are exact, so what is left is what the daemon would have said of a host with these units alone."""
import json

# Instead of what the status says of the host of the tests, and of its files.
NAMELESS = {"host": "shop-3.example.net", "config": {"files": [], "last_reload_successful": True}}
DIGITS = 5  # of numbers that are not whole
WAITING = ("actionable", "idle", "unknown", "children")
STATUS = ("version", "revision", "kernel", "uptime_seconds", "access", "features", "last_pass", "passes",
          "pass_failures", "series", "series_folded", "subjects", "threads", "own_use", "lost_events", "maps")
TOP = ("interval_seconds", "taken", "window", "matching", "threads")
TEXTS = ("comm", "thread", "cgroup", "reason", "for", "site", "waker")  # columns of stacks: numbers of strings
STACKS = ("stack", "waker_stack")


def less(total, part):
    """A number, or each of a list or a map, without that of a part of it. What is not known stays so."""
    if isinstance(total, dict):
        return {name: less(value, part.get(name)) for name, value in total.items()}
    if isinstance(total, list):
        return [less(value, part[i]) if part else value for i, value in enumerate(total)]
    return total if total is None or part is None else max(0, total - part)


def shortened(value):
    if isinstance(value, dict):
        return {name: shortened(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shortened(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


class Numbers:
    """Numbers things in the order in which they are asked for."""

    def __init__(self, *first):
        self.of = {one: i for i, one in enumerate(first)}

    def __call__(self, one):
        return self.of.setdefault(one, len(self.of))

    @property
    def all(self):
        return list(self.of)


class OfIncident:
    """Of the units below a slice, which gets the name of a slice that a host might have."""

    name = "/shop.slice"

    def __init__(self, slice_, units):
        self.slice, self.known = slice_, {f"{unit}.service" for unit in units}
        self.whole = None  # the last answer about all units

    def of(self, path, answer):
        keep = {"/api/v1/units": self.units, "/api/v1/changes": self.changes, "/api/v1/stalls": self.stalls,
                "/api/v1/why": self.why, "/api/v1/snapshots/merge": self.stacks,
                "/api/v1/top": self.top,
                "/api/v1/status": lambda status: {**{name: status[name] for name in STATUS}, **NAMELESS}}
        kept = keep.get(path, lambda same: same)(answer)
        text = json.dumps(shortened(kept))
        return json.loads(text.replace(self.slice.strip("/"), self.name.strip("/")))

    def is_one(self, row):
        return row["cgroup"].startswith(self.slice + "/")

    def units(self, answer):
        """Nothing can be taken out of the sums of an answer that has some units only: it gets those of a whole one."""
        if len(answer["units"]) < answer["matching"]:
            rows = [self.unit(row) for row in answer["units"] if self.is_one(row)]
            return {**self.whole, "units": rows, "lengths": None}
        total = answer["total"]
        waits = total["waits"]
        for row in answer["units"]:
            if self.is_one(row):
                continue
            total["running"] -= row["running"]
            waits.update({name: less(waits[name], row["waits"][name]) for name in WAITING})
            for kind, wait in row["waits"]["for"].items():
                waits["for"][kind]["waiting"] = less(waits["for"][kind]["waiting"], wait["waiting"])
            if "steps" in total:
                total["steps"] = less(total["steps"], row["steps"])
        rows = [self.unit(row) for row in answer["units"] if self.is_one(row)]
        kept = {**answer, "total": {**total, "blocked": {}}, "units": rows, "matching": len(rows)}
        if self.whole is None or kept["taken"] > self.whole["taken"]:
            self.whole = kept
        return kept

    def unit(self, row):
        takers = [taker for taker in row.get("kept_off") or [] if taker.get("by_unit") in self.known]
        return {**row, "blocked": {}, "kept_off": takers}

    def changes(self, answer):
        rows = [row for row in answer["rows"] if self.is_one(row)]
        return {**answer, "rows": rows, "running": [], "matching": len(rows)}

    def stalls(self, answer):
        rows = [row for row in answer["stalls"] if self.is_one(row)]
        return {**answer, "stalls": rows, "matching": len(rows), "unusual": []}

    def top(self, answer):
        """Without who had the CPU instead, which may be anybody."""
        rows = [{name: value for name, value in row.items() if name not in ("last_taker", "longest_wait")}
                for row in answer["threads"]]
        return {**{name: answer[name] for name in TOP}, "threads": rows}

    def are_known(self, thing):
        """Whether it names no unit but these, at any depth."""
        if isinstance(thing, dict):
            names = [thing.get(key) for key in ("unit", "name", "from", "to", "culprit")]
            is_stranger = any(name and (name.endswith(".service") or name.startswith("no unit"))
                              and name not in self.known for name in names)
            return not is_stranger and all(map(self.are_known, thing.values()))
        return all(map(self.are_known, thing)) if isinstance(thing, list) else True

    def cause(self, cause):
        known = [part for part in cause["parts"] if self.are_known({**part, "parts": []})]
        return {**cause, "parts": [self.cause(part) for part in known]}

    def why(self, answer):
        units = [{**unit, "causes": [self.cause(cause) for cause in unit["causes"]]}
                 for unit in answer["units"] if unit["unit"] in self.known]
        graph = {**answer["graph"], "edges": [edge for edge in answer["graph"]["edges"] if self.are_known(edge)]}
        ends = {edge[end] for edge in graph["edges"] for end in ("from", "to")}
        graph["nodes"] = [node for node in graph["nodes"] if node["name"] in ends]
        verdicts = [verdict for verdict in answer["verdicts"] if self.are_known(verdict)]
        kept = {**answer, "verdicts": verdicts, "units": units, "graph": graph}
        kept.pop("goroutines", None)
        return kept

    def stacks(self, answer):
        """The rows of these units, with the strings, frames and stacks of theirs alone."""
        strings, frames, stacks = Numbers(""), Numbers(), Numbers(())
        at = {name: i for i, name in enumerate(answer["columns"])}

        def text(number):
            return strings(answer["strings"][number])

        def frame(number):
            name, object_name, *rest = answer["frames"][number]
            return frames((text(name), text(object_name), *rest))

        rows = []
        for row in answer["rows"]:
            if not self.is_one({"cgroup": answer["strings"][row[at["cgroup"]]]}):
                continue
            for column in TEXTS:
                row[at[column]] = text(row[at[column]])
            for column in STACKS:
                row[at[column]] = stacks(tuple(map(frame, answer["stacks"][row[at[column]]])))
            rows.append(row)
        return {**answer, "rows": rows, "strings": strings.all, "frames": frames.all, "stacks": stacks.all}
