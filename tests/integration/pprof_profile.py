# SPDX-License-Identifier: Apache-2.0
"""A strict reader of pprof's profile.proto: whatever refers to nothing is an error."""

import gzip
from collections import Counter

from protobuf import fields, int64, packed


class BadProfile(Exception):
    pass


class Profile:
    """Sample types, begin and length in ns, and samples: (labels, stack leaf first, values)."""

    def __init__(self, data):
        message = fields(gzip.decompress(data))
        self.strings = [value.decode("utf-8", "strict") for number, value in message if number == 6]
        if not self.strings or self.strings[0] != "":
            raise BadProfile("the first string is not empty")
        functions, lines = {}, {}
        for number, value in message:
            if number == 5:
                function = dict(fields(value))
                functions[function[1]] = self.text(function[2])
        for number, value in message:
            if number == 4:
                location = fields(value)
                lines[dict(location)[1]] = [functions[dict(fields(line))[1]]
                                            for field, line in location if field == 4]
        single = dict(message)
        self.begin_ns, self.duration_ns = single[9], single[10]
        self.types = [tuple(self.text(index) for _, index in sorted(fields(value)))
                      for number, value in message if number == 1]
        self.samples = [self.sample(fields(value), lines) for number, value in message if number == 2]

    def text(self, index):
        if index >= len(self.strings):
            raise BadProfile("a string that is not there")
        return self.strings[index]

    def sample(self, sample, lines):
        locations = [one for number, value in sample if number == 1 for one in packed(value)]
        values = [int64(one) for number, value in sample if number == 2 for one in packed(value)]
        if len(values) != len(self.types):
            raise BadProfile(f"{len(values)} values of {len(self.types)} types")
        labels = {}
        for number, value in sample:
            if number == 3:
                label = dict(fields(value))
                labels[self.text(label[1])] = self.text(label[2]) if 2 in label else label[3]
        stack = tuple(name for location in locations for name in lines[location])
        return labels, stack, values

    def nanoseconds(self):
        """Sums by comm, cgroup, reason and stack."""
        sums = Counter()
        for labels, stack, values in self.samples:
            sums[labels.get("comm"), labels.get("cgroup"), labels.get("reason"), stack] += values[0]
        return sums
