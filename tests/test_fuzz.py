"""Hostile input to every public entry point: the command line, links to pages, altered releases, and mechanisms.

A row of ``ROWS`` draws input of one kind, hands it to its entry point and names the outcomes that are allowed.
`make test` tries a few inputs of each row, and `make test-all` many, among which every allowed outcome must occur.
"""

from __future__ import annotations

import bz2
import codecs
import copy
import functools
import gzip
import io
import json
import lzma
import re
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.shared.simulated import simulated
from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.bayes import settings as bayes_settings
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.measurement.described_arrays import pack
from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import StageSquares
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from dpgp_core.reading.kinds import as_text
from dpgp_core.reading.look import proposal
from dpgp_core.reading.writing import KEYS
from dpgp_core.release import CHOICES, ledger_to_json, spec_to_json
from dpgp_core.release.command_line import main
from dpgp_core.release.json_text import spec_to_object
from dpgp_core.release.parser import BAD_CONFIG, BAD_DATA, NOT_WRITTEN, OK, REFUSED
from dpgp_core.release.private_table import FOR_YOUR_EYES
from dpgp_core.release.specification import EXAMPLE
from pages._ui import menu
from pages._ui.explore import figures, statistic
from pages._ui.explore import view as explore_view
from pages._ui.explore.controls import Chosen, View
from pages._ui.explore.statistic import CARD, FILE, ExampleDraw, Refit
from pages._ui.model import load_dataset
from tests.core.measurement import sealing
from tests.core.mechanisms.cases import X_TEST, built
from tests.core.tables import read_again, small
from tests.kinds import AGES, DAYS, KINDS, Kind
from tests.odd_kinds import ODD
from tests.pages.addresses import bound_controls, is_used, open_at, published
from tests.pages.reading import ROOT

pick = st.sampled_from

# ---- Tables. Every private cell contains SECRET, which no message may show.

SECRET = "7391"
HEADER = ("age", "height", "note")
CELLS = tuple((f"{age}", f"17{at}.{SECRET}", f"n{SECRET}") for at, age in enumerate((12.5, 3.1, 64.0, 90.2, 41.7)))


def table(lines: Any = CELLS, header: Any = HEADER, separator: str = ",", end: str = "\n") -> bytes:
    return "".join(separator.join(line) + end for line in (header, *lines)).encode()


TABLE = table()


def row_changed(change: st.SearchStrategy[Callable[[list[str]], object]]) -> st.SearchStrategy[bytes]:
    """A good table, one row of which is changed in place."""

    def made(at, change):
        lines = [list(line) for line in CELLS]
        change(lines[at])
        return table(lines)

    return st.builds(made, pick(range(len(CELLS))), change)


def cell_changed(columns: int, cells: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    puts = st.builds(lambda at, cell: lambda row: row.__setitem__(at, cell), st.integers(0, columns - 1), cells)
    return row_changed(puts)


def named(columns: Any, names: list[str]) -> st.SearchStrategy[bytes]:
    """A good table with another name of a column."""
    return st.builds(lambda at, name: table(header=(*HEADER[:at], name, *HEADER[at + 1 :])), pick(columns), pick(names))


def inserted(pieces: list[bytes]) -> st.SearchStrategy[bytes]:
    """A good table with some bytes anywhere."""
    return st.builds(lambda at, piece: TABLE[:at] + piece + TABLE[at:], st.integers(0, len(TABLE)), pick(pieces))


def packed(lines: int, member: str, kind: int) -> bytes:
    bomb, archive = TABLE + b"1,2,3\n" * lines, io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(member, bomb)
    signs = (
        b"%PDF-1.7\n",
        b"PAR1" + bomb[:99],
        b"\xd0\xcf\x11\xe0\xa1\xb1",
        b"7z\xbc\xaf\x27\x1c",
        b"\x28\xb5\x2f\xfd",
    )
    cut = bomb[:99_999]
    return (archive.getvalue(), gzip.compress(bomb, 1)[:-9], bz2.compress(cut), lzma.compress(cut, preset=0), *signs)[
        kind
    ]


NOT_NUMBERS = ["1e999", "-1e999", "1_000", "١٢٣", "１２", "½", "nan", "NaN", "inf", "-Infinity", "0x1f", "1e", "--1"]
NOT_NUMBERS += ["1 000", "12%%", "$", "TRUE", "None", "", " ", "1.2.3", "=1+1", "@SUM(A1)", "1;5", "0b1", "1j", "#N/A"]
NOT_NUMBERS += ["²", "1\u00a0000", "\u2013 1"]
ACCENTED = TABLE.decode().replace("n7391", "é7391", 1)
WRONG_TABLES: dict[str, st.SearchStrategy[bytes]] = {
    "NUL bytes": inserted([b"\0", b"\0\0\0"]),
    "half characters": inserted([b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf5\x80\x80\x80"]),
    "another encoding": pick(["latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "cp037"]).map(ACCENTED.encode),
    "rows of other lengths": row_changed(pick([list.pop, lambda row: row.extend([SECRET] * 3)])),
    "a long row": row_changed(st.integers(100, 300_000).map(lambda count: lambda row: row.extend(["1"] * count))),
    "too many columns": st.integers(1030, 10**6).map(
        lambda count: ",".join(["age", "height", *map(str, range(count))]).encode() + b"\n" + b"1,2\n" * 3
    ),
    "a huge field": cell_changed(3, st.builds(lambda a, n: a * n, pick(["9", "x", "a b "]), pick([160_000, 10**6]))),
    "loose quotes": cell_changed(3, pick([f'"{SECRET}', f'"1"{SECRET}', f'"{SECRET}""', f'"a" "{SECRET}"'])),
    "packed, or another format": st.builds(
        packed, st.integers(1, 200_000), pick(["xl/workbook.xml", "content.xml"]), st.integers(0, 8)
    ),
    "strange ends of lines": pick(["\x0b", "\x85", "\u2028", "\x1e"]).map(lambda end: table(end=end)),
    "strange separators": pick(["!", "/", "\\", "，"]).map(lambda separator: table(separator=separator)),
    "a name twice": named([2], ["age", "height", " age ", "height "]),
    "a column that is missing": named([0, 1], ["Age", "HEIGHT", "", "ag", "=age", "age\u2603", "x" * 5000]),
    "no header": st.permutations(CELLS).map(lambda lines: table(lines[1:], lines[0])),
    "nothing": st.builds(
        bytes.__mul__, pick([b"", b"\n", b" ", b"\t", b"\r\n", b",", b'""', b"\xef\xbb\xbf"]), st.integers(0, 30)
    ),
    "fewer than two rows": st.integers(0, 1).map(lambda count: table(CELLS[:count])),
    "cells that are no numbers": cell_changed(
        2, st.builds(str.format, pick(["{}", '"{}"', " {} "]), pick(NOT_NUMBERS))
    ),
    "inputs outside the box": cell_changed(1, pick(["-0.1", "100.001", "1e300", "-1e-9", "99999"])),
    "equal inputs": st.permutations(CELLS).map(lambda lines: table([("5", *line[1:]) for line in lines])),
    "random bytes": st.binary(min_size=1, max_size=400),
}

# ---- Configurations.

SPEC = replace(EXAMPLE, mechanism="refined", grid=(3,))  # inputs are public: those outside the box are refused
GOOD = spec_to_object(SPEC)
TEXT = spec_to_json(SPEC).encode()
ANY = st.recursive(
    pick(
        [
            None,
            True,
            False,
            "",
            " ",
            "1",
            "nan",
            "x" * 100_000,
            "\x00",
            "a\nb",
            "\ud800",
            "\u2028",
            " age",
            "age",
            "note",
        ]
    )
    | pick([-1, 0, 1, 0.5, 1e308, 1e-308, -0.0, 10**9, 10**30, -(10**400)]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(pick(["a", "\udfff"]), inner, max_size=1),
    max_leaves=4,
)
NO_NUMBERS = [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"+1", b".5", b"0x10", b"1_000", b"01"]
NO_OBJECTS = [b"", b" ", b"null", b"true", b"1", b'"text"', b"[]", b"[{}]", b"{}", b"age,height\n1,2\n", b"PK\x03\x04"]
NAMES = [" ", "a\tb", "a\nb", "\x00", "\x7f", "\ud83d", "a" * 201, " age", "age ", "\u2029", "\x85", 5]
POSITIVE = st.floats(1e-9, 1e9)


def changed(changes: Mapping[str, Any]) -> bytes:
    return json.dumps(GOOD | dict(changes)).encode()  # half characters stay as escapes


def settings_of(**values: Any) -> st.SearchStrategy[dict[str, Any]]:
    """One of some keys, with one of its values."""
    given_values = {key: each if isinstance(each, st.SearchStrategy) else pick(each) for key, each in values.items()}
    return pick(sorted(values)).flatmap(lambda key: given_values[key].map(lambda value: {key: value}))


def in_place(keys: list[str], texts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """A number that JSON would not write so."""
    return st.builds(lambda key, text: changed({key: "HERE"}).replace(b'"HERE"', text), pick(keys), texts)


def nested(depth: int, kind: int, key: str) -> bytes:
    value = (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth)[kind]
    return b'{"' + key.encode() + b'": ' + value + b"}" if key else value


def twice(key: str) -> bytes:
    return changed({})[:-1] + f', "{key}": {json.dumps(GOOD[key])}}}'.encode()


INTERVALS = [[9, 1], [5, 5], ["1", "9"], [1], [1, 5, 9], [1, None], [True, 200], {"low": 1, "high": 9}, "1..9"]
INTERVALS += [[1e15, 1e15 + 1], [-1e300, 1e300], [[1, 9]]]
GRIDS = [[1], [0], [-3], [2501], [3.0], ["3"], [True], [3, 3], [], 3, [10**20], [None]]
IMPOSSIBLE = [
    {"x": ["age", "height"], "x_units": ["", ""], "x_box": [[0, 1]] * 2},
    {"cells": 5},
    *({"mechanism": "sparse", "cells": cells} for cells in (0, -1, 401, 2.0, "6", True)),
    {"mechanism": "integral_bins", "delta": 1e-5},
    {"mechanism": "integral_bins", "delta": 0, "kernel": "Matern32"},
    {"mechanism": "sparse", "delta": 0},
    {"y_kind": "yes/no", "y_bounds": [0, 1], "log": True},
    {"y_kind": "yes/no", "y_bounds": [0, 1], "mechanism": "bayes", "centiles": True},
    *({"y_kind": kind, "y_bounds": [-1e-6, 200]} for kind in ("amount", "count")),
    {"y_kind": "count", "log": True},
    *({"person": "who", "mechanism": mechanism} for mechanism in ("refined", "sparse")),
    {"person": "who", "rows_per_person": 2, "mechanism": "bayes"},
]
WRONG_CONFIGS: dict[str, st.SearchStrategy[bytes]] = {
    "broken JSON": st.integers(0, len(TEXT) - 3).map(lambda cut: TEXT[:cut])
    | pick([TEXT + b"}", TEXT + TEXT, b"\x00" + TEXT, TEXT[1:]]),
    "deep JSON": st.builds(nested, st.integers(100, 160_000), st.integers(0, 2), pick(["", "x", "unit", "config"])),
    "no JSON object": pick(NO_OBJECTS),
    "another encoding, or endless": pick([TEXT.decode().encode(code) for code in ("utf-16", "utf-32", "cp037")])
    | pick([TEXT.replace(b"cm", b"\xe9"), TEXT + b" " * 5_000_000]),
    "a key twice": pick(list(GOOD)).map(twice),
    "an unknown key": pick(["epsilom", "seed", "", "x " * 300, "\ud800", "__class__", "é"]).map(
        lambda key: changed({key: 1})
    ),
    "a missing key": pick(["x", "x_box", "y", "y_bounds", "unit", "grid", "epsilon", "delta"]).map(
        lambda lost: json.dumps({key: value for key, value in GOOD.items() if key != lost}).encode()
    ),
    "no JSON numbers": in_place(["epsilon", "delta", "noise_variance", "y_bounds"], pick(NO_NUMBERS)),
    "huge numbers": in_place(
        ["epsilon", "delta", "total_epsilon", "noise_variance", "y_scale", "cells", "schema"],
        st.builds(str.format, pick(["{}", "-{}", "{}.5"]), st.integers(20, 99_999).map(lambda count: "9" * count)).map(
            str.encode
        )
        | pick([b"1e999999999", b"1E+99999"]),
    ),
    "impossible settings": (
        pick(IMPOSSIBLE)
        | settings_of(
            y_bounds=INTERVALS,
            x_box=[[pair] for pair in INTERVALS],
            grid=GRIDS,
            epsilon=st.just(0) | POSITIVE.map(float.__neg__) | st.floats(100.001, 1e6),
            delta=pick([0, 1, 1e-31]) | POSITIVE.map(float.__neg__) | st.floats(0.101, 1),
            total_epsilon=pick([1e-3, 0.9]) | POSITIVE.map(float.__neg__),
            total_delta=[0, 1e-31, 1.5],
            mechanism=["laplace", "Refined", "", "refined ", "posterior_sampling", "__init__"],
            kernel=["eq", "RBF", "Stationary", "Matern", "EQ "],
            lengthscale=[[0], [-1], [1e-3], [1e9], ["25"], [None]],
            noise_variance=[0, -1, 1e9],
            y_scale=[0, -1, 1e-9, 1e9, "1"],
            y_kind=["Number", "yes", "yes/no ", "yes/no", "counts", "", None, 1, True],
            rows_per_person=[0, 1001, 2.0, "3", None, False],
            centiles=[True, "true", 1, None, [True]],
            schema=[0, 2, -1, "1", True, None, 1.5, [1], 10**20],
        )
    ).map(changed),
    "invisible or endless names": settings_of(
        x=[[name] for name in NAMES], y=NAMES, unit=NAMES, y_unit=["\r", *NAMES[1:]], x_units=[[name] for name in NAMES]
    ).map(changed),
}
NAMES_THAT_DO_NOT_FIT = settings_of(
    x=[["value"], ["curve_low_95"], ["output_high_95"], ["centile_3"], ["height"], ["weight"]], y=["note"]
).map(changed)


@st.composite
def extreme_settings(draw: st.DrawFn) -> bytes:
    """Settings at the ends of what is allowed."""
    mechanism = draw(pick(list(CHOICES)))
    kind = CHOICES[mechanism].kind
    middle = draw(pick([0.0, 1e6, -1e12, 1e-9]))
    width = draw(pick([1e-6, 1.0, 1e3, 1e14])) if abs(middle) < 1 else abs(middle) * draw(pick([1e-8, 1.0]))
    delta = draw(pick([1e-30, 1e-5, 0.1]))
    found = {"mechanism": mechanism, "kernel": draw(pick(kind.kernel_names))}
    found |= {"cells": draw(pick([1, 2, 40, 400])) if kind.uses_cells else None}
    found |= {"epsilon": draw(pick([1e-3, 1.0, 100.0])), "delta": 0 if kind.pure else delta}
    found |= {"total_epsilon": 1000.0, "total_delta": delta, "y_bounds": [middle - width / 2, middle + width / 2]}
    found |= {"y_scale": draw(pick([None, 1.01e-4 * width, 0.99e4 * width])), "grid": [draw(pick([2, 100]))]}
    found |= {"lengthscale": [draw(pick([0.11, 1.0, 99_000.0]))], "noise_variance": draw(pick([1e-4, 1.0, 1e4]))}
    return changed(found)


# ---- Ledgers, of which nothing that was spent may disappear.


def ledger(releases: int = 1, total: float = 3.0) -> bytes:
    found = replace(SPEC, total_epsilon=total).new_ledger()
    found.entries = [("an earlier release", SPEC.guarantee)] * releases
    return ledger_to_json(found).encode()


def ledger_changed(path: tuple[Any, ...], value: Any) -> bytes:
    return json.dumps(replaced(json.loads(ledger()), path, value)).encode()


def inside(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Every place of a JSON value, with what stands there."""
    parts = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [each for key, value in parts for each in (((*path, key), value), *inside(value, (*path, key)))]


def replaced(found: Any, path: tuple[Any, ...], value: Any, name: str | None = None) -> Any:
    """A copy with another value there, or the same under another name."""
    altered = copy.deepcopy(found)
    part = functools.reduce(lambda at, key: at[key], path[:-1], altered)
    part[path[-1] if name is None else name] = part.pop(path[-1]) if name is not None else value
    return altered


ALTERED_LEDGERS = st.builds(ledger_changed, pick([path for path, _ in inside(json.loads(ledger()))]), ANY)

# ---- The command line.


@dataclass(frozen=True)
class Case:
    """The files and arguments of a command; ``{}`` in an argument stands for the folder of the files."""

    table: bytes = TABLE
    config: bytes = TEXT
    ledger: bytes | None = None
    arguments: tuple[str, ...] = ("release", "--csv={}/t.csv", "--config={}/c.json", "--out={}/o.zip")
    cells: frozenset[str] = frozenset({SECRET})
    asked: tuple[str, Any] | None = None


def command(case: Case) -> int:
    """Exit code of a command that shows no cell; if it fails, it says why in one sentence and changes no file."""
    contents = {"t.csv": case.table, "c.json": case.config, "l.json": case.ledger}
    before = {name: content for name, content in contents.items() if content is not None}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in before.items():
            (Path(folder) / name).write_bytes(content)
        out = io.StringIO()
        more = ["--ledger={}/l.json"] if case.ledger is not None else []
        arguments = [argument.replace("{}", folder) for argument in (*case.arguments, *more)]
        with redirect_stdout(out), redirect_stderr(out), warnings.catch_warnings():
            warnings.simplefilter("error")
            code = main(arguments)
        said, after = out.getvalue(), {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    if code != OK:
        assert after == before, "a file was changed"
        assert re.fullmatch(rf"({FOR_YOUR_EYES} .+\n)*dpgp_core: .+\n", said), f"not one sentence: {said[:600]!r}"
    if code != OK or case.arguments[0] != "look":
        assert len(said) < 1500
        assert not any(cell in said for cell in case.cells), f"shows a cell: {said[:600]!r}"
    if code == OK and "o.zip" in after:
        check_card(case, after)
    return code


def check_card(case: Case, files: Mapping[str, bytes]) -> None:
    """What was asked stands in the card of a release, and what was spent before stands in both ledgers."""
    with zipfile.ZipFile(io.BytesIO(files["o.zip"])) as archive:
        card = in_floats(archive.read(CARD))
    asked = in_floats(case.config)
    stated = {key: card["config"].get(key) for key in asked.get("config", asked)}
    different = {key: value for key, value in asked.get("config", asked).items() if not same(value, stated[key])}
    assert not different, f"asked for {str(different)[:300]}, got {str({key: stated[key] for key in different})[:300]}"
    assert card["guarantee"]["epsilon"] == stated.get("epsilon", card["guarantee"]["epsilon"])
    spent = in_floats(case.ledger or case.config).get("ledger")
    if spent:
        assert same(spent["entries"], card["ledger"]["entries"][:-1]), "the card lacks what was spent before"
    if case.ledger is not None:
        assert files["l.json"].startswith(case.ledger), "the ledger lacks what was spent before"
        assert len(files["l.json"]) > len(case.ledger)


def in_floats(text: bytes) -> Any:
    """JSON whose whole numbers are floats, so that 1, 1.0 and true are told apart as JSON does."""
    return json.loads(text, parse_int=float)


def same(asked: Any, stated: Any) -> bool:
    """Whether a value is stated as asked, where nothing is the default, and one value a list of it."""
    return asked in (None, "", [], {}) or json.dumps(stated) in (json.dumps(asked), json.dumps([asked]))


@st.composite
def wrong_arguments(draw: st.DrawFn) -> Case:
    usual = Case().arguments
    more = draw(pick(["--seed", "--epsilon=3", "extra", "--for", "-x", "--led", "\ud800", "--ledger", "\x00"]))
    cut = usual[: draw(st.integers(0, 3))]
    return Case(arguments=draw(pick([cut, (*usual, more), (*usual, "--", "x"), ("rel", *usual[1:]), ("", *usual)])))


@st.composite
def unusable_paths(draw: st.DrawFn) -> Case:
    paths = {"csv": "{}/t.csv", "config": "{}/c.json", "out": "{}/o.zip"}
    name = draw(pick([*paths, "ledger"]))
    wrong = ["{}/" + "x" * 300, "{}/a\0b", "{}/none/x", "{}"]
    wrong += ["{}/t.csv", "{}/c.json"] if name == "out" else ["{}/nowhere", ""] if name != "ledger" else []
    paths[name] = draw(pick(wrong))
    force = draw(pick([(), ("--force",)]))
    return Case(arguments=("release", *(f"--{key}={path}" for key, path in paths.items()), *force))


# ---- Tables as people have them, with a few changes.

PIECES = [b'"', b"\0", b"\n", b"\r", b"\r\n", b",", b";", b"\t", b" ", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"''"]
PIECES += [b"=", b"#", b"e9", b"-", b".", b"NA", b"nan", b"1e999", b"\xe2\x80\xa8", b"\xed\xa0\x80", b'""', b",,,,"]
PIECES += [b";;;\n", b"/", b"0" * 400]


TABLES: list[Any] = [*KINDS.values(), *ODD.values()]  # as people have them


@functools.cache
def usual_table(at: int) -> Kind:
    """One of them, an odd one with what `look` proposes to declare of it."""
    return TABLES[at] if at < len(KINDS) else declared(TABLES[at])


def declared(odd: Any) -> Kind:
    x, y = "day" if odd.dated else "age", odd.declared.get("y", "height")
    try:
        found, _ = proposal(as_text(io.BytesIO(odd.content)).stream, [x], y)
    except ValueError:
        found = {}
    members = {key: value for key, value in found.items() if key in KEYS or key in ("y_unit", "x_units")}
    return Kind(odd.content, members, x=x, y=y, two_valued=members.get("yes") is not None)


@st.composite
def edited(draw: st.DrawFn, content: bytes, times: int) -> bytes:
    for _ in range(draw(st.integers(1, times))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 1000)))
        piece, lines = content[start:end], content.split(b"\n")
        one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
        lines[one], lines[other] = lines[other], lines[one]
        content = draw(
            pick(PIECES).map(lambda new, c=content, at=start: c[:at] + new + c[at:])
            | st.binary(min_size=3, max_size=3).map(lambda new, c=content, at=start: c[:at] + new + c[at + 3 :])
            | pick(
                [
                    content[:start] + content[end:],
                    content[:end] + piece + content[end:],
                    content[:start] + piece.replace(b",", b";") + content[end:],
                    b"\n".join(lines),
                ]
            )
        )
    return content


@st.composite
def edited_tables(draw: st.DrawFn, arguments: tuple[str, ...] = Case.arguments) -> Case:
    kind = draw(st.integers(0, len(TABLES) - 1).map(usual_table))
    content = draw(edited(kind.content, 4))
    config = {"x": [kind.x], "x_box": [DAYS if kind.x == "day" else AGES], "y": kind.y, "unit": "one person"}
    config |= {"y_bounds": None, "y_kind": "yes/no"} if kind.two_valued else {"y_bounds": (0, 1e5), "y_kind": "number"}
    config |= {"grid": [3], "epsilon": 1.0, "delta": 1e-5, "mechanism": "refined"} | kind.declared
    code = "utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
    # names are public whatever was moved there, also below a title; UTF-16 may have lost its mark
    first, *lines = content.decode(code, "replace").replace("\0", "").split("\n")
    names = "\n".join([first, *(line for line in lines if kind.x in line)])
    cells = frozenset(cell for cell in cells_of(kind.content) if cell not in names)
    return Case(table=content, config=json.dumps(config).encode(), arguments=arguments, cells=cells)


def cells_of(content: bytes) -> set[str]:
    """Texts of a table that no message may show: those that are no word of a message by chance."""
    lines = re.split(r"[\r\n]+", content.decode("latin-1").replace("\0", ""))
    cells = {cell.strip(' "') for line in lines[1:] for cell in re.split(r"[,;|\t]", line)}
    return {cell for cell in cells if len(cell) > 4} - {"height"}


# ---- Releases that a stranger has altered and sealed again: anybody can compute the digest anew.

PLAN = ExampleDraw("toy_1d", 1.0, 0.01)
VALUES: list[Any] = [0, -1, 1e308, -1e308, 1e-320, 10**400, 10**17, 0.5, "x", None, [], {}]
REALS, INTEGERS = (0, -1, 1e308, -1e308, 1e-320, 1e15), (0, -1, 1 << 20, -(1 << 31))  # in arrays
LONG = "zq" * 50_000
PYTHONS = ("could not convert", "invalid literal", "JSON compliant", "positive definite", "unsupported operand")


def with_squares(make: Callable[[], Any]) -> Any:
    """Stages that measured squares as well."""
    found = make()

    def squares(stage: Any) -> Any:
        M = stage.measurement.B.shape[1]
        high = np.full(M, 0.2 * len(stage.z))
        B = np.ones((1, M))
        measured = Measurement(B=B, low=np.zeros(M), high=high, bounds=(0.0, 49.0), noise_multiplier=2.0)
        return replace(stage, squares=StageSquares(measurement=measured, g=stage.g, z=np.array([0.3])))

    return replace(found, stages=tuple(map(squares, found.stages)))


def released(mechanism: Any, data: Any, X_test: Any) -> dict[str, bytes]:
    return published(mechanism.release(data, X_test).statistics[0], mechanism.guarantee)


def with_guarantee(statistics: Any) -> dict[str, bytes]:
    """The release of these statistics with the guarantee that their noise gives."""
    loss, usual = GaussianLoss(statistics.mu), PLAN.mechanism.guarantee
    budget = Budget(epsilon=1.001 * loss.epsilon(usual.budget.delta), delta=usual.budget.delta)
    return published(statistics, replace(usual, budget=budget, loss=loss))


RELEASES: dict[str, Callable[[], dict[str, bytes]]] = {
    "records": lambda: released(built("refined"), small(x_box=((-2.0, 12.0),)), X_TEST),
    "clusters of records": lambda: released(PLAN.mechanism, data := load_dataset(PLAN.dataset), data.X[:2]),
    **{
        make.__name__: lambda make=make: with_guarantee(replace(with_squares(make), outcome_model="any outcomes"))
        for make in (
            sealing.of_cells,
            sealing.known_cells,
            sealing.positioned_cells,
            sealing.cells_of_groups,
            sealing.clustered,
            sealing.clusters_of_groups,
        )
    },
}


@functools.cache
def places(kind: str) -> tuple[Any, dict[str, Any], list[Any]]:
    """Card and arrays of a release, and everything that may be altered in them: place, new value, new name."""
    files = RELEASES[kind]()
    assert opened(files) == "read"
    with np.load(io.BytesIO(files[FILE])) as archive:
        arrays = {name: archive[name] for name in archive.files}
    card, found = json.loads(files[CARD]), list[Any]()
    for path, value in inside(card):
        if isinstance(value, int | float) and not isinstance(value, bool):
            found += [(path, each, None) for each in VALUES]
        if isinstance(value, str):
            found.append((path, LONG, None))
        if isinstance(path[-1], str) and path != ("statistics",):
            found.append((path, None, LONG))
    for name, array in arrays.items():
        found += [(name, each, every) for each in (REALS if array.dtype.kind == "f" else INTEGERS) for every in (0, 1)]
    return card, arrays, found


def altered(kind: str, at: int) -> dict[str, bytes]:
    card, arrays, found = places(kind)
    place, value, how = found[at]
    if isinstance(place, tuple):
        return sealed(replaced(card, place, value, how), arrays)
    array = np.full_like(arrays[place], value) if how else arrays[place].copy()
    array.flat[0] = value
    return sealed(card, arrays | {place: array})


def sealed(card: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, bytes]:
    """Files whose digest fits."""
    about = {key: value for key, value in card["statistics"].items() if key != "sha256"}
    about = json.loads(json.dumps(about), parse_int=lambda digits: int(digits) if len(digits) < 19 else float(digits))
    try:
        about, npz = pack(about, arrays)
    except ValueError:  # a number that no digest can be made of
        about, npz = {**about, "sha256": "0" * 64}, pack({}, arrays)[1]
    text = json.dumps({**card, "statistics": about}).replace("Infinity", "1" + "0" * 400)
    return {CARD: text.encode(), FILE: npz}


ALTERED = pick(list(RELEASES)).flatmap(
    lambda kind: st.integers(0, len(places(kind)[2]) - 1).map(lambda at: altered(kind, at))
)


def opened(files: Mapping[str, bytes]) -> str:
    """A release is refused in our own words, or read."""
    try:
        statistic.opened(files)
    except ValueError as error:
        refusal = error
    else:
        return "read"
    raised = Path(traceback.extract_tb(refusal.__traceback__)[-1].filename)
    assert raised.relative_to(ROOT).parts[0] in ("dpgp_core", "pages")
    assert len(str(refusal)) < 500
    assert not any(word in str(refusal) for word in PYTHONS)
    return "refused"


def explored(files: Mapping[str, bytes]) -> str:
    """A release is refused when it is read, or else drawn in finite numbers."""
    if opened(files) == "refused":
        return "refused"
    found, refit = statistic.opened(files), Refit("EQ", 50)
    read = statistic.refit_over_box(found, refit)
    for view in (View(1, 0.95, "outputs", None), View(None, 0.5, "function", 0.5)):
        chosen = Chosen(found, read, view, None, refit, 1)
        for part in ("answer", "metrics", "caption", "description", "explain"):
            getattr(explore_view, part)(chosen)
        figures.picture(found.statistics, read, view).to_json()
        figures.lengthscales(found.statistics, read, view.lengthscale).to_json()
        assert np.isfinite(explore_view.table(chosen).select_dtypes("number").to_numpy(dtype=float)).all()
    assert np.isfinite(read.lengthscale_probabilities).all()
    return "drawn"


# ---- Tables through plan, measurement and reading: once a budget is charged, nothing may fail.

INPUTS: dict[str, Callable[[Any, int, int], Any]] = {
    "even": lambda rng, n, dim: rng.uniform(0, 1, (n, dim)),
    "few values": lambda rng, n, dim: rng.choice(rng.uniform(0, 1, rng.integers(1, 6)), (n, dim)),
    "one place": lambda rng, n, dim: np.tile(rng.uniform(0, 1, dim), (n, 1)),
    "two corners": lambda rng, n, dim: rng.integers(0, 2, (n, 1)) + 1e-9 * rng.standard_normal((n, dim)),
    "most in the middle": lambda rng, n, dim: np.where(
        rng.uniform(size=(n, 1)) < 0.99, 0.5, rng.uniform(0, 1, (n, dim))
    ),
    "outside of the box": lambda rng, n, dim: 1e6 * rng.standard_normal((n, dim)),
}
OUTCOMES: dict[str, Callable[[Any, int, float], Any]] = {
    "even": lambda rng, n, high: rng.uniform(0, high, n),
    "equal": lambda rng, n, high: np.full(n, rng.choice([0.0, high, high / 2])),
    "at the ends": lambda rng, n, high: rng.choice([0.0, high], n, p=[0.99, 0.01]),
    "of any size": lambda rng, n, high: high * 10.0 ** rng.uniform(-12, 6, n),
}


@st.composite
def charged(draw: st.DrawFn) -> tuple[Any, ...]:
    """A table, how it is released, at which inputs, from how many people on positions are measured, and the noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dim, n = draw(pick([1, 1, 2, 3])), int(np.ceil(10 ** draw(st.floats(0, 3.2))))
    kind, which = draw(pick(["number", "amount", "count", "yes/no"])), draw(pick(sorted(OUTCOMES)))
    high = 1.0 if kind == "yes/no" else draw(pick([1.0, 10.0, 121.0, 1e6]))
    X, y = INPUTS[draw(pick(sorted(INPUTS)))](rng, n, dim), OUTCOMES[which](rng, n, high)
    y = y if kind == "number" else np.clip(y, 0.0, high)
    X_test, more = rng.uniform(0, 1, (5, dim)), {}
    if dim > 1 and draw(st.booleans()):
        X[:, -1], X_test[:, -1] = rng.integers(0, 2, n), rng.integers(0, 2, 5)
        more["x_levels"] = (None,) * (dim - 1) + (("a", "b"),)
    box = ((0.0, 1.0),) * (dim - len(more))
    if draw(st.booleans()):
        more["person"] = rng.integers(0, max(n // 3, 1), n)
    y, scale = np.rint(y) if kind in ("count", "yes/no") else y, draw(pick([1.0, high / 6]))
    data = simulated(X, y, (0.0, high), box, y_kind=kind, y_scale=scale, **more)
    mechanism = BayesCloaking(
        epsilon=10 ** draw(st.floats(-2, 2)),
        delta=draw(pick([1e-2, 1e-5])),
        protects=draw(pick(["outputs", "inputs and outputs"])),
        stages=draw(st.integers(1, 3)),
        gap=0.3,
    )
    return data, mechanism, X_test, draw(pick([0, TUNING.many_to_locate])), draw(pick([None, rng]))


def measured(given_table: tuple[Any, ...]) -> str:
    data, mechanism, X_test, many, source = given_table
    with warnings.catch_warnings(), mock.patch.object(bayes_settings, "TUNING", replace(TUNING, many_to_locate=many)):
        warnings.simplefilter("error")
        release = mechanism.measure(mechanism.plan_for(data, X_test), data, X_test, source, mean=False)
        numbers = [release.samples, *release.interval(0.95, "function"), *release.interval(0.95)]
        numbers += [read_again(mechanism, release.statistics[0], X_test)] if source is None else []
    assert all(np.isfinite(each).all() for each in numbers)
    return "released" if source is None else "simulated"


# ---- Links to pages.

MARK = "zqfuzz"  # in every hostile text, so that it is recognised wherever it appears
FIXED = ["", " ", "0", "-1", "-0", "1e9", "1e-9", "1e400", "-1e400", "nan", "NaN", "inf", "-inf", "Infinity", "0x10"]
FIXED += ["1_0", "1,5", "2.5", "9" * 400, "٢", "½", "true", "TRUE", "False", "maybe", "yes", "None", "null", "[]", "{}"]
FIXED += ["[1, 2]", "2024-01-01", "12:30", "%00", "%3Cb%3E", "..", "../../start", "\x00", "\x1b[31m", "\u202e1"]
FIXED += ["\ud7ff", "🙂", "\n\n# 1"]
HOSTILE = ["<script>alert('{m}')</script>", "<img src=x onerror={m}>", "javascript:{m}", "{m}" * 1700]
HOSTILE += ["![{m}](http://example.org/{m}.png)", "`{m}`", "```\n{m}\n```", "`<b>{m}</b>`[x](http://{m})", "**{m}**"]
HOSTILE += ["$${m}$$", ":red[{m}]", ":material/{m}:", "'; DROP TABLE {m};--", "{{7*7}}{m}", "${{{m}}}", "[{m}](//{m})"]
HOSTILE += ["\u202e{m}\u2066", "`\n\n[{m}](javascript:{m})", "http://example.org/{m}", "&lt;b&gt;{m}"]
WORDS = pick(FIXED) | pick(HOSTILE).map(lambda text: text.replace("{m}", MARK))
GARBAGE = WORDS | WORDS.map(quote) | st.lists(WORDS, min_size=2, max_size=2) | st.floats().map(repr)
GARBAGE |= st.text(st.characters(min_codepoint=1, max_codepoint=0xD7FF), max_size=9)
BRINGS = {"excursion_sets": "excursion", "attack": "attack_on"}  # drop-downs that bring other controls
STATES = [(page.file, {}) for page in menu.PAGES]
STATES += [(page, {key: value}) for page, key in BRINGS.items() for value in menu.TITLES[key]]


@functools.cache
def controls_of(at: int) -> dict[str, str]:
    return bound_controls(open_at(*STATES[at]))


@st.composite
def links(draw: st.DrawFn) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A page, what brings it into a state, and a value that no control offers on purpose for every other parameter."""
    at = draw(st.integers(0, len(STATES) - 1))
    page, state = STATES[at]
    tried = {key: draw(GARBAGE) for key in controls_of(at) if key not in state}
    return page, state | {"tour": draw(WORDS), "unknown": draw(WORDS)}, tried


def visited(link: tuple[str, dict[str, Any], dict[str, Any]]) -> str:
    """Every value is used, or named in one sentence that says what is shown instead; and none appears as markup."""
    page, extra, tried = link
    app = open_at(page, extra | tried)
    assert not app.exception
    sentences, explained = [warning.value for warning in app.warning], 0
    for key, value in tried.items():
        named = [line for line in sentences if line.startswith(f"The link asks for {key} = `")]
        assert len(named) < 2
        if named:
            explained += 1
            assert re.search(rf" Showing {re.escape(key)} = .+ instead\.$", named[0], re.DOTALL)
        else:  # a control that the page does not have in this state is neither
            raw = value[-1] if isinstance(value, list) else value
            assert key not in app.session_state or is_used(app, key, raw), f"ignores {key} = {raw[:60]!r}"
    texts = [element.value for kind in ("markdown", "caption", "title", "warning", "info") for element in app.get(kind)]
    shown = [re.sub(r"`[^`\n]*`", "", text) for text in texts] + [element.proto.body for element in app.get("html")]
    assert not any(MARK in text for text in shown)
    return "explained" if explained else "used"


# ---- The rows.


@dataclass(frozen=True)
class Row:
    """Inputs of one kind, the call that checks what becomes of each, and how many are tried.

    Each of ``outcomes`` is allowed, and occurs among many inputs. Those of ``rare`` are allowed too.
    """

    inputs: st.SearchStrategy[Any]
    call: Callable[[Any], object]
    outcomes: set[Any]
    few: int = 15
    many: int = 250
    rare: frozenset[Any] = frozenset()


def cases(name: str, values: st.SearchStrategy[Any], **more: Any) -> st.SearchStrategy[Case]:
    return values.map(lambda value: Case(**{name: value}, **more))


CARDS = ALTERED_LEDGERS.map(lambda text: json.dumps({"schema": 1, "config": GOOD, **json.loads(text)}).encode())
MANY_ROWS = table([(str(1 + at % 2), SECRET, "a") for at in range(5002)])  # for the mechanism with the lowest limit
CHARGED = 300  # docs/guarantees.md says so
LOOK = ("look", "{}/t.csv")
SLOW = dict.fromkeys(("too many columns", "a huge field", "packed, or another format"), 0)
ROWS = {
    **{
        f"release, {name}": Row(cases("table", inputs), command, {BAD_DATA}, SLOW.get(name, 15))
        for name, inputs in WRONG_TABLES.items()
    },
    "release, too many rows": Row(
        st.just(Case(MANY_ROWS, spec_to_json(replace(SPEC, mechanism="inducing")).encode())), command, {BAD_DATA}, 0
    ),
    **{
        f"release, {name}": Row(cases("config", inputs, cells=frozenset()), command, {BAD_CONFIG})
        for name, inputs in WRONG_CONFIGS.items()
    },
    "release, names that do not fit": Row(cases("config", NAMES_THAT_DO_NOT_FIT), command, {BAD_CONFIG, BAD_DATA}),
    "release, any value of any setting": Row(
        st.builds(lambda key, value: Case(config=changed({key: value})), pick(list(GOOD)), ANY),
        command,
        {OK, BAD_CONFIG},
        40,
        2000,
        rare=frozenset({BAD_DATA}),
    ),
    "release, settings at the ends": Row(
        cases("config", extreme_settings(), arguments=(*Case.arguments, "--anyway")),
        command,
        {OK},
        0,
        100,
        rare=frozenset({BAD_DATA}),
    ),
    "release, an altered ledger": Row(
        cases("ledger", ALTERED_LEDGERS, cells=frozenset()), command, {OK, BAD_CONFIG}, 20, 1000, frozenset({REFUSED})
    ),
    "release, a card with an altered ledger": Row(
        cases("config", CARDS, cells=frozenset()), command, {OK, BAD_CONFIG}, 20, 1000, frozenset({REFUSED})
    ),
    "release, no ledger": Row(
        cases("ledger", pick([*NO_OBJECTS, TEXT]) | st.floats(3.1, 9).map(lambda total: ledger(total=total))),
        command,
        {BAD_CONFIG},
    ),
    "release, a spent ledger": Row(cases("ledger", st.integers(9, 40).map(ledger)), command, {REFUSED}, 5),
    "release, wrong arguments": Row(wrong_arguments(), command, {BAD_CONFIG}),
    "release, unusable paths": Row(unusable_paths(), command, {BAD_CONFIG, BAD_DATA, NOT_WRITTEN}, 30),
    "release, edited bytes": Row(
        cases("table", edited(TABLE, 3)) | cases("config", edited(TEXT, 3)),
        command,
        {OK, BAD_CONFIG, BAD_DATA},
        30,
        1000,
    ),
    "release, edited tables of people": Row(edited_tables(), command, {OK, BAD_DATA}, 12, 2000),
    "look, edited tables of people": Row(
        edited_tables(LOOK) | edited_tables((*LOOK, "--y", "height")), command, {OK, BAD_DATA}, 0, 2000
    ),
    "an altered release, opened": Row(ALTERED, opened, {"refused", "read"}, 150, 5000),
    "an altered release, drawn": Row(ALTERED, explored, {"refused", "drawn"}, 0, 500),
    "tables once charged": Row(charged(), measured, {"released", "simulated"}, 8, CHARGED),
    "links": Row(links(), visited, {"explained"}, 0, 40, frozenset({"used"})),
}


def outcomes_of(row: Row, count: int) -> set[Any]:
    """The outcomes of some inputs, each of which is allowed."""
    seen = set()

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(row.inputs)
    def each(drawn: Any) -> None:
        outcome = row.call(drawn)
        assert outcome in row.outcomes | row.rare, f"outcome {outcome}, not one of {row.outcomes}"
        seen.add(outcome)

    each()
    return seen


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.few])
def test_a_few_hostile_inputs_end_as_allowed(name):
    assert outcomes_of(ROWS[name], ROWS[name].few)


@pytest.mark.full
@pytest.mark.parametrize("name", ROWS)
def test_many_hostile_inputs_end_as_allowed(name):
    assert outcomes_of(ROWS[name], ROWS[name].many) >= ROWS[name].outcomes


@pytest.mark.full
@pytest.mark.parametrize("kind", RELEASES)
def test_a_release_that_nobody_altered_is_drawn(kind):
    assert explored(RELEASES[kind]()) == "drawn"


@pytest.mark.parametrize("name", ["release, nothing", "release, broken JSON", "release, no ledger"])
def test_a_valid_input_among_invalid_ones_is_noticed(name):
    with pytest.raises(AssertionError, match="outcome 0, not one of"):
        outcomes_of(replace(ROWS[name], inputs=st.just(Case())), 1)
