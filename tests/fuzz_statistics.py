"""A published release that a stranger has altered and sealed again: `python -m tests.fuzz_statistics` tries them all.

Anybody can compute the digest anew, so what is read is checked as what is declared is. A variant is a fault unless it
is refused with a sentence of our own when it is read, or else drawn in finite numbers.
"""

from __future__ import annotations

import copy
import functools
import io
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.measurement.described_arrays import pack
from dpgp_core.measurement.measurement import Measurement
from dpgp_core.measurement.statistics import CellStatistics, Stage, StageSquares, Statistics
from dpgp_core.measurement.statistics_file import statistics_to_files
from dpgp_core.release.json_text import guarantee_to_object
from pages._ui.explore import figures, statistic
from pages._ui.explore import view as explore_view
from pages._ui.explore.controls import Chosen, View
from pages._ui.explore.statistic import CARD, FILE, ExampleDraw, Explored, Refit
from pages._ui.model import load_dataset
from tests.core.measurement.sealing import (
    cells_of_groups,
    clustered,
    clusters_of_groups,
    known_cells,
    of_cells,
    positioned_cells,
)
from tests.core.mechanisms.cases import X_TEST, built
from tests.core.tables import small
from tests.pages.reading import ROOT

EXAMPLE = ExampleDraw("toy_1d", 1.0, 0.01)
OURS = ("dpgp_core", "pages")
PYTHONS = ("could not convert", "invalid literal", "JSON compliant", "positive definite", "unsupported operand")
VALUES: list[Any] = [0, -1, 1e308, -1e308, 1e-320, 10**400, 10**17, 0.5, "x", None, [], {}]
REALS, INTEGERS = (0, -1, 1e308, -1e308, 1e-320, 1e15), (0, -1, 1 << 20, -(1 << 31))  # in arrays
LONGEST = 500  # letters of a refusal
LONG = "zq" * 50_000
EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "bounds of one value": lambda card: card["output"].update(bounds=[5, 5]),
    "reversed bounds": lambda card: card["output"].update(bounds=[200, 50]),
    "bounds without end": lambda card: card["output"].update(bounds=[-1e308, 1e308]),
    "a reversed box": lambda card: card["inputs"].update(box=[pair[::-1] for pair in card["inputs"]["box"]]),
    "a narrow box": lambda card: card["inputs"].update(box=[[1e9, 1e9 + 1e-7] for _ in card["inputs"]["box"]]),
    "a tiny box": lambda card: card["inputs"].update(box=[[0, 1e-320] for _ in card["inputs"]["box"]]),
    "names that are no text": lambda card: card["inputs"].update(names=[7 for _ in card["inputs"]["names"]]),
    "levels of every input": lambda card: card["inputs"].update(levels=[["a", "b"] for _ in card["inputs"]["names"]]),
    "no levels": lambda card: card["inputs"].update(levels=[None for _ in card["inputs"]["names"]]),
    "one level": lambda card: card["inputs"].update(levels=[["a"]]),
    "levels that are no text": lambda card: card["inputs"].update(levels=[[1, 2, 3], None]),
    "levels that are no list": lambda card: card["inputs"].update(levels="abc"),
    "levels of a long name": lambda card: card["inputs"].update(names=[LONG, "b"], levels=[["a"], None]),
    "a long name": lambda card: card["output"].update(name="n" * 10**5),
}


def inside(found: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place of a JSON value, with what stands there."""
    if isinstance(found, dict | list):
        for key, value in found.items() if isinstance(found, dict) else enumerate(found):
            yield (*path, key), value
            yield from inside(value, (*path, key))


def copied(found: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    """A copy, and the part of it in which a place is."""
    altered = copy.deepcopy(found)
    return altered, functools.reduce(lambda at, key: at[key], path[:-1], altered)


def replaced(found: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value there."""
    altered, part = copied(found, path)
    part[path[-1]] = value
    return altered


def variants(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Each number of the card replaced by each of ``VALUES``, and ``EDITS``."""
    card, arrays = _parts(files)
    for path, number in inside(card):
        if isinstance(number, int | float) and not isinstance(number, bool):
            for value in VALUES:
                yield f"{path} = {str(value)[:12]}", sealed(replaced(card, path, value), arrays)
    for name in EDITS:
        yield name, edited(files, name)


def long_texts(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Each text of the card, and each name in it, replaced by one of 100,000 letters."""
    card, arrays = _parts(files)
    for path, value in inside(card):
        if isinstance(value, str):
            yield f"{path} is long", sealed(replaced(card, path, LONG), arrays)
        if isinstance(path[-1], str) and path != ("statistics",):
            renamed, part = copied(card, path)
            part[LONG] = part.pop(path[-1])
            yield f"the name {path} is long", sealed(renamed, arrays)


def edited(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """The same with one of ``EDITS``."""
    card, arrays = _parts(files)
    EDITS[name](card["statistics"])
    return sealed(card, arrays)


def array_variants(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """One number of each array, and all of them, replaced."""
    card, arrays = _parts(files)
    for name, array in arrays.items():
        for number in REALS if array.dtype.kind == "f" else INTEGERS:
            changed = array.copy()
            changed.flat[0] = number
            yield f"{name} = {number}", sealed(card, arrays | {name: changed})
            yield f"all of {name} = {number}", sealed(card, arrays | {name: np.full_like(array, number)})


def _parts(files: Mapping[str, bytes]) -> tuple[Any, dict[str, Any]]:
    with np.load(io.BytesIO(files[FILE])) as archive:
        return json.loads(files[CARD]), {name: archive[name] for name in archive.files}


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


def fault(files: Mapping[str, bytes], drawn: bool = True) -> str | None:
    """What is wrong with how the page takes it; None if it is refused when it is read, or else drawn."""
    try:
        found = statistic.opened(files)
    except ValueError as error:
        return _not_ours(error)
    except Exception as error:
        return f"reading: {type(error).__name__}: {str(error)[:90]}"
    try:
        return _drawn(found) if drawn else None
    except Exception as error:
        return f"drawing: {type(error).__name__}: {str(error)[:90]}"


def _not_ours(error: ValueError) -> str | None:
    """What of a refusal is in the words of Python or of its libraries."""
    raised = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    own = raised.is_relative_to(ROOT) and raised.relative_to(ROOT).parts[0] in OURS
    sentence = own and len(str(error)) < LONGEST and not any(word in str(error) for word in PYTHONS)
    return None if sentence else f"reading: {str(error)[:90]}"


def _drawn(found: Explored) -> str | None:
    refit = Refit("EQ", 50)
    read = statistic.refit_over_box(found, refit)
    for view in (View(1, None, 0.95, "outputs", None), View(None, 1, 0.5, "function", 0.5)):
        chosen = Chosen(found, read, view, None, refit, 1)
        for said in (
            explore_view.answer,
            explore_view.metrics,
            explore_view.caption,
            explore_view.description,
            explore_view.lengthscale_alt,
            explore_view.explain,
        ):
            said(chosen)
        figures.picture(found.statistics, read, view).to_json()
        figures.lengthscales(found.statistics, read, view.lengthscale).to_json()
        if not np.isfinite(explore_view.table(chosen).select_dtypes("number").to_numpy(dtype=float)).all():
            return "drawn in numbers that are not finite"
    return None if np.isfinite(read.lengthscale_probabilities).all() else "probabilities that are not finite"


def published(statistics: Statistics | CellStatistics, guarantee: Guarantee) -> dict[str, bytes]:
    """The two files of a release that are needed to read it."""
    promise = {"epsilon": guarantee.budget.epsilon, "delta": guarantee.budget.delta}
    stated = replace(statistics, guarantee=promise)
    about, npz = statistics_to_files(stated)
    return {CARD: json.dumps({"statistics": about, "guarantee": guarantee_to_object(guarantee)}).encode(), FILE: npz}


def of_records() -> dict[str, bytes]:
    """A release in which every record has a column of its own."""
    mechanism = built("refined")
    [statistics] = mechanism.release(small(x_box=((-2.0, 12.0),)), X_TEST).statistics
    return published(statistics, mechanism.guarantee)


def of_example() -> dict[str, bytes]:
    """A release of Bayes cloaking over clusters of records with public inputs."""
    data = load_dataset(EXAMPLE.dataset)
    [statistics] = EXAMPLE.mechanism.release(data, data.X[:2]).statistics
    return published(statistics, EXAMPLE.mechanism.guarantee)


def _with_squares(stage: Stage) -> Stage:
    """The stage, which measured squares as well."""
    M = stage.measurement.B.shape[1]
    ends = {"low": np.zeros(M), "high": np.full(M, 0.2 * len(stage.z)), "bounds": (0.0, 49.0)}
    squares = Measurement(B=np.ones((1, M)), **ends, noise_multiplier=2.0)
    return replace(stage, squares=StageSquares(measurement=squares, g=stage.g, z=np.array([0.3])))


def with_squares(make: Callable[[], CellStatistics]) -> dict[str, bytes]:
    """Stages over cells or clusters of a box of two inputs, whose records are known or measured too."""
    found = make()
    measured = replace(found, stages=tuple(map(_with_squares, found.stages)), reading="any outcomes")
    return published(measured, EXAMPLE.mechanism.guarantee)


def of_levels() -> dict[str, bytes]:
    """A stage over three cells of each of three levels."""
    return published(replace(cells_of_groups(), reading="any outcomes"), EXAMPLE.mechanism.guarantee)


KINDS: dict[str, Callable[[], dict[str, bytes]]] = {
    "records": of_records,
    "cells": partial(with_squares, of_cells),
    "known cells": partial(with_squares, known_cells),
    "positions": partial(with_squares, positioned_cells),
    "levels": of_levels,
    "clusters": partial(with_squares, clustered),
    "clusters of levels": partial(with_squares, clusters_of_groups),
    "a release": of_example,
}


def main() -> int:
    """Print the counts; exit with 1 if there was a fault."""
    total, faults = 0, []
    for kind, make in KINDS.items():
        files = make()
        for what, altered in [*variants(files), *long_texts(files), *array_variants(files)]:
            total += 1
            if (wrong := fault(altered)) is not None:
                faults.append(f"{kind}: {what}: {wrong}")
    print(f"{total} variants, {len(faults)} faults")
    print("\n".join(faults))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
