# SPDX-License-Identifier: Apache-2.0
"""Reads the Prometheus text format 0.0.4 and refuses everything that is not exactly right.

https://prometheus.io/docs/instrumenting/exposition_formats/ (text format), plus what a histogram
must hold: rising bounds, cumulative counts, a +Inf bucket that equals _count, one _sum.
"""

import math
import re
from dataclasses import dataclass, field

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
VALUE = re.compile(r"[+-]?(?:Inf|NaN|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}
ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}


class FormatError(Exception):
    """The text breaks a rule of the format."""


@dataclass
class Histogram:
    """One histogram; counts are cumulative, by upper bound."""

    buckets: dict = field(default_factory=dict)
    sum: float = 0.0
    count: float = 0.0


@dataclass
class Family:
    """All samples under one name: `samples` by label set; of a histogram, `histograms`."""

    name: str
    type: str = "untyped"
    help: str = ""
    samples: dict = field(default_factory=dict)
    histograms: dict = field(default_factory=dict)


class Reader:
    """Parses scrape after scrape; remembers the label sets of the last one, so that only those that
    are new are checked again."""

    def __init__(self):
        self._known, self._last = {}, {}

    def read(self, text):
        """Returns {family name: Family}, or raises FormatError."""
        if not text.endswith("\n"):
            raise FormatError("the last line does not end")
        families, current = {}, None
        self._known, self._last = {}, self._known
        for line in text.split("\n")[:-1]:
            if line.startswith("# "):
                current = self._comment(line, families, current)
            elif line and not line.startswith("#"):
                if current is None:
                    raise FormatError(f"sample before its family: {line!r}")
                self._sample(line, current)
        for family in families.values():
            if family.type == "histogram":
                for labels, histogram in family.histograms.items():
                    check_histogram(family.name, labels, histogram)
        return families

    @staticmethod
    def _comment(line, families, current):
        words = line.split(" ", 3)
        if len(words) < 4 or words[1] not in ("HELP", "TYPE"):
            return current
        _, keyword, name, rest = words
        if not NAME.fullmatch(name):
            raise FormatError(f"bad metric name: {line!r}")
        if current is None or current.name != name:
            if name in families:
                raise FormatError(f"family {name} is not in one piece")
            current = families[name] = Family(name)
        if keyword == "TYPE":
            if rest not in TYPES or current.type != "untyped" or current.samples:
                raise FormatError(f"bad, late or second type: {line!r}")
            current.type = rest
        elif current.help:
            raise FormatError(f"second help: {line!r}")
        else:
            current.help = rest
        return current

    def _sample(self, line, family):
        head, _, number = line.rpartition(" ")
        known = self._known[head] = self._last.get(head) or parse_head(head)
        name, labels = known
        if not VALUE.fullmatch(number):
            raise FormatError(f"bad value: {line!r}")
        if name[: len(family.name)] != family.name or name[len(family.name) :] not in SUFFIXES.get(
            family.type, ("",)
        ):
            raise FormatError(f"{name} does not belong to family {family.name} ({family.type})")
        if (name, labels) in family.samples:
            raise FormatError(f"duplicate series: {head}")
        value = family.samples[(name, labels)] = float(number)
        if family.type == "histogram":
            add_to_histogram(family, name, labels, value)


def parse_head(head):
    """`name{label="value",...}` as (name, frozenset of pairs)."""
    name = NAME.match(head)
    if not name:
        raise FormatError(f"bad metric name: {head!r}")
    rest = head[name.end() :]
    labels = {}
    if rest:
        if rest[0] != "{" or rest[-1] != "}":
            raise FormatError(f"bad labels: {head!r}")
        position, inside = 0, rest[1:-1]
        while position < len(inside):
            label = LABEL.match(inside, position)
            if not label or label.group(1) in labels:
                raise FormatError(f"bad or repeated label: {head!r}")
            labels[label.group(1)] = re.sub(
                r"\\.", lambda match: ESCAPES[match.group()], label.group(2)
            )
            position = label.end()
            if position < len(inside):
                if inside[position] != ",":
                    raise FormatError(f"bad labels: {head!r}")
                position += 1
    return name.group(), frozenset(labels.items())


def add_to_histogram(family, name, labels, value):
    suffix = name[len(family.name) :]
    bound = None
    if suffix == "_bucket":
        bounds = [v for k, v in labels if k == "le"]
        if len(bounds) != 1:
            raise FormatError(f"bucket of {family.name} without le")
        bound = float(bounds[0])
        labels = frozenset(pair for pair in labels if pair[0] != "le")
    histogram = family.histograms.setdefault(labels, Histogram())
    if suffix == "_bucket":
        if bound in histogram.buckets:
            raise FormatError(f"bucket {bound} of {family.name} twice")
        histogram.buckets[bound] = value
    elif suffix == "_sum":
        histogram.sum = value
    else:
        histogram.count = value


def check_histogram(name, labels, histogram):
    bounds = list(histogram.buckets)
    counts = list(histogram.buckets.values())
    where = f"{name}{sorted(labels)}"
    if not bounds or bounds[-1] != math.inf:
        raise FormatError(f"no +Inf bucket at the end of {where}")
    if bounds != sorted(bounds):
        raise FormatError(f"bounds do not rise in {where}")
    if counts != sorted(counts):
        raise FormatError(f"buckets are not cumulative in {where}")
    if counts[-1] != histogram.count:
        raise FormatError(f"_count {histogram.count} is not the +Inf bucket {counts[-1]} in {where}")
    if math.isnan(histogram.sum) or histogram.sum < 0:
        raise FormatError(f"_sum {histogram.sum} in {where}")
