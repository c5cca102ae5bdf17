"""Hostile input to every public entry point: the command line, links to pages, altered releases, and mechanisms.

A row of ``ROWS`` draws input of one kind, hands it to its entry point and names the outcomes that are allowed.
`make test` tries a few inputs of each row, and `make test-all` many, among which every allowed outcome must occur.
"""

from __future__ import annotations

import copy
import functools
import io
import json
import operator
import re
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from itertools import product
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
from dpgp_core.reading.look import MARK as PROPOSED
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
from tests import hostile_files
from tests.core.measurement import sealing
from tests.core.mechanisms.cases import X_TEST, built
from tests.core.reading.test_rows import OTHER_KINDS
from tests.core.release.test_as_it_is import config_of, owners, proposed
from tests.core.tables import read_again, small
from tests.kinds import KINDS, Kind
from tests.odd_kinds import ODD
from tests.pages.addresses import bound_controls, is_used, open_at, published
from tests.pages.reading import ROOT

pick = st.sampled_from

# ---- JSON of which one place is altered.

VALUES: list[Any] = [None, True, False, "", " ", "1", "nan", "x" * 100_000, "\x00", "a\nb", "\ud800", "\u2028", " age"]
VALUES += ["age", "note", "value", "Refined", "EQ ", "yes/no", "who", -1, 0, 1, 2, 0.5, 1e-9, 1e9, 1e15, 1e-320, 1e308]
VALUES += [-0.0, 10**9, 10**17, 10**30, -(10**400), [9, 1], [5, 5], ["1", "9"], [1, None], [[1, 9]], "1..9", [-3]]
NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "+1", ".5", "0x10", "1_000", "01", "1e999999999"]
ANY = st.recursive(
    pick(VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(pick(["a", "\udfff"]), inner, max_size=1),
    max_leaves=4,
).map(json.dumps) | pick(NO_NUMBERS)
DIGITS = st.builds(str.format, pick(["{}", "-{}", "{}.5"]), st.integers(20, 99_999).map(lambda count: "9" * count))
DEEP = st.builds(
    lambda depth, kind: (f"{'[' * depth}{']' * depth}", '{"a":' * depth + "1" + "}" * depth, "[" * depth)[kind],
    st.integers(100, 160_000),
    st.integers(0, 2),
)
NAMES = ["epsilom", "seed", "", "x " * 300, "zq" * 50_000, "\ud800", "__class__", "é"]


def inside(found: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value."""
    parts = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [each for key, value in parts for each in ((*path, key), *inside(value, (*path, key)))]


@st.composite
def altered(draw: st.DrawFn, found: Any) -> bytes:
    """Its text with another value somewhere, with another name, without a part, or with one twice."""
    *path, key = draw(pick(inside(found)))
    found = copy.deepcopy(found)
    part = functools.reduce(operator.getitem, path, found)
    how = draw(pick(["value"] * 7 + ["name", "lost", "twice"] * isinstance(key, str)))
    old, text = part.pop(key), json.dumps("HERE")
    if how in ("name", "twice"):
        part[draw(pick(NAMES)) if how == "name" else "HERE"] = old
    elif how == "value":
        part.insert(key, "HERE") if isinstance(part, list) else part.update({key: "HERE"})
        text = draw(ANY) if draw(st.integers(0, 9)) else draw(DIGITS | DEEP)
    if how == "twice":
        text = f"{json.dumps(key)}: 1, {json.dumps(key)}"
    return json.dumps(found).replace('"HERE"', text).encode()


# ---- Tables. Every private cell contains SECRET, which no message may show.

SECRET = "7391"
HEADER = ("age", "height", "note")
CELLS = tuple((f"{age}", f"17{at}.{SECRET}", f"n{SECRET}") for at, age in enumerate((12.5, 3.1, 64.0, 90.2, 41.7)))
BELOW = range(1, 1 + len(CELLS))


def table(lines: Any = (HEADER, *CELLS), separator: str = ",", end: str = "\n") -> bytes:
    return "".join(separator.join(line) + end for line in lines).encode()


TABLE = table()


def lined(at: Any, lines: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """A good table with another line somewhere."""
    rows = [HEADER, *CELLS]
    return st.builds(lambda at, line: table([*rows[:at], line, *rows[at + 1 :]]), pick(at), lines)


def with_cell(at: Any, columns: Any, cells: st.SearchStrategy[str]) -> st.SearchStrategy[bytes]:
    """A good table with another cell, or another name."""
    changes = st.tuples(pick(columns), cells)
    row = HEADER if at == (0,) else CELLS[0]
    return lined(at, changes.map(lambda change: (*row[: change[0]], change[1], *row[change[0] + 1 :])))


NOT_NUMBERS = ["1e999", "-1e999", "1_000", "١٢٣", "１２", "½", "nan", "NaN", "inf", "-Infinity", "0x1f", "1e", "--1"]
NOT_NUMBERS += ["1 000", "12%%", "$", "TRUE", "None", "", " ", "1.2.3", "=1+1", "@SUM(A1)", "1;5", "0b1", "1j", "#N/A"]
NOT_NUMBERS += ["²", "1\u00a0000", "\u2013 1"]
BYTES = [b"\0", b"\0\0\0", b"\xed\xa0\x80", b"\xff", b"\xc0\xaf", b"\xf5\x80\x80\x80"]
ENCODINGS = ["latin-1", "utf-16-le", "utf-16-be", "utf-32-le", "cp037"]
PACKED = [content for name, (content, _) in OTHER_KINDS.items() if name not in ("zip", "gzip")]  # which are read
WRONG_TABLES = (
    st.builds(lambda at, piece: TABLE[:at] + piece + TABLE[at:], st.integers(0, len(TABLE)), pick(BYTES))
    | pick(ENCODINGS).map(TABLE.decode().replace("n7391", "é7391", 1).encode)
    | lined(BELOW, pick([CELLS[0][:-1], (*CELLS[0], *[SECRET] * 3), ["1"] * 5000]))
    | with_cell(BELOW, (0, 1), pick([f'"{SECRET}', f'"1"{SECRET}', f'"{SECRET}""', f'"a" "{SECRET}"']))
    | pick([*hostile_files.WRONG.values(), *PACKED])
    | pick(["\x0b", "\x85", "\u2028", "\x1e"]).map(lambda end: table(end=end))
    | pick(["!", "/", "\\", "，"]).map(lambda separator: table(separator=separator))
    | with_cell((0,), (2,), pick(["age", "height", " age ", "height "]))
    | with_cell((0,), (0, 1), pick(["Age", "HEIGHT", "", "ag", "=age", "age\u2603", "x" * 5000]))
    | st.permutations(CELLS).map(table)
    | st.builds(bytes.__mul__, pick([b"", b"\n", b" ", b"\t", b",", b'""', b"\xef\xbb\xbf"]), st.integers(0, 30))
    | pick([table([HEADER]), table([HEADER, CELLS[0]])])
    | with_cell(BELOW, (0, 1), st.builds(str.format, pick(["{}", '"{}"', " {} "]), pick(NOT_NUMBERS)))
    | with_cell(BELOW, (0,), pick(["-0.1", "100.001", "1e300", "-1e-9", "99999"]))
    | st.permutations(CELLS).map(lambda lines: table([HEADER, *(("5", *line[1:]) for line in lines)]))
    | st.binary(min_size=1, max_size=400)
)
HUGE_TABLES = (
    lined(BELOW, st.integers(5000, 300_000).map(lambda count: ["1"] * count))
    | st.integers(1030, 10**6).map(lambda count: table([["age", "height", *map(str, range(count))], *["12"] * 3]))
    | with_cell(BELOW, (0, 1, 2), st.builds(operator.mul, pick(["9", "x", "a b "]), pick([260_000, 10**6])))
)
PIECES = [b'"', b"\0", b"\n", b"\r", b"\r\n", b",", b";", b"\t", b" ", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"''"]
PIECES += [b"=", b"#", b"e9", b"-", b".", b"NA", b"nan", b"1e999", b"\xe2\x80\xa8", b"\xed\xa0\x80", b'""', b",,,,"]
PIECES += [b";;;\n", b"/", b"0" * 400]


@st.composite
def edited(draw: st.DrawFn, content: bytes) -> bytes:
    """The same with up to four pieces put in, left out, doubled or replaced."""
    for _ in range(draw(st.integers(1, 4))):
        at, start, size = (draw(st.integers(0, most)) for most in (len(content), len(content), 1000))
        copied = content[start : start + size]
        new = draw(pick(PIECES) | st.binary(max_size=3) | pick([b"", copied, copied.replace(b",", b";")]))
        content = content[:at] + new + content[at + draw(pick([0, len(new), size])) :]
    return content


# ---- The command line.

SPEC = replace(EXAMPLE, mechanism="refined", grid=(3,))  # inputs are public: those outside the box are refused
GOOD = spec_to_object(SPEC)
TEXT = spec_to_json(SPEC).encode()
NO_OBJECTS = [b"", b" ", b"null", b"true", b"1", b'"text"', b"[]", b"[{}]", b"{}", b"age,height\n1,2\n", b"PK\x03\x04"]
BROKEN = [TEXT + b"}", TEXT + TEXT, b"\x00" + TEXT, TEXT[1:], TEXT.replace(b"cm", b"\xe9"), TEXT + b" " * 5_000_000]
BROKEN += [TEXT.decode().encode(code) for code in ("utf-16", "utf-32", "cp037")]


def ledger(releases: int = 1, total: float = 3.0) -> bytes:
    found = replace(SPEC, total_epsilon=total).new_ledger()
    found.entries = [("an earlier release", SPEC.guarantee)] * releases
    return ledger_to_json(found).encode()


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
    return json.dumps(GOOD | found).encode()


@dataclass(frozen=True)
class Case:
    """The files and arguments of a command; ``{}`` in an argument stands for the folder of the files."""

    table: bytes = TABLE
    config: bytes = TEXT
    ledger: bytes | None = None
    arguments: tuple[str, ...] = ("release", "--csv={}/t.csv", "--config={}/c.json", "--out={}/o.zip")
    cells: frozenset[str] = frozenset({SECRET, hostile_files.SECRET})


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
        for entry in spent["entries"]:
            entry["guarantee"].setdefault("rows", 1.0)  # which ledgers of earlier versions do not state
        assert same(spent["entries"], card["ledger"]["entries"][:-1]), "the card lacks what was spent before"
    if case.ledger is not None:
        assert files["l.json"].startswith(case.ledger), "the ledger lacks what was spent before"
        assert len(files["l.json"]) > len(case.ledger)


def in_floats(text: bytes) -> Any:
    """JSON whose whole numbers are floats, so that 1, 1.0 and true are told apart as JSON does."""
    return json.loads(text, parse_int=float)


def same(asked: Any, stated: Any) -> bool:
    """Whether a value is stated as asked, where nothing is the default, and one value a list of it."""
    text, *allowed = (json.dumps(each, sort_keys=True) for each in (stated, asked, [asked]))
    return asked in (None, "", [], {}) or text in allowed


USUAL = Case.arguments
MORE = ("--seed", "--epsilon=3", "extra", "--for", "-x", "--led", "\ud800", "--ledger", "\x00")
WRONG_ARGUMENTS = [USUAL[:3], ("release",), (), *((*USUAL, each) for each in MORE)]
WRONG_ARGUMENTS += [(*USUAL, "--", "x"), ("rel", *USUAL[1:]), ("", *USUAL)]
PATHS = {"csv": "{}/t.csv", "config": "{}/c.json", "out": "{}/o.zip"}
NO_PATHS = ["{}/" + "x" * 300, "{}/a\0b", "{}/none/x", "{}"]
UNUSABLE = [*product(("csv", "config"), [*NO_PATHS, "{}/nowhere", ""]), *product(("ledger",), NO_PATHS)]
UNUSABLE += product(("out",), [*NO_PATHS, "{}/t.csv", "{}/c.json"])


def at_paths(changed: tuple[str, str], more: tuple[str, ...]) -> Case:
    paths = PATHS | {changed[0]: changed[1]}
    return Case(arguments=("release", *(f"--{key}={path}" for key, path in paths.items()), *more))


PEOPLE: list[Any] = [*KINDS.values(), *(odd for odd in ODD.values() if "x_box" not in odd.declared)]
"""Tables as people have them, but for one whose box is refused whatever the table."""


@functools.cache
def of_people(at: int) -> tuple[bytes, dict[str, Any]]:
    """One of them with its configuration, an odd one with what `look` proposes to declare of it."""
    kind, quick = PEOPLE[at], {"mechanism": "refined", "grid": [3]}
    if isinstance(kind, Kind):
        return kind.content, config_of(kind, **quick)
    try:
        found = proposed(kind.content, kind, None)
    except ValueError:
        found = {}
    found.pop(PROPOSED, None)  # which no card repeats
    return kind.content, found | owners(kind) | quick


@st.composite
def edited_tables(draw: st.DrawFn, arguments: tuple[str, ...] = Case.arguments) -> Case:
    content, config = of_people(draw(st.integers(0, len(PEOPLE) - 1)))
    edit = draw(edited(content))
    cells = unless_named(cells_of(content), edit, config["x"][0])
    return Case(table=edit, config=json.dumps(config).encode(), arguments=arguments, cells=cells)


def unless_named(cells: set[str], edit: bytes, x: str) -> frozenset[str]:
    """Cells without those moved to the names, which are public, also below a title; UTF-16 may have lost its mark."""
    first, *lines = re.split(r"[\r\n]+", edit.decode("latin-1").replace("\0", ""))
    names = "\n".join([first, *(line for line in lines if x in line)])
    return frozenset(cell for cell in cells if cell not in names)


def cells_of(content: bytes) -> set[str]:
    """Texts of a table that no message may show: those that are no word of a message by chance."""
    lines = re.split(r"[\r\n]+", content.decode("latin-1").replace("\0", ""))
    cells = {cell.strip(' "') for line in lines[1:] for cell in re.split(r"[,;|\t]", line)}
    return {cell for cell in cells if len(cell) > 4} - {"height"}


# ---- Releases that a stranger has altered and sealed again: anybody can compute the digest anew.

PLAN = ExampleDraw("toy_1d", 1.0, 0.01)
IN_ARRAYS = {"f": (0, -1, 1e308, -1e308, 1e-320, 1e15), "i": (0, -1, 1 << 20, -(1 << 31))}
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


OVER_CELLS = ("of_cells", "known_cells", "positioned_cells", "cells_of_groups", "clustered", "clusters_of_groups")
RELEASES = ("records", "clusters of records", *OVER_CELLS)


@functools.cache
def release_of(kind: str) -> dict[str, bytes]:
    if kind == "records":
        return released(built("refined"), small(x_box=((-2.0, 12.0),)), X_TEST)
    if kind in OVER_CELLS:
        return with_guarantee(replace(with_squares(getattr(sealing, kind)), outcome_model="any outcomes"))
    data = load_dataset(PLAN.dataset)
    return released(PLAN.mechanism, data, data.X[:2])


@st.composite
def altered_releases(draw: st.DrawFn) -> dict[str, bytes]:
    """A release with a number, a text or a name changed, in the card or in the arrays, and sealed anew."""
    files = release_of(draw(pick(RELEASES)))
    card, arrays = files[CARD], sealing.arrays_of(files[FILE])
    if draw(st.booleans()):
        card = draw(altered(json.loads(card)))
    else:
        array = arrays[draw(pick(sorted(arrays)))]
        array.flat[slice(None) if draw(st.booleans()) else 0] = draw(pick(IN_ARRAYS[array.dtype.kind]))
    npz = pack({}, arrays)[1]
    try:  # long whole numbers are read as floats
        read = json.loads(card, parse_int=lambda digits: int(digits) if len(digits) < 19 else float(digits))
        about = {key: value for key, value in read["statistics"].items() if key != "sha256"}
        digest = pack(about, arrays)[0]["sha256"]
    except (ValueError, RecursionError, LookupError, AttributeError, TypeError):  # no digest can be made of it
        return {CARD: card, FILE: npz}
    return {CARD: card.replace(json.loads(files[CARD])["statistics"]["sha256"].encode(), digest.encode()), FILE: npz}


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
    refit = Refit("EQ", 50)
    try:
        found, read = statistic._own(files, refit)
    except ValueError:  # beyond what can be computed
        return "refused"
    for view in (View(0.95, "outputs", None), View(0.5, "function", 0.5)):
        chosen = Chosen(found, read, view, None, refit, 1)
        for part in ("answer", "metrics", "caption", "description", "explain"):
            getattr(explore_view, part)(chosen)
        figures.picture(found.statistics, read, view).to_json()
        figures.lengthscales(found.statistics, read).to_json()
        assert np.isfinite(explore_view.table(chosen).select_dtypes("number").to_numpy(dtype=float)).all()
    assert np.isfinite(read.lengthscale_probabilities).all()
    return "drawn"


# ---- Tables through plan, measurement and reading: once a budget is charged, nothing may fail.

INPUTS: list[Callable[[Any, int, int], Any]] = [
    lambda rng, n, dim: rng.uniform(0, 1, (n, dim)),
    lambda rng, n, dim: rng.choice(rng.uniform(0, 1, rng.integers(1, 6)), (n, dim)),  # few values
    lambda rng, n, dim: np.tile(rng.uniform(0, 1, dim), (n, 1)),  # one place
    lambda rng, n, dim: rng.integers(0, 2, (n, 1)) + 1e-9 * rng.standard_normal((n, dim)),  # two corners
    lambda rng, n, dim: np.where(rng.uniform(size=(n, 1)) < 0.99, 0.5, rng.uniform(0, 1, (n, dim))),
    lambda rng, n, dim: 1e6 * rng.standard_normal((n, dim)),  # outside of the box
]
OUTCOMES: list[Callable[[Any, int, float], Any]] = [
    lambda rng, n, high: rng.uniform(0, high, n),
    lambda rng, n, high: np.full(n, rng.choice([0.0, high, high / 2])),
    lambda rng, n, high: rng.choice([0.0, high], n, p=[0.99, 0.01]),
    lambda rng, n, high: high * 10.0 ** rng.uniform(-12, 6, n),
]


@st.composite
def charged(draw: st.DrawFn) -> tuple[Any, ...]:
    """A table, how it is released, at which inputs, from how many people on positions are measured, and the noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dim, n = draw(pick([1, 1, 2, 3])), int(np.ceil(10 ** draw(st.floats(0, 3.2))))
    kind = draw(pick(["number", "amount", "count", "yes/no"]))
    high = 1.0 if kind == "yes/no" else draw(pick([1.0, 10.0, 121.0, 1e6]))
    X, y = draw(pick(INPUTS))(rng, n, dim), draw(pick(OUTCOMES))(rng, n, high)
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


ANYWAY = {"arguments": (*USUAL, "--anyway")}
WORDS_ONLY = {"cells": frozenset[str]()}
LEDGERS = altered(json.loads(ledger()))
CARDS = LEDGERS.map(lambda text: b'{"config": ' + TEXT + b", " + text[1:])
NO_CONFIGS = (
    pick([*NO_OBJECTS, *BROKEN]) | st.integers(0, len(TEXT) - 3).map(lambda cut: TEXT[:cut]) | DEEP.map(str.encode)
)
MANY_ROWS = table([HEADER, *((str(1 + at % 2), SECRET, "a") for at in range(5002))])  # for the lowest limit
TOO_MANY = Case(MANY_ROWS, spec_to_json(replace(SPEC, mechanism="inducing")).encode())
LEDGERLESS = pick([*NO_OBJECTS, TEXT]) | st.floats(3.1, 9).map(lambda total: ledger(total=total))
CHARGED = 300  # docs/guarantees.md says so
LOOK = ("look", "{}/t.csv")
LOOKED = edited_tables(LOOK) | edited_tables((*LOOK, "--y", "height"))
EDITED_TABLES = edited(TABLE).map(lambda edit: Case(edit, cells=unless_named({SECRET}, edit, "age")))
BYTES_OF_BOTH = EDITED_TABLES | cases("config", edited(TEXT))
BOTH, NO_DATA, SPENT = {OK, BAD_CONFIG}, frozenset({BAD_DATA}), frozenset({REFUSED})
ROWS = {
    "release, a wrong table": Row(cases("table", WRONG_TABLES), command, {BAD_DATA}, 150, 4000),
    "release, a huge table": Row(cases("table", HUGE_TABLES), command, {BAD_DATA}, 0, 100),
    "release, too many rows": Row(st.just(TOO_MANY), command, {BAD_DATA}, 0),
    "release, no configuration": Row(cases("config", NO_CONFIGS, **WORDS_ONLY), command, {BAD_CONFIG}, 40),
    "release, an altered configuration": Row(cases("config", altered(GOOD)), command, BOTH, 120, 6000, NO_DATA),
    "release, settings at the ends": Row(cases("config", extreme_settings(), **ANYWAY), command, {OK}, 0, 100, NO_DATA),
    "release, an altered ledger": Row(cases("ledger", LEDGERS, **WORDS_ONLY), command, BOTH, 20, 1000, SPENT),
    "release, a card with an altered ledger": Row(cases("config", CARDS, **WORDS_ONLY), command, BOTH, 20, 1000, SPENT),
    "release, no ledger": Row(cases("ledger", LEDGERLESS), command, {BAD_CONFIG}),
    "release, a spent ledger": Row(cases("ledger", st.integers(9, 40).map(ledger)), command, {REFUSED}, 5),
    "release, wrong arguments": Row(cases("arguments", pick(WRONG_ARGUMENTS)), command, {BAD_CONFIG}),
    "release, unusable paths": Row(
        st.builds(at_paths, pick(UNUSABLE), pick([(), ("--force",)])),
        command,
        {BAD_CONFIG, BAD_DATA, NOT_WRITTEN},
        30,
    ),
    "release, edited bytes": Row(BYTES_OF_BOTH, command, {OK, BAD_CONFIG, BAD_DATA}, 30, 1000),
    "release, edited tables of people": Row(edited_tables(), command, {OK, BAD_DATA}, 12, 2000),
    "look, edited tables of people": Row(LOOKED, command, {OK, BAD_DATA}, 0, 2000),
    "an altered release, opened": Row(altered_releases(), opened, {"refused", "read"}, 150, 5000),
    "an altered release, drawn": Row(altered_releases(), explored, {"refused", "drawn"}, 0, 500),
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
    assert explored(release_of(kind)) == "drawn"


@pytest.mark.parametrize("name", ["release, a wrong table", "release, no configuration", "release, no ledger"])
def test_a_valid_input_among_invalid_ones_is_noticed(name):
    with pytest.raises(AssertionError, match="outcome 0, not one of"):
        outcomes_of(replace(ROWS[name], inputs=st.just(Case())), 1)
