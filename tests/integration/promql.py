# SPDX-License-Identifier: Apache-2.0
"""Parts of PromQL expressions, as far as the dashboards and rules of this tree use it."""

import re

SET_OPERATOR = re.compile(r"\s(?:and|or|unless)\s")
COMPARISON = re.compile(r"\s(?:==|!=|>=|<=|>|<)\s+(?!on\b|ignoring\b|bool\b)")
MATCHING = re.compile(r"^(?:on|ignoring)\s*\([^)]*\)\s*")
NUMBER = re.compile(r"[0-9.e+-]+")
# The exporter's, recorded ones, and those that Prometheus makes itself.
METRIC = re.compile(r"\b((?:offcpud_|process_|scrape_|instance\w*:)[\w:]*|up)\b(?:\s*\{([^}]*)\})?")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _depths(expr):
    """The expression with strings blanked, and how deep in brackets each character is."""
    blank = STRING.sub(lambda match: '"' + " " * (len(match[0]) - 2) + '"', expr)
    depth, depths = 0, []
    for character in blank:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(character, 0)
        depths.append(depth)
    return blank, depths


def _split(expr, separator):
    """The parts between the outermost ones, from left to right."""
    blank, depths = _depths(expr)
    found, begin = [], 0
    for match in separator.finditer(blank):
        if depths[match.start()] == 0:
            found.append(expr[begin:match.start()].strip())
            begin = match.end()
    return found + [expr[begin:].strip()]


def operands(expr):
    """What the outermost and, or, unless combine, without the labels by which they do."""
    return [MATCHING.sub("", part) for part in _split(expr, SET_OPERATOR)]


def compared(operand):
    """The vectors that are compared, with numbers or with each other; now, not an hour ago, nor once a
    minute. In health the comparison has no result, each vector must have one."""
    now = operand.replace(" offset 1h", "").replace("[1h:1m]", "[1h:1s]")
    return [part for part in _split(now, COMPARISON) if not NUMBER.fullmatch(part)]


def selectors(expr):
    """(metric, names of the labels that are matched) of every selector."""
    found = []
    blank, _ = _depths(expr)
    for match in METRIC.finditer(blank):
        found.append((match[1], set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", match[2] or ""))))
    return found


def grouping(expr):
    """The labels of every by (...)."""
    return {label.strip() for labels in re.findall(r"\bby\s*\(([^)]*)\)", _depths(expr)[0])
            for label in labels.split(",") if label.strip()}


def made(expr):
    """The labels that label_replace and label_join write: the string behind their vector, which ends with a
    bracket here."""
    return set(re.findall(r'\), "(\w+)", "', expr))
