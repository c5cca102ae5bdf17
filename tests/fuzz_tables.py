"""Generators of tables that must be refused, by kind; every private cell holds ``SECRET``."""

import bz2
import gzip
import io
import lzma
import re
import zipfile
from functools import cache

from dpgp_core.reading.kinds import as_text
from dpgp_core.reading.look import proposal
from dpgp_core.reading.writing import KEYS
from tests.kinds import KINDS, Kind
from tests.odd_kinds import ODD

SECRET = "7391"
HEADER = ["age", "height", "note"]
NOT_NUMBERS = ["1e999", "-1e999", "1_000", "١٢٣", "１２", "½", "nan", "NaN", "inf", "-Infinity", "0x1f", "1e", "--1"]
NOT_NUMBERS += ["1 000", "12%%", "$", "TRUE", "None", "", " ", "1.2.3", "=1+1", "@SUM(A1)", "1;5", "0b1", "1j", "#N/A"]
NOT_NUMBERS += ["²", "1\u00a0000", "\u2013 1"]


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def rows(rng, n=None):
    """Lines of a good table as lists of cells: age inside the box, height and note secret."""
    n = int(rng.integers(2, 9)) if n is None else n
    ages = rng.permutation(1000)[:n] / 10
    return [
        [f"{age:.1f}", f"17{digit}.{SECRET}", f"n{SECRET}"]
        for age, digit in zip(ages, rng.integers(0, 9, n), strict=True)
    ]


def table(header, lines, separator=",", end="\n"):
    return end.join(separator.join(row) for row in [header, *lines]).encode() + end.encode()


def good(rng, n=None, **written):
    return table(HEADER, rows(rng, n), **written)


def anywhere(rng, content, piece):
    at = int(rng.integers(0, len(content) + 1))
    return content[:at] + piece + content[at:]


def a_row(rng, change):
    """A good table but for one row, which is changed in place."""
    lines = rows(rng)
    change(pick(rng, lines))
    return table(HEADER, lines)


def a_cell(rng, columns, cells):
    """A good table but for one cell."""
    return a_row(rng, lambda row: row.__setitem__(int(rng.integers(columns)), pick(rng, cells)))


def named(rng, column, names):
    """A good table with another name of a column."""
    header = list(HEADER)
    header[column] = pick(rng, names)
    return table(header, rows(rng))


def wrong_encoding(rng):
    text = good(rng).decode().replace("n7391", "é7391", 1)
    codec = pick(rng, ["latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "cp037", "utf-7"])
    return text.encode(codec) if codec != "utf-7" else text.encode("utf-16-le") + b"+AGE-"


def ragged(rng):
    if rng.random() < 0.2:  # text of many rows holds the separator
        return table(HEADER, [[*row, *["b"] * (at % 3 == 0)] for at, row in enumerate(rows(rng, 100))])
    if rng.random() < 0.5:
        return a_row(rng, lambda row: row.pop(int(rng.integers(len(row)))))
    return a_row(rng, lambda row: row.extend([SECRET] * int(rng.integers(1, 5))))


def many_columns(rng):
    count = int(10 ** rng.uniform(3.01, 6))
    return ",".join(["age", "height", *(f"c{k}" for k in range(count))]).encode() + b"\n" + b"1,2\n" * 3


def huge_field(rng):
    return a_cell(rng, 3, [letters * int(10 ** rng.uniform(5.2, 6.2)) for letters in ("9", "x", "a b ")])


def compressed(rng):
    bomb = good(rng) + b"1,2,3\n" * int(rng.integers(1, 200_000))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(pick(rng, ["xl/workbook.xml", "content.xml"]), bomb)
    other = [
        b"%PDF-1.7\n",
        b"PAR1" + bomb[:99],
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        b"7z\xbc\xaf\x27\x1c",
        b"\x28\xb5\x2f\xfd",
    ]
    packers = [lambda: archive.getvalue(), lambda: gzip.compress(bomb, 1)[:-9], lambda: bz2.compress(bomb[:99_999])]
    packers += [lambda: lzma.compress(bomb[:99_999], preset=0), lambda: pick(rng, other)]
    return pick(rng, packers)()


def other_kind(rng):
    """Fractions where whole numbers are declared, or a negative number among those."""
    lines = rows(rng)
    if rng.random() < 0.5:
        lines = [[age, f"1{SECRET}", note] for age, _, note in lines]
        pick(rng, lines)[1] = pick(rng, [f"-{SECRET}", f"{SECRET}.5", f"-0.{SECRET}", f"-1e{SECRET[0]}"])
    return table(HEADER, lines)


def no_header(rng):
    first, *rest = rows(rng, 5)
    return table(first, rest)


BLANK = [b"", b"\n", b" ", b"\t", b"\r\n", b",", b'""', b"\xef\xbb\xbf"]
LOOSE_QUOTES = [f'"{SECRET}', f'"1"{SECRET}', f'"{SECRET}""', f'"a" "{SECRET}"']
TABLES = {
    "NUL bytes": lambda rng: anywhere(rng, good(rng), b"\0" * int(rng.integers(1, 4))),
    "wrong encoding": wrong_encoding,
    "half characters": lambda rng: anywhere(
        rng, good(rng), pick(rng, [b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf5\x80\x80\x80"])
    ),
    "ragged rows": ragged,
    "a thousand to a million columns": many_columns,
    "too many fields in a row": lambda rng: a_row(rng, lambda row: row.extend(["1"] * int(10 ** rng.uniform(2, 5.5)))),
    "huge field": huge_field,
    "quotes": lambda rng: a_cell(rng, 3, LOOSE_QUOTES),
    "compressed or another format": compressed,
    "strange line ends": lambda rng: good(rng, end=pick(rng, ["\x0b", "\x85", "\u2028", "\x1e"])),
    "duplicate headers": lambda rng: named(rng, 2, ["age", "height", " age ", "height "]),
    "empty or blank": lambda rng: pick(rng, BLANK) * int(rng.integers(0, 30)),
    "fewer than two rows": lambda rng: good(rng, int(rng.integers(0, 2))),
    "cells that are no numbers": lambda rng: a_cell(
        rng, 2, [written.format(pick(rng, NOT_NUMBERS)) for written in ("{}", '"{}"', " {} ")]
    ),
    "missing column": lambda rng: named(
        rng, int(rng.integers(2)), ["Age", "HEIGHT", "", "ag", "=age", "age\u2603", "x" * 5000]
    ),
    "no header": no_header,
    "inputs outside the box": lambda rng: a_cell(rng, 1, ["-0.1", "100.001", "1e300", "-1e-9", "99999"]),
    "all inputs equal": lambda rng: table(HEADER, [["5", *others] for _, *others in rows(rng)]),
    "other separators": lambda rng: good(rng, separator=pick(rng, ["!", "/", "\\", "，"])),
    "too many rows": lambda rng: table(HEADER, [["1", SECRET, "a"], ["2", SECRET, "a"]] * 2501),
    "random bytes": lambda rng: bytes(rng.integers(0, 256, int(rng.integers(1, 400))).astype("uint8")),
}


# ---- Tables as people have them, with a few changes.

PIECES = [b'"', b"\0", b"\n", b"\r", b"\r\n", b",", b";", b"\t", b" ", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"''"]
PIECES += [b"=", b"#", b"e9", b"-", b".", b"NA", b"nan", b"1e999", b"\xe2\x80\xa8", b"\xed\xa0\x80", b'""', b",,,,"]
PIECES += [b";;;\n", b"/", b"0" * 400]


@cache
def all_kinds():
    """Tables as people have them, the odd ones with what `look` proposes to declare of them."""
    return [*KINDS.values(), *map(declared, ODD.values())]


def declared(odd):
    x, y = "day" if odd.dated else "age", odd.declared.get("y", "height")
    try:
        found, _ = proposal(as_text(io.BytesIO(odd.content)).stream, [x], y)
    except ValueError:
        found = {}
    members = {key: value for key, value in found.items() if key in KEYS or key in ("y_unit", "x_units")}
    return Kind(odd.content, members, x=x, y=y, two_valued=members.get("yes") is not None)


def mutated_kind(rng):
    """A table as people have it with up to four changes; returns its bytes and what is declared of it."""
    kind = pick(rng, all_kinds())
    content = kind.content
    for _ in range(int(rng.integers(1, 5))):
        start, end = sorted(int(at) for at in rng.integers(0, len(content) + 1, 2))
        end = min(end, start + int(10 ** rng.uniform(0, 3)))
        piece, lines = content[start:end], content.split(b"\n")
        one, other = (int(at) for at in rng.integers(0, len(lines), 2))
        lines[one], lines[other] = lines[other], lines[one]
        content = pick(
            rng,
            [
                content[:start] + pick(rng, PIECES) + content[start:],
                content[:start] + content[end:],
                content[:end] + piece + content[end:],
                content[:start] + bytes(rng.integers(0, 256, 3).astype("uint8")) + content[start + 3 :],
                content[:start] + piece.replace(b",", b";") + content[end:],
                b"\n".join(lines),
            ],
        )
    return content, kind


def cells_of(kind):
    """Texts of a table that no message may hold: those that are no word of a message by chance."""
    lines = re.split(r"[\r\n]+", kind.content.decode("latin-1").replace("\0", ""))
    cells = {cell.strip(' "') for line in lines[1:] for cell in re.split(r"[,;|\t]", line)}
    return {cell for cell in cells if len(cell) > 4} - {"height"}
