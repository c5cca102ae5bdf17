"""Curves of the comparison as it opens, worked out beforehand, so that nobody waits for what everybody opens first.

They are kept in a file beside this one, that `python -m benchmarks first_results` writes anew. Each is kept with the
settings that it is of: once a page opens with others, it is not used, and a test of all curves asks for a new file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from datasets import EXHIBITS
from pages._ui.compare import contenders
from pages._ui.compare.concern import concerning
from pages._ui.compare.contenders import USUAL, Contest, Curve
from pages._ui.look import offers
from pages._ui.model import load_dataset, usual

FILE = Path(__file__).with_name("built.npz")
BINS, INDUCING = 10, 6  # that pages open with
_PARTS = ("errors", "half_width", "half_score", "seconds")


class Built(NamedTuple):
    """A curve, and the settings that it is of, as text."""

    concern: str
    curve: Curve


def opening() -> Contest:
    """The contest that Start and Compare open with."""
    name = next(each.name for each in EXHIBITS.values() if each.cross_validated)
    return Contest(usual(name), offers.DELTA, BINS, INDUCING)


def find(concern: Contest, name: str) -> Curve | None:
    """The curve of a contender if it was worked out beforehand for these settings."""
    found = kept().get(name)
    return found.curve if found is not None and found.concern == repr(concern) else None


@cache
def kept() -> Mapping[str, Built]:
    """All of the file, by contender; nothing if there is none."""
    if not FILE.exists():
        return {}
    with np.load(FILE, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    for array in arrays.values():
        array.setflags(write=False)  # shared by all sessions
    return {
        name: Built(
            str(concern),
            Curve(
                errors=arrays[f"{name}_errors"],
                half_width=arrays[f"{name}_half_width"],
                half_score=arrays[f"{name}_half_score"],
                seconds=float(arrays[f"{name}_seconds"]),
            ),
        )
        for name, concern in zip(arrays["names"].tolist(), arrays["concerns"].tolist(), strict=True)
    }


def computed() -> Iterator[tuple[str, Built]]:
    """Work out every curve of ``opening``, one contender after the other."""
    contest = opening()
    data = load_dataset(contest.model.dataset)
    for name in USUAL:
        concern = concerning(contest, name)
        yield name, Built(repr(concern), contenders.curve(data, concern, name))


def write(found: Mapping[str, Built], path: Path = FILE) -> None:
    """Keep curves in a file."""
    arrays = {
        f"{name}_{part}": np.asarray(getattr(built.curve, part)) for name, built in found.items() for part in _PARTS
    }
    concerns = [built.concern for built in found.values()]
    np.savez_compressed(path, allow_pickle=False, names=list(found), concerns=concerns, **arrays)
