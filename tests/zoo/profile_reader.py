# SPDX-License-Identifier: Apache-2.0
"""A reader of the daemon's profiles with their addresses (pprof's profile.proto)."""

import gzip
from dataclasses import dataclass, field

from protobuf import fields, packed


@dataclass(frozen=True)
class Frame:
    function: str
    object: str
    address: int
    kernel: bool


@dataclass
class Sample:
    frames: list  # of the program, innermost first
    kernel: list
    ns: int
    episodes: float
    labels: dict = field(default_factory=dict)


def read(compressed):
    """The samples of a profile."""
    parts = {}
    for number, value in fields(gzip.decompress(compressed)):
        parts.setdefault(number, []).append(value)
    strings = [text.decode() for text in parts[6]]
    functions = {of[1]: strings[of.get(2, 0)] for of in map(dict, map(fields, parts.get(5, [])))}
    mappings = {of[1]: of for of in map(dict, map(fields, parts.get(3, [])))}
    frames = {}
    for location in map(dict, map(fields, parts.get(4, []))):
        mapping = mappings[location[2]]
        line = dict(fields(location[4]))
        frames[location[1]] = Frame(functions[line[1]], strings[mapping.get(5, 0)],
                                    location.get(3, 0), bool(mapping.get(100, 0)))
    return [sample_of(data, strings, frames) for data in parts.get(2, [])]


def sample_of(data, strings, frames):
    sample = Sample([], [], 0, 0.0)
    stack = []
    for number, value in fields(data):
        if number == 1:
            stack = [frames[i] for i in packed(value)]
        elif number == 2:
            sample.ns, sample.episodes = packed(value)
        elif number == 3:
            label = dict(fields(value))
            sample.labels[strings[label[1]]] = strings[label[2]] if 2 in label else label[3]
    sample.kernel = [frame for frame in stack if frame.kernel]
    sample.frames = [frame for frame in stack if not frame.kernel]
    return sample
