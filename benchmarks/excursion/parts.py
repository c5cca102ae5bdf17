"""The parts of ``benchmarks/excursion/tables.py``: training sets in three groups, and what a release of them costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from datasets import excursion_1d, london_excursion, plumes_2d
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from dpgp_core.arrays import FloatArray
from dpgp_core.excursion.search import EpsilonOfSetting
from dpgp_core.excursion.sets import Targets

DELTA_1D = 0.005
GOLDEN = {  # docs/targets.md: (non-private, one private path)
    "one curve": {0.1: (0.956, 0.891), 0.3: (0.948, 0.864), 0.5: (0.939, 0.792), 0.6: (0.925, 0.758)},
    "plumes": {0.1: (0.975, 0.843), 0.3: (0.945, 0.827), 0.5: (0.907, 0.798)},
}

Cost = Callable[[str], EpsilonOfSetting]
"""Map an accounting, "proven" or "published", to the cost of a setting."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One table: the three groups of training sets and what a release of them costs."""

    title: str
    study: str
    tuning: Targets
    validation: Targets
    report: Targets
    cost: Cost
    delta: float
    side: int = 0  # of the grid, if paths are to be smoothed on it
    published: tuple[float, ...] = ()  # limits that are also searched with the published accounting


def accounting(n: int, diameter: float, delta: float, sensitivity: str) -> Cost:
    """Cost of one posterior path of the exponential kernel on a domain of the given diameter, |y| <= 1."""

    def cost(bound: str) -> EpsilonOfSetting:
        def epsilon(lengthscale: FloatArray, r: FloatArray, scale: FloatArray) -> FloatArray:
            kappa = np.exp(-diameter / lengthscale)
            return np.asarray(
                posterior_sampling_epsilon(n, r, scale, kappa, delta, sensitivity=sensitivity, bound=bound)
            )

        return epsilon

    return cost


def split(targets: Targets, sizes: Sequence[int]) -> list[Targets]:
    """Cut a batch of training sets into consecutive groups."""
    edges = np.cumsum([0, *sizes])
    parts = [slice(low, high) for low, high in pairwise(edges)]
    return [
        Targets(X=targets.X[s], y=targets.y[s], grid=targets.grid, truth=targets.truth[s], threshold=targets.threshold)
        for s in parts
    ]


def curve_part(noise: float, sets: int, size: int, seed: int, *, one_curve: bool) -> Part:
    """1-D: ``sets`` training sets of n = 100, of one curve or of as many curves."""
    batch = excursion_1d.targets(sets, noise=noise, seed=seed, one_curve=one_curve, size=size)
    tuning, validation, report = split(batch, thirds(sets))
    name = "one curve" if one_curve else "many curves"
    ratio = f"M_xi {noise:g}, NSR {noise / (1 - noise):.2f}"
    return Part(
        title=f"1-D, {name}, {ratio}, n = 100, delta = {DELTA_1D:g}" + golden("one curve" if one_curve else "", noise),
        study="curve",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(100, 1.0, DELTA_1D, "exponential_1d"),
        delta=DELTA_1D,
        published=(3.0,) if one_curve else (),
    )


def plumes_part(noise: float, sets: int, coarse_side: int, side: int, seed: int) -> Part:
    """2-D: settings and cutoff on a coarse grid, paths on a finer one."""
    n = 400
    delta = n**-1.1
    sizes = thirds(sets)
    tuning, validation, _ = split(plumes_2d.targets(sets, noise=noise, seed=seed, side=coarse_side), sizes)
    report = split(plumes_2d.targets(sets, noise=noise, seed=seed, side=side), sizes)[2]
    return Part(
        title=f"2-D plumes, M_xi {noise:g}, n = {n}, delta = n^-1.1, paths smoothed on {side} x {side}"
        + golden("plumes", noise),
        study="plumes",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(n, math.sqrt(2), delta, "generic"),
        delta=delta,
        side=side,
        published=(10.0,),
    )


def london_part(sets: int, seed: int) -> Part:
    """London: simulated maps to choose on, the real medians to report on."""
    data = london_excursion.load()
    delta = data.n**-1.1
    tuning, validation, _ = split(london_excursion.search_targets(sets, seed=seed), thirds(sets))
    y = data.clipped_y
    report = Targets(X=data.X[None], y=y[None], grid=data.X, truth=(y >= 0)[None])
    return Part(
        title=f"London, {data.n} hexagons, ln price >= {london_excursion.THRESHOLD:g}, quartiles over draws",
        study="london",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(data.n, math.sqrt(2), delta, "generic"),
        delta=delta,
    )


def thirds(sets: int) -> tuple[int, int, int]:
    """Sizes of the three groups: 40 % to search on, 30 % to validate, 30 % to report, none empty."""
    some = max(1, round(0.3 * sets))
    return max(1, sets - 2 * some), some, some


def golden(name: str, noise: float) -> str:
    """The golden figures of a part as a remark."""
    if noise not in GOLDEN.get(name, {}):
        return ""
    estimate, path = GOLDEN[name][noise]
    return f"; golden: not private {estimate:.3f}, one path {path:.3f} (published accounting)"
