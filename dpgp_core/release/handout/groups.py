"""A release taken apart before it is drawn: a curve or map for each combination of levels, its axes in their order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import FloatArray
from ..specification import ReleaseSpec

COLOURS = ("#E69F00", "#56B4E9", "#A65628", "#CC79A7", "#009E73", "#D55E00")
"""Of released curves (Okabe & Ito 2008), as on the screen: never the blue of what is not private."""
_DASHES = ("", "8 3", "2 2", "8 3 2 3", "12 4")


@dataclass(frozen=True, kw_only=True, eq=False)
class Group:
    """One combination of levels; the only one, where no input has any.

    Attributes:
        number: of the group, from 0.
        name: of the levels; empty where no input has any.
        rows: which of all points are its own, in the order in which they are drawn (P_g,).
        X: these points (P_g, D'), inputs with levels left out.
    """

    number: int
    name: str
    rows: NDArray[np.intp]
    X: FloatArray

    @property
    def colour(self) -> str:
        """Of its line."""
        return COLOURS[self.number % len(COLOURS)]

    @property
    def dash(self) -> str:
        """Of its line, as SVG has it; empty for none."""
        return _DASHES[self.number // len(COLOURS) % len(_DASHES)]


def groups_of(spec: ReleaseSpec) -> tuple[list[Group], ReleaseSpec]:
    """The groups, and the specification that each of them is drawn by.

    It has no levels; longitude is its first input and latitude its second, where two are declared so.
    """
    east = [spec.x.index(name) for name in spec.coordinates or ()]
    levels = [d for d, name in enumerate(spec.x) if name in spec.levels]
    order = [*east, *(d for d in range(len(spec.x)) if d not in (*east, *levels))]
    drawn = spec
    if order != list(range(len(spec.x))):
        moved: dict[str, Any] = {
            name: tuple(getattr(spec, name)[d] for d in order) for name in ("x", "x_units", "x_box", "grid")
        }
        lengths = dict(zip((each.name for each in spec.numbers), spec.lengthscale or (), strict=True))
        drawn = replace(spec, **moved, lengthscale=tuple(lengths[name] for name in moved["x"]), x_levels=None)
    numbers = np.arange(np.prod(spec.grid)).reshape(spec.grid).transpose([*levels, *order])
    X, of_each = drawn.points(), [spec.levels[spec.x[d]] for d in levels]
    codes = product(*(range(len(each)) for each in of_each))
    return [
        Group(
            number=i,
            name=", ".join(each[code] for each, code in zip(of_each, chosen, strict=True)),
            rows=numbers[chosen].ravel(),
            X=X,
        )
        for i, chosen in enumerate(codes)
    ], drawn
