# SPDX-License-Identifier: Apache-2.0
"""The wire format of protobuf (https://protobuf.dev/programming-guides/encoding), read strictly: the oracle of what
the daemon writes. Not python3-protobuf, which only the distribution's own python3 finds."""

import struct


class BadMessage(ValueError):
    pass


def varint(data, at):
    """(value, place behind it)"""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadMessage("a number without end")
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def fields(data):
    """(number, value) of each field: an int, a float of 8 bytes, or the bytes of what has a length."""
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise BadMessage(f"wire type {kind}")
        if at > len(data):
            raise BadMessage("a field beyond the end")
        found.append((key >> 3, struct.unpack("<d", value)[0] if kind == 1 else value))
    return found


def packed(data):
    """The numbers of a repeated field: uint64."""
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def int64(value):
    return value - (1 << 64) if value >> 63 else value


def sint64(value):
    """Of ZigZag."""
    return (value >> 1) ^ -(value & 1)
