# SPDX-License-Identifier: Apache-2.0
"""A reader of the daemon's profiles with their addresses, straight from the wire format
(https://protobuf.dev/programming-guides/encoding) of pprof's profile.proto."""

import gzip
from dataclasses import dataclass, field


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


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of a message: bytes where the value has a length, else a number."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = {1: 8, 5: 4}[kind]
            value, at = data[at:at + length], at + length
        yield key >> 3, value


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


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
            stack = [frames[i] for i in numbers(value)]
        elif number == 2:
            sample.ns, sample.episodes = numbers(value)
        elif number == 3:
            label = dict(fields(value))
            sample.labels[strings[label[1]]] = strings[label[2]] if 2 in label else label[3]
    sample.kernel = [frame for frame in stack if frame.kernel]
    sample.frames = [frame for frame in stack if not frame.kernel]
    return sample
