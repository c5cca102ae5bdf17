"""Noisy readings of a simulated map with two plumes of high values. Positions and readings are private.

The data are simulated by this project. h is the sum of two anisotropic Gaussian plumes on [0, 1]^2. A sigmoid with gain
5, centred at the 0.65 quantile of h, separates high from low values. Its result is scaled to g in [0, 1], and f = 2 g -
1. The readings are at x ~ Uniform[0, 1]^2 with y = (1 - M_xi) f(x) + Uniform[-M_xi, M_xi], so |y| <= 1.

The setting is that of Maciazek 2026, appendix D.1. The paper does not specify centres (here uniform on the square),
amplitudes (uniform on [0.7, 1.3]), widths (uniform on [0.2, 0.35]) and axis ratios (uniform on [1, 1.4], where the wide
axis is width * sqrt(ratio)).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from datasets.exhibits import MODEL_LEVELS, Study
from dpgp_core.arrays import FloatArray, lattice
from dpgp_core.excursion.sets import Targets
from dpgp_core.table import Column, Dataset, Outcome

NAME = "plumes_2d"
TITLE = "Pollution plumes (simulated)"
FAMILY = NAME
X_BOX = (0.0, 1.0)
Y_BOUNDS = (-1.0, 1.0)
GRID_SIDE = 64
SHOWN_SIDE = 48  # points along a side of the figure on the page
PLUMES = 2
WIDTHS = (0.20, 0.35)
MOST_ANISOTROPY = 1.4
AMPLITUDES = (0.7, 1.3)
GAIN = 5.0
QUANTILE = 0.65


def load(*, n: int = 400, noise: float = 0.3, seed: int = 1) -> Dataset:
    """Simulate ``n`` noisy readings of one map.

    Args:
        n: number of records, at least 1.
        noise: M_xi in [0, 1), half-width of the uniform noise.
        seed: seed of the simulation; the same seed gives the same map and readings.

    Returns:
        X (n, 2) and y (n,), all in arbitrary units.

    Raises:
        ValueError: ``n`` is below 1, ``noise`` outside [0, 1) or ``seed`` negative.
    """
    _check(n, noise, seed)
    X, y, _ = _simulate(n, noise, seed, grid(2))
    return Dataset(
        name=NAME,
        X=X,
        y=y,
        columns=tuple(Column(name=name, unit="arbitrary units", box=X_BOX) for name in ("x1", "x2")),
        outcome=Outcome(name="reading", unit="arbitrary units", bounds=Y_BOUNDS),
        privacy_unit="one sensor's position and reading",
        source="simulated by this project (datasets/plumes_2d.py) after Maciazek 2026, appendix D.1",
        licence="MIT, as the project",
        bounds_reason="declared with the generator: signal within 1 - M_xi, noise within M_xi",
        simulated=True,
    )


def grid(side: int = GRID_SIDE) -> FloatArray:
    """Return the evaluation grid (side^2, 2) over the unit square; the second coordinate varies fastest."""
    return lattice([np.linspace(*X_BOX, side)] * 2)


def truth(*, noise: float = 0.3, seed: int = 1, side: int = GRID_SIDE) -> FloatArray:
    """Return the field (1 - M_xi) f of ``load`` with the same options, on ``grid(side)`` (side^2,)."""
    _check(1, noise, seed)
    return _simulate(1, noise, seed, grid(side))[2]


def targets(count: int, *, n: int = 400, noise: float = 0.3, seed: int = 1, side: int = GRID_SIDE) -> Targets:
    """Simulate ``count`` independent maps, their readings and their true sets {f >= 0}.

    Args:
        count: number of maps, at least 1.
        n: readings of each.
        noise: M_xi in [0, 1).
        seed: seed of the simulation.
        side: the grid has side^2 points.

    Raises:
        ValueError: as for ``load``, or ``count`` is below 1.
    """
    _check(n, noise, seed, count)
    seeds = np.random.SeedSequence(seed).generate_state(count)
    X, y, f = (
        np.stack(column) for column in zip(*(_simulate(n, noise, int(s), grid(side)) for s in seeds), strict=True)
    )
    return Targets(X=X, y=y, grid=grid(side), truth=f >= 0)


def targets_at(X: FloatArray, count: int, *, noise: float, seed: int = 1) -> Targets:
    """Simulate ``count`` independent maps with readings at given public positions, which are also the grid.

    Args:
        X: positions (n, 2) in the unit square.
        count: number of maps, at least 1.
        noise: M_xi in [0, 1).
        seed: seed of the simulation.
    """
    _check(len(X), noise, seed, count)
    rng = np.random.default_rng(seed)
    f = np.stack([(1 - noise) * _field(X, rng) for _ in range(count)])
    y = f + rng.uniform(-noise, noise, f.shape)
    return Targets(X=np.tile(X, (count, 1, 1)), y=y, grid=X, truth=f >= 0)


def _simulate(n: int, noise: float, seed: int, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return X (n, 2), y (n,), and the field at ``points``. The field depends only on the seed."""
    fields, designs, errors = np.random.default_rng(seed).spawn(3)
    X = designs.uniform(*X_BOX, (n, 2))
    f = (1 - noise) * _field(np.concatenate([X, points]), fields)
    return X, f[:n] + errors.uniform(-noise, noise, n), f[n:]


def _field(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a field f = 2 g - 1 at ``points`` (P, 2), scaled to its range on a 64 x 64 grid, clipped to [-1, 1]."""
    reference = grid()
    h = _plumes(np.concatenate([reference, points]), rng)
    centre = np.quantile(h[: len(reference)], QUANTILE)
    g = 1 / (1 + np.exp(-GAIN * (h - centre)))
    low, high = g[: len(reference)].min(), g[: len(reference)].max()
    f: FloatArray = np.clip(2 * (g[len(reference) :] - low) / (high - low) - 1, -1, 1)
    return f


def _plumes(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return h(x) = sum_k a_k exp(-|R(angle_k) (x - c_k) / w_k|^2 / 2) at ``points`` (P,)."""
    h = np.zeros(len(points))
    for _ in range(PLUMES):
        away = points - rng.uniform(*X_BOX, 2)
        width, ratio = rng.uniform(*WIDTHS), rng.uniform(1, MOST_ANISOTROPY)
        angle, amplitude = rng.uniform(0, np.pi), rng.uniform(*AMPLITUDES)
        along = away @ [np.cos(angle), np.sin(angle)] / (width * np.sqrt(ratio))
        across = away @ [-np.sin(angle), np.cos(angle)] / (width / np.sqrt(ratio))
        h += amplitude * np.exp(-0.5 * (along**2 + across**2))
    return h


def _check(n: int, noise: float, seed: int, count: int = 1) -> None:
    if n < 1 or seed < 0 or count < 1:
        raise ValueError(f"n and count must be at least 1 and seed at least 0, got n={n}, count={count}, seed={seed}")
    if not 0 <= noise < 1:
        raise ValueError(f"noise must be at least 0 and below 1, got {noise}; 1 would leave no signal")


def _shown(*, noise: float, threshold: float) -> tuple[Dataset, FloatArray, FloatArray]:
    return load(noise=noise), grid(SHOWN_SIDE), truth(noise=noise, side=SHOWN_SIDE)


EXHIBITS = (
    Study(
        name="plumes",
        title="2-D plumes",
        scene="field",
        shown=_shown,
        simulated=partial(targets, side=24),
        n=400,
        inputs=2,
        thresholds=MODEL_LEVELS,
        noises=(0.1, 0.3, 0.5, 0.6),
        noise=0.3,
        start=(0.1, 8, 0.05),
        validated=2,
        searched=3,
    ),
)
