"""Maps with east across: a table may name latitude before longitude, and a map drawn so would lie on its side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..specification import ReleaseSpec

T = TypeVar("T", bound=np.generic)


def east_across(spec: ReleaseSpec) -> ReleaseSpec:
    """The specification with longitude as the first input and latitude as the second, where two are declared so."""
    order = _order(spec)
    if order == list(range(len(spec.x))):
        return spec
    names = ("x", "x_units", "x_box", "lengthscale", "grid")
    moved: dict[str, Any] = {name: tuple(getattr(spec, name)[at] for at in order) for name in names}
    return replace(spec, **moved)


def turned(spec: ReleaseSpec, values: NDArray[T]) -> NDArray[T]:
    """Values on the grid of a specification (P,), on that of ``east_across``."""
    return np.ascontiguousarray(values.reshape(spec.grid).transpose(_order(spec))).ravel()


def _order(spec: ReleaseSpec) -> list[int]:
    first = [spec.x.index(name) for name in spec.coordinates or ()]
    return [*first, *(at for at in range(len(spec.x)) if at not in first)]
