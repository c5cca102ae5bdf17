"""A small simulated data set for learning: a smooth curve of one input with Gaussian noise.

The data are simulated by this project: y = sin(x) + 0.3 cos(2 x) + Normal(0, 0.2^2), with x uniform on [0, 10].
"""

from __future__ import annotations

from functools import partial

import numpy as np

from datasets.exhibits import Exhibit, SparseDefaults
from dpgp_core.table import Column, Dataset, Outcome

NAME = "toy_1d"
TITLE = "Toy curve (simulated)"
FAMILY = NAME
X_BOX = (0.0, 10.0)
Y_BOUNDS = (-2.0, 2.0)
NOISE_SD = 0.2


def load(*, n: int = 100, seed: int = 1) -> Dataset:
    """Simulate ``n`` points of the curve.

    Args:
        n: number of records, at least 1.
        seed: seed of the simulation; the same seed gives the same points.

    Returns:
        X (n, 1) and y (n,), both in arbitrary units.

    Raises:
        ValueError: ``n`` is below 1 or ``seed`` is negative.
    """
    if n < 1 or seed < 0:
        raise ValueError(f"n must be at least 1 and seed at least 0, got n={n} and seed={seed}")
    rng = np.random.default_rng(seed)
    x = rng.uniform(*X_BOX, size=n)
    return Dataset(
        name=NAME,
        X=x[:, None],
        y=np.sin(x) + 0.3 * np.cos(2 * x) + rng.normal(0, NOISE_SD, size=n),
        columns=(Column(name="x", unit="arbitrary units", box=X_BOX),),
        outcome=Outcome(name="y", unit="arbitrary units", bounds=Y_BOUNDS),
        privacy_unit="one person's value",
        source="simulated by this project (datasets/toy_1d.py)",
        licence="MIT, as the project",
        bounds_reason="declared with the generator: the curve lies within [-1.3, 1.3] for every x",
        simulated=True,
    )


EXHIBITS = (
    Exhibit(
        name=NAME,
        title=TITLE,
        load=load,
        unit="units",
        lengthscales=(0.25, 0.5, 1.0, 2.0, 4.0),
        lengthscale=1.0,
        side_by_side=(0.25, 1.0, 4.0),
        scene="curve",
        # this page can show more records, because a fit takes only one pass over them
        sparse=SparseDefaults(inducing=(5, 7, 9, 13, 17, 21), start=13, noise=0.03, load=partial(load, n=1024)),
        simulated=True,
    ),
)
