# SPDX-License-Identifier: Apache-2.0
"""Reads Prometheus' protobuf exposition: messages io.prometheus.client.MetricFamily, each after its
length, decoded by the numbers of their fields (metrics.proto of prometheus/client_model)."""

import math
from dataclasses import dataclass, field

from protobuf import fields, packed, sint64, varint


@dataclass
class Histogram:
    count: int = 0
    sum: float = 0.0
    buckets: list = field(default_factory=list)  # (upper bound, cumulative count)
    schema: int = 0
    zero_threshold: float = 0.0
    zero_count: int = 0
    spans: list = field(default_factory=list)
    deltas: list = field(default_factory=list)
    created: float = 0.0
    exemplars: list = field(default_factory=list)  # (labels, value, time)

    def populations(self):
        """{upper bound: episodes} of the native buckets, the zero bucket among them."""
        found = {self.zero_threshold: self.zero_count}
        index, count, deltas = 0, 0, iter(self.deltas)
        for offset, length in self.spans:
            index += offset
            for _ in range(length):
                count += next(deltas)
                found[2.0 ** (index / 2**self.schema)] = count
                index += 1
        return found


@dataclass
class Family:
    name: str = ""
    type: int = 0
    series: dict = field(default_factory=dict)  # frozenset of labels: number or Histogram


def label(data):
    pair = dict(fields(data))
    return pair[1].decode(), pair[2].decode()


def time(data):
    parts = dict(fields(data))
    return parts.get(1, 0) + parts.get(2, 0) / 1e9


def exemplar(data):
    labels = dict(label(value) for number, value in fields(data) if number == 1)
    rest = {number: value for number, value in fields(data) if number != 1}
    return labels, rest[2], time(rest[3])


def histogram(data):
    out = Histogram()
    simple = {1: "count", 2: "sum", 6: "zero_threshold", 7: "zero_count"}
    for number, value in fields(data):
        if number in simple:
            setattr(out, simple[number], value)
        elif number == 3:
            bucket = dict(fields(value))
            out.buckets.append((bucket[2], bucket.get(1, 0)))
        elif number == 5:
            out.schema = sint64(value)
        elif number == 12:
            span = dict(fields(value))
            out.spans.append((sint64(span.get(1, 0)), span.get(2, 0)))
        elif number == 13:
            out.deltas += map(sint64, packed(value))
        elif number == 15:
            out.created = time(value)
        elif number == 16:
            out.exemplars.append(exemplar(value))
        else:
            raise ValueError(f"field {number} of a histogram")
    return out


def read(data):
    """{family name: Family}; raises ValueError for what is no exposition."""
    found, at = {}, 0
    while at < len(data):
        size, at = varint(data, at)
        family = Family()
        if at + size > len(data):
            raise ValueError("a family is cut off")
        for number, value in fields(data[at : at + size]):
            if number == 1:
                family.name = value.decode()
            elif number == 3:
                family.type = value
            elif number == 4:
                parts = list(fields(value))
                labels = frozenset(label(part) for kind, part in parts if kind == 1)
                if labels in family.series:
                    raise ValueError(f"series twice: {family.name} {sorted(labels)}")
                kind, body = next((k, b) for k, b in parts if k != 1)
                family.series[labels] = histogram(body) if kind == 7 else dict(fields(body)).get(1, 0.0)
        if family.name in found:
            raise ValueError(f"family {family.name} is not in one piece")
        found[family.name], at = family, at + size
    return found


def cumulative(populations, bound):
    """Episodes up to a bound, which is one of a native bucket."""
    return sum(n for upper, n in populations.items() if upper <= bound or math.isclose(upper, bound))
