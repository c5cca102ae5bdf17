"""Noisy points of a simulated rough curve, and the set on which it exceeds zero. Inputs and outputs are private.

The data are simulated by this project. x ~ Uniform[0, 1]. f* is a path of the Gaussian process with kernel
exp(-|x - x'|), scaled so that the largest |f*| over the grid and the training inputs is 1 - M_xi, and
y = f*(x) + Uniform[-M_xi, M_xi]. So |y| <= 1, and the noise-to-signal ratio is M_xi / (1 - M_xi). This is the setting
of Maciazek 2026, section 5 and appendix D. As in the published experiment, only those curves are used for which the set
{f* >= 0} covers 10 to 90 % of [0, 1] in at most 13 pieces of mean width >= 0.05. Random numbers are drawn in the order
of that experiment, so that seed 6 gives its curve.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from datasets.exhibits import MODEL_LEVELS, Study
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.sets import Targets
from dpgp_core.table import Column, Dataset, Outcome

NAME = "excursion_1d"
TITLE = "Excursion curve (simulated)"
FAMILY = NAME
X_BOX = (0.0, 1.0)
Y_BOUNDS = (-1.0, 1.0)
GRID_POINTS = 800
NOISE_OF_RATIO = {0.11: 0.1, 0.43: 0.3, 1.0: 0.5, 1.5: 0.6}
"""M_xi of the published noise-to-signal ratios (which are rounded)."""

_SHARE, _MOST_PIECES, _LEAST_MEAN_WIDTH = (0.1, 0.9), 13, 0.05


def load(*, n: int = 100, noise: float = 0.5, seed: int = 6) -> Dataset:
    """Simulate ``n`` noisy points of one curve.

    Args:
        n: number of records, at least 1.
        noise: M_xi in [0, 1), half-width of the uniform noise.
        seed: seed of the simulation; the same seed gives the same curve and points.

    Returns:
        X (n, 1) and y (n,), both in arbitrary units.

    Raises:
        ValueError: ``n`` is below 1, ``noise`` outside [0, 1) or ``seed`` negative.
    """
    X, y, _ = _simulate(1, n, noise, seed, GRID_POINTS)
    return Dataset(
        name=NAME,
        X=X[0],
        y=y[0],
        columns=(Column(name="x", unit="arbitrary units", box=X_BOX),),
        outcome=Outcome(name="y", unit="arbitrary units", bounds=Y_BOUNDS),
        privacy_unit="one person's position and value",
        source="simulated by this project (datasets/excursion_1d.py) after Maciazek 2026, section 5",
        licence="MIT, as the project",
        bounds_reason="declared with the generator: signal within 1 - M_xi, noise within M_xi",
        simulated=True,
    )


def grid(size: int = GRID_POINTS) -> FloatArray:
    """Return the evaluation grid (size, 1) over [0, 1]."""
    return np.linspace(*X_BOX, size)[:, None]


def truth(*, n: int = 100, noise: float = 0.5, seed: int = 6) -> FloatArray:
    """Return the curve f* of ``load`` with the same options, on ``grid()`` (800,)."""
    return _simulate(1, n, noise, seed, GRID_POINTS)[2]


def targets(
    count: int, *, n: int = 100, noise: float = 0.5, seed: int = 6, one_curve: bool = False, size: int = GRID_POINTS
) -> Targets:
    """Simulate ``count`` training sets with their true sets {f* >= 0}.

    Args:
        count: number of training sets, at least 1.
        n: records in each.
        noise: M_xi in [0, 1).
        seed: seed of the simulation.
        one_curve: draw all sets from one curve; otherwise each has its own.
        size: number of points of the grid.

    Raises:
        ValueError: as for ``load``, or ``count`` is below 1.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if one_curve:
        X, y, f = _simulate(count, n, noise, seed, size)
        return Targets(X=X, y=y, grid=grid(size), truth=np.tile(f >= 0, (count, 1)))
    _check(n, noise, seed)
    seeds = np.random.SeedSequence(seed).generate_state(count)
    parts = [_simulate(1, n, noise, int(each), size) for each in seeds]
    X, y, f = (np.stack(column) for column in zip(*parts, strict=True))
    return Targets(X=X[:, 0], y=y[:, 0], grid=grid(size), truth=f >= 0)


def _simulate(sets: int, n: int, noise: float, seed: int, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X (sets, n, 1), y (sets, n) and f* (size,) of one curve."""
    _check(n, noise, seed)
    designs, paths, errors = (np.random.default_rng(seed + stream) for stream in (1, 0, 2))
    x = np.sort(designs.uniform(*X_BOX, (sets, n)))
    points = np.concatenate([grid(size)[:, 0], x.ravel()])
    f = _path(points, paths)
    while not _is_telling(f[:size] >= 0):
        f = _path(points, paths)
    f *= (1 - noise) / np.abs(f).max()
    y = f[size:].reshape(sets, n) + errors.uniform(-noise, noise, (sets, n))
    return x[:, :, None], y, f[:size]


def _path(x: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Sample a path with covariance exp(-|x - x'|) at points in any order: exp(-x) W(exp(2x)), W Brownian motion."""
    order = np.argsort(x, kind="stable")
    times = np.exp(2 * x[order])
    steps = np.sqrt(np.diff(times, prepend=0.0)) * rng.standard_normal(len(x))
    f = np.empty(len(x))
    f[order] = np.exp(-x[order]) * steps.cumsum()
    return f


def _is_telling(inside: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> bool:
    """Whether a set on the grid is neither almost empty nor almost full, and not split into many small pieces."""
    share = inside.mean()
    pieces = int(inside[0]) + int((inside[1:] & ~inside[:-1]).sum())
    low, high = _SHARE
    return bool(low <= share <= high and pieces <= _MOST_PIECES and share >= _LEAST_MEAN_WIDTH * pieces)


def _check(n: int, noise: float, seed: int) -> None:
    if n < 1 or seed < 0:
        raise ValueError(f"n must be at least 1 and seed at least 0, got n={n} and seed={seed}")
    if not 0 <= noise < 1:
        raise ValueError(f"noise must be at least 0 and below 1, got {noise}; 1 would leave no signal")


def _shown(*, noise: float, threshold: float) -> tuple[Dataset, FloatArray, FloatArray]:
    return load(noise=noise), grid(), truth(noise=noise)


EXHIBITS = (
    Study(
        name="curve",
        title="1-D",
        scene="curve",
        shown=_shown,
        simulated=partial(targets, size=200),
        n=100,
        inputs=1,
        thresholds=MODEL_LEVELS,
        noises=tuple(NOISE_OF_RATIO.values()),
        noise=0.3,
        start=(0.3, 8, 0.05),
        validated=6,
        searched=16,
    ),
)
