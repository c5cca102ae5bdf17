"""A release over inputs with levels, taken apart into one curve or map for each combination of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from ...arrays import BoolArray
from ..publishing import Published
from ..specification import ReleaseSpec

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7a5c00", "#444444")  # Okabe & Ito 2008
_DASHES = ("", "8 3", "2 2", "8 3 2 3", "12 4")


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
    kept = [d for d, name in enumerate(spec.x) if name not in spec.levels]
    plain = replace(
        spec,
        x=tuple(spec.x[d] for d in kept),
        x_units=tuple(spec.x_units[d] for d in kept),
        x_box=tuple(spec.x_box[d] for d in kept),
        grid=tuple(spec.grid[d] for d in kept),
        x_levels=None,
    )
    return list(_groups(published, spec, within, kept)), plain


def _groups(published: Published, spec: ReleaseSpec, within: BoolArray, kept: list[int]) -> Iterator[Group]:
    names, columns = list(spec.levels), [d for d in range(len(spec.x)) if d not in kept]
    for i, codes in enumerate(product(*(range(len(spec.levels[name])) for name in names))):
        rows = (published.X_test[:, columns] == np.array(codes)).all(axis=1)
        each = replace(
            published,
            X_test=published.X_test[rows][:, kept],
            values=published.values[rows],
            curve=(published.curve[0][rows], published.curve[1][rows]),
            outputs=(published.outputs[0][rows], published.outputs[1][rows]),
            centiles=tuple(values[rows] for values in published.centiles),
        )
        yield Group(
            name=", ".join(spec.levels[name][code] for name, code in zip(names, codes, strict=True)),
            published=each,
            within=within[rows],
            colour=_COLOURS[i % len(_COLOURS)],
            dash=_DASHES[i // len(_COLOURS) % len(_DASHES)],
        )
