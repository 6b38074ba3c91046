# SPDX-License-Identifier: Apache-2.0
"""Prints a row of python_line_samples.h, for the version of Python that runs it."""
import dis
import sys
import textwrap

GAP = "\n" * 300
SOURCE = f"""def sample(a):
    # a comment
    x = [
        a,
        a + 1,{GAP}
    ]
    for i in x:
        if i:
            sample(
                i)
        with open(i) as f:
            pass
    try:
        return sum(
            j
            for j in x)
    finally:
        print(
            "end", x)
"""


def lines_of(code):
    """The line of each instruction, in order; 0: none."""
    if hasattr(code, "co_lines"):
        lines = {}
        for begin, end, line in code.co_lines():
            for at in range(begin, end, 2):
                lines[at] = line or 0
        return [lines.get(at, 0) for at in range(0, len(code.co_code), 2)]
    starts, lines, line = dict(dis.findlinestarts(code)), [], 0
    for at in range(0, len(code.co_code), 2):
        line = starts.get(at, line)
        lines.append(line)
    return lines


def main():
    code = compile(SOURCE, "sample.py", "exec").co_consts[0]
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    lines, runs = lines_of(code), []
    for line in lines:
        if runs and runs[-1][1] == line:
            runs[-1][0] += 1
        else:
            runs.append([1, line])
    pieces = [table[at:at + 20] for at in range(0, len(table), 20)]
    text = "\n".join('"%s"sv' % "".join(f"\\x{byte:02x}" for byte in piece) for piece in pieces)
    pairs = textwrap.fill(", ".join(f"{{{count}, {line}}}" for count, line in runs), 90)
    row = f"{{{sys.version_info[1]}, {code.co_firstlineno},\n{text},\n{{{pairs}}}}},"
    print(textwrap.indent(row, "    "))


main()
