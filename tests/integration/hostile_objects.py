# SPDX-License-Identifier: Apache-2.0
"""Files that any user may write, and which ask the reader for far more memory or time than they have
bytes. Each is made in a second or two by a few lines; nothing of them is kept in the tree."""

import lzma
import os
import struct
from array import array

EHDR = "<16sHHIQQQIHHHHHH"
SHDR = "<IIQQQQIIQQ"
PHDR = "<IIQQQQQQ"
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
SHF_ALLOC, SHF_EXECINSTR = 2, 4
PT_LOAD = 1
PAGE = 4096


def elf(sections, text=1 << 32):
    """A shared object with one executable segment that reaches from the file's beginning over `text`
    bytes of addresses, and these sections: (name, type, flags, link, content).
    Their addresses are their offsets."""
    names = b"\0" + b"\0".join(name.encode() for name, *_ in sections) + b"\0.shstrtab\0"
    sections = [*sections, (".shstrtab", SHT_STRTAB, 0, 0, names)]
    at = PAGE
    headers = [b"\0" * 64]
    body = []
    for name, kind, flags, link, content in sections:
        headers.append(struct.pack(SHDR, names.index(name.encode() + b"\0"), kind, flags, at, at,
                                   len(content), link, 0, 8, 24 if kind == SHT_SYMTAB else 0))
        body.append((at, content))
        at += (len(content) + 63) & ~63
    programs = [struct.pack(PHDR, PT_LOAD, 5, 0, 0, 0, text, text, PAGE)]
    header = struct.pack(EHDR, b"\x7fELF\2\1\1", 3, 62, 1, 0, 64, at, 0, 64, 56, len(programs), 64,
                         len(headers), len(headers) - 1)
    return [(0, header + b"".join(programs)), *body, (at, b"".join(headers))]


def image(parts):
    end = max(at + len(content) for at, content in parts)
    whole = bytearray(end)
    for at, content in parts:
        whole[at:at + len(content)] = content
    return bytes(whole)


def write(path, parts):
    with open(path, "wb") as file:
        for at, content in parts:
            file.seek(at)
            file.write(content)
    return path


def symbols(count, address, name_bytes=PAGE):
    """An object with `count` functions of one address which share one long name."""
    one = struct.pack("<IBBHQQ", 1, 0x12, 0, 1, address, 16)  # STB_GLOBAL, STT_FUNC
    strings = b"\0" + b"a" * (name_bytes + 64) + b"\0"
    return elf([(".strtab", SHT_STRTAB, 0, 0, strings), (".symtab", SHT_SYMTAB, 0, 1, one * count)])


def with_embedded_symbols(program, count):
    """`program` without its .symtab, and with a .gnu_debugdata of `count` functions instead."""
    whole = bytearray(program)
    head = list(struct.unpack_from(EHDR, whole))
    at, count_of, names_in = head[6], head[12], head[13]
    headers = [list(struct.unpack_from(SHDR, whole, at + 64 * i)) for i in range(count_of)]
    text = next(h for h in headers if h[2] & SHF_EXECINSTR)
    names = whole[headers[names_in][4]:][:headers[names_in][5]]
    for header in headers:
        if header[1] == SHT_SYMTAB:
            header[1] = SHT_PROGBITS
        if names[header[0]:].startswith(b".note.gnu.build-id\0"):  # or it would be a known program
            whole[header[4] + 16:header[4] + header[5]] = os.urandom(header[5] - 16)
    packed = lzma.compress(image(symbols(count, text[3] + 64)), preset=6)
    headers[names_in][4:6] = len(whole), len(names) + 15
    headers.append([len(names), SHT_PROGBITS, 0, 0, len(whole) + len(names) + 15, len(packed), 0, 0,
                    1, 0])
    whole += names + b".gnu_debugdata\0" + packed
    head[6], head[12] = len(whole), len(headers)
    struct.pack_into(EHDR, whole, 0, *head)
    return bytes(whole) + b"".join(struct.pack(SHDR, *header) for header in headers)


def go_table(count):
    """Go's table of `count` functions of one byte, which all have the same long name."""
    names = b"main." + b"a" * (PAGE - 64) + b"\0"
    depths = bytes([0, 0x10, 1, 0])  # 8 below the return address, for one byte
    table = array("I", bytes(8 * count + 4))
    table[0::2] = array("I", range(count + 1))
    about = 8 * count + 4
    table[1::2] = array("I", [about]) * count
    functions = table.tobytes() + struct.pack("<IIIII", 0, 0, 0, 0, 1)
    at_names = 72
    at_depths = at_names + len(names)
    at_functions = (at_depths + len(depths) + 7) & ~7
    head = struct.pack("<IHBB", 0xFFFFFFF1, 0, 1, 8) + struct.pack(
        "<QQQQQQQQ", count, 1, PAGE, at_names, at_names, at_names, at_depths, at_functions)
    return head + names + (depths + b"\0" * 8)[:at_functions - at_depths] + functions


def with_go_table(count):
    return elf([(".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0, go_table(count))])


CIE_BODY = struct.pack("<IB3sBBBBB", 0, 1, b"zR\0", 1, 0x78, 16, 1, 0x03) + bytes(
    [0x0C, 7, 8, 0x90, 1])  # absolute addresses of 4 bytes; CFA is rsp + 8


def frames(count, cie_body=CIE_BODY):
    """An .eh_frame of `count` functions of one byte; 17 bytes each."""
    cie = struct.pack("<I", len(cie_body)) + cie_body
    fdes = bytearray(17 * count)
    columns = (array("I", [13]) * count,
               array("I", range(len(cie) + 4, len(cie) + 4 + 17 * count, 17)),
               array("I", range(PAGE, PAGE + count)), array("I", [1]) * count)
    for word, column in enumerate(columns):
        content = column.tobytes()
        for byte in range(4):
            fdes[4 * word + byte::17] = content[byte::4]
    return cie + bytes(fdes) + b"\0\0\0\0"


def with_frames(count):
    return elf([(".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0, frames(count))])


def perf_map(count, name_bytes=1):
    """Lines that nest: each is inside of the one before, so that every one but the last is in two
    parts."""
    name = "a" * name_bytes
    return "".join(f"{i:x} {2 * (count - i):x} {name}\n" for i in range(count))
