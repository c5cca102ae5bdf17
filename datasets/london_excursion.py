"""Median prices of terraced houses in London's hexagons relative to a threshold, for excursion sets.

y = clip(ln median price - t, -1, 1) for the 300 hexagons of ``london_hexes``. Coordinates run from 0 to 1 between the
declared bounds of each axis, so that the scale does not depend on the data.

The privacy unit is the median of a hexagon, not a single sale. The positions of the occupied hexagons are private, so
predictions are made on ``grid``, which contains all hexagons of the declared box. The number n of occupied hexagons is
public, and so is delta if it depends on n.

Source of the sales: Contains HM Land Registry data (c) Crown copyright and database right
2024. Licensed under the Open Government Licence v3.0.
"""

from __future__ import annotations

import math

import h3
import numpy as np

from datasets import london_hexes, plumes_2d
from datasets.british_grid import centres, on_map
from datasets.exhibits import Study, Thresholds
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.sets import Targets
from dpgp_core.table import Column, Dataset, Outcome

NAME = "london_excursion"
TITLE = "London hexagons above a price (private positions)"
FAMILY = "london"  # the same sales, as single sales or as medians of hexagons
THRESHOLD = 13.0  # ln GBP, about GBP 442,000
Y_BOUNDS = (-1.0, 1.0)  # ln GBP from the threshold
MIDDLE, RINGS = "87194ad33ffffff", 35  # this hexagon and 35 rings around it cover the declared box
SEARCH_NOISE = 0.5  # M_xi of the simulated maps on which settings are chosen; a guess that is not fitted


def load(*, threshold: float = THRESHOLD) -> Dataset:
    """Load the log median prices relative to a threshold.

    Args:
        threshold: t, in ln GBP.

    Returns:
        X (300, 2), easting and northing as fractions of their declared ranges; y (300,), in ln GBP
        from the threshold, clipped to [-1, 1]; the labels of ``london_hexes``.

    Raises:
        ValueError: the threshold is not finite.
    """
    if not math.isfinite(threshold):
        raise ValueError(f"threshold must be a finite ln price, for example 13.0 for GBP 442,000; got {threshold}")
    hexes = london_hexes.load()
    low, high = np.array(hexes.x_box).T
    return Dataset(
        name=NAME,
        X=(hexes.X - low) / (high - low),
        y=np.clip(hexes.y - threshold, *Y_BOUNDS),
        columns=(
            Column(name=hexes.x_names[0], unit="fraction of 80 km", box=(0.0, 1.0)),
            Column(name=hexes.x_names[1], unit="fraction of 65 km", box=(0.0, 1.0)),
        ),
        outcome=Outcome(name="ln median price above the threshold", unit="ln GBP", bounds=Y_BOUNDS),
        privacy_unit="one hexagon's position and median price",
        source=hexes.source,
        licence=hexes.licence,
        bounds_reason="declared: prices beyond a factor e from the threshold count as a factor e",
        labels=hexes.labels,
    )


def cells() -> list[str]:
    """Return the H3 indices of the public grid: all hexagons of the declared box, with or without sales."""
    return [cell for cell, _ in _in_box()]


def grid() -> FloatArray:
    """Return the centres of ``cells`` (P, 2), as fractions of the declared ranges. They depend on no record."""
    return np.array([place for _, place in _in_box()])


def _in_box() -> list[tuple[str, FloatArray]]:
    """Return the hexagons whose centre lies in the declared box, with that centre, sorted by index."""
    around = sorted(h3.grid_disk(MIDDLE, RINGS))
    low, high = np.array(london_hexes.X_BOX).T
    places = (on_map(centres(around)) - low) / (high - low)
    inside = ((places >= 0) & (places <= 1)).all(axis=1)
    return [(cell, place) for cell, place, within in zip(around, places, inside, strict=True) if within]


def truth(medians: Dataset) -> FloatArray:
    """Return the outputs of ``load`` on ``grid()`` (P,), in ln GBP; NaN in hexagons without sales. Not private."""
    known = dict(zip(medians.labels["cell"].tolist(), medians.y.tolist(), strict=True))
    return np.array([known.get(cell, math.nan) for cell in cells()])


def search_targets(count: int, *, noise: float = SEARCH_NOISE, seed: int = 1) -> Targets:
    """Simulate ``count`` maps at n random cells of the public grid, on which settings are chosen without private data.

    Args:
        count: number of maps, at least 1.
        noise: M_xi in [0, 1), as in ``plumes_2d``.
        seed: seed of the simulation.
    """
    everywhere = grid()
    chosen = np.random.default_rng(seed).choice(len(everywhere), load().n, replace=False)
    return plumes_2d.targets_at(everywhere[chosen], count, noise=noise, seed=seed)


def _shown(*, noise: float, threshold: float) -> tuple[Dataset, FloatArray, FloatArray]:
    medians = load(threshold=threshold)
    return medians, grid(), truth(medians)


EXHIBITS = (
    Study(
        name="london",
        title="London hexagons",
        scene="cells",
        shown=_shown,
        simulated=search_targets,
        n=300,
        inputs=2,
        thresholds=Thresholds(
            key="price",
            title="Threshold [thousand pounds]",
            offered=(300, 360, 440, 540, 660, 800),
            start=440,
            help="Where are prices above it?",
            subtracted=True,
            logarithmic=True,
        ),
        noises=(),
        noise=SEARCH_NOISE,
        start=(0.08, 8, 0.05),
        validated=3,
        searched=4,
        truth_of="outputs",
    ),
)
