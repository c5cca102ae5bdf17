"""A release over inputs with levels, taken apart into one curve or map for each combination of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray
from ..publishing import Published
from ..specification import ReleaseSpec

COLOURS = ("#E69F00", "#56B4E9", "#A65628", "#CC79A7", "#009E73", "#D55E00")
"""Of released curves (Okabe & Ito 2008), as on the screen: never the blue of what is not private."""
_DASHES = ("", "8 3", "2 2", "8 3 2 3", "12 4")


class Rows(NamedTuple):
    """One combination of levels, and which points are its own.

    Attributes:
        name: of the levels; empty where no input has any.
        rows: of all points (P,).
        places: of these points (P_g, D'), inputs with levels left out.
        colour: of its line; empty where there is one group.
        dash: of its line, as SVG has it; empty for none.
    """

    name: str
    rows: BoolArray
    places: FloatArray
    colour: str
    dash: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One combination of levels.

    Attributes:
        name: of the levels; empty where no input has any.
        published: at its points, inputs with levels left out.
        within: which of its values are of use.
        colour: of its line.
        dash: of its line, as SVG has it; empty for none.
    """

    name: str
    published: Published
    within: BoolArray
    colour: str
    dash: str


def split(published: Published, spec: ReleaseSpec, within: BoolArray, alone: str) -> tuple[list[Group], ReleaseSpec]:
    """The groups, and the specification without levels.

    Args:
        published: at all points.
        spec: what was published.
        within: which values are of use (P,).
        alone: colour where there is one group.
    """
    if not spec.levels:
        return [Group(name="", published=published, within=within, colour=alone, dash="")], spec
    groups, plain = grouped(spec)
    return [_part(published, within, each) for each in groups], plain


def grouped(spec: ReleaseSpec) -> tuple[list[Rows], ReleaseSpec]:
    """Which points of a specification are which group's, and the specification without levels."""
    X = spec.points()
    if not spec.levels:
        return [Rows("", np.ones(len(X), dtype=bool), X, "", "")], spec
    kept = [d for d, name in enumerate(spec.x) if name not in spec.levels]
    plain = replace(
        spec,
        x=tuple(spec.x[d] for d in kept),
        x_units=tuple(spec.x_units[d] for d in kept),
        x_box=tuple(spec.x_box[d] for d in kept),
        grid=tuple(spec.grid[d] for d in kept),
        x_levels=None,
    )
    return list(_rows(X, spec, kept)), plain


def _rows(X: FloatArray, spec: ReleaseSpec, kept: list[int]) -> Iterator[Rows]:
    names, columns = list(spec.levels), [d for d in range(len(spec.x)) if d not in kept]
    for i, codes in enumerate(product(*(range(len(spec.levels[name])) for name in names))):
        rows = (X[:, columns] == np.array(codes)).all(axis=1)
        yield Rows(
            name=", ".join(spec.levels[name][code] for name, code in zip(names, codes, strict=True)),
            rows=rows,
            places=X[rows][:, kept],
            colour=COLOURS[i % len(COLOURS)],
            dash=_DASHES[i // len(COLOURS) % len(_DASHES)],
        )


def _part(published: Published, within: BoolArray, group: Rows) -> Group:
    rows = group.rows
    each = replace(
        published,
        X_test=group.places,
        values=published.values[rows],
        curve=(published.curve[0][rows], published.curve[1][rows]),
        outputs=(published.outputs[0][rows], published.outputs[1][rows]),
        centiles=tuple(values[rows] for values in published.centiles),
    )
    return Group(name=group.name, published=each, within=within[rows], colour=group.colour, dash=group.dash)
