"""Distances to a curve as part of the two files of a statistic; read back strictly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import FloatArray
from .cells import CellResiduals
from .described_arrays import AGAIN, Array, Shapes, number, whole
from .distances import Above, MeasuredDistances
from .integers import GRID
from .measurement import Measurement

Kind = Callable[..., Measurement | CellResiduals]


def about_distances(found: MeasuredDistances | None) -> dict[str, Any]:
    """What a description says of them: nothing where there are none."""
    if found is None:
        return {}
    card = {"noise": "discrete Gaussian", "noise_multiplier": found.measurement.noise_multiplier}
    card["numbers"] = len(found.z)
    if found.above is not None:
        card["above"] = {"noise_multiplier": found.above.measurement.noise_multiplier}
    return {"distances": card}


def distance_arrays(found: MeasuredDistances | None) -> dict[str, Array]:
    """The strategy as the integers 2^20 B, the curve, and the noisy numbers."""
    if found is None:
        return {}
    real = {"distances_g": found.g, "distances_z": found.z}
    real |= {"distances_reach": np.array([found.reach]), "distances_sd": np.array([found.sd])}
    if found.above is not None:
        real["distances_above"] = found.above.z
    arrays: dict[str, Array] = {name: np.asarray(values, dtype="<f8") for name, values in real.items()}
    integers = np.ascontiguousarray(found.measurement.B * GRID, dtype=float).astype("<i4")  # exact
    return {"distances_B": integers, **arrays}


def distance_shapes(card: Mapping[str, Any], columns: int, places: int) -> Shapes:
    """Shape and type of each array that the description announces.

    Args:
        card: the description.
        columns: of the strategy.
        places: where the curve is given.
    """
    if "distances" not in card:
        return {}
    kept, real = card["distances"], np.dtype("<f8")
    r = whole(kept["numbers"])
    shapes: Shapes = {
        "distances_B": ((r, columns), np.dtype("<i4")),
        "distances_g": ((places,), real),
        "distances_z": ((r,), real),
        "distances_reach": ((1,), real),
        "distances_sd": ((1,), real),
    }
    return {**shapes, "distances_above": ((1,), real)} if "above" in kept else shapes


def distances_from(card: Mapping[str, Any], arrays: Mapping[str, Array], kind: Kind) -> MeasuredDistances | None:
    """The distances of a description and its arrays; None where there are none.

    Args:
        card: the description.
        arrays: read.
        kind: of measurement.

    Raises:
        ValueError: a number is none that a release can have.
    """
    if "distances" not in card:
        return None
    kept, above = card["distances"], None
    B, g, z = (np.asarray(arrays[f"distances_{name}"], dtype=float) for name in ("B", "g", "z"))
    if np.abs(B).max() > GRID or kept["noise"] != "discrete Gaussian":
        raise ValueError(f"the distances hold what no release can have; {AGAIN}")
    n = B.shape[1]
    if "above" in kept:
        count = _from_zero(kind, np.ones((1, n)), 1.0, number(kept["above"]["noise_multiplier"]))
        above = Above(measurement=count, z=np.asarray(arrays["distances_above"], dtype=float))
    reach, sd = (float(np.asarray(arrays[f"distances_{name}"], dtype=float)[0]) for name in ("reach", "sd"))
    measurement = _from_zero(kind, B / GRID, reach, number(kept["noise_multiplier"]))
    return MeasuredDistances(measurement=measurement, g=g, sd=sd, z=z, above=above)


def _from_zero(kind: Kind, B: FloatArray, most: float, s: float) -> Measurement | CellResiduals:
    n = B.shape[1]
    return kind(B=B, low=np.zeros(n), high=np.full(n, most), bounds=(0.0, most), noise_multiplier=s)
