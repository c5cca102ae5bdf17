"""Releases of two neighbours for ``null_space``: as made at first, of the library, and all numbers in zips."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.attacks.audit import check_releases
from benchmarks.audit_releases import Pair, neighbours, values_in
from dpgp_core.arrays import FloatArray
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.base import Mechanism, TeachingRelease
from dpgp_core.mechanisms.catalogue import CATALOGUE, Parameters
from dpgp_core.mechanisms.gaussian import GaussianMechanism, simulate_measurement
from dpgp_core.release import CHOICES, plan_release, publish, read_table
from dpgp_core.release.bundle import csv_text, published_columns
from dpgp_core.release.measured_files import measured_files
from dpgp_core.release.publishing import Published
from dpgp_core.release.specification import EXAMPLE
from dpgp_core.table import Dataset

DELTA = 0.01
BOUNDS = {"usual": EXAMPLE.y_bounds, "1e9, 1e9 + 2": (1e9, 1e9 + 2)}
FULL_RANK = ("gp_prior", "kernel_sum")  # as many numbers as test points: more points would be no null space


class Case(NamedTuple):
    """One release to attack, and with how many of each of the two data sets."""

    name: str
    bounds: str
    epsilon: float
    samples: int
    zips: int

    @property
    def key(self) -> str:
        """As one line of text."""
        return json.dumps(self)

    @property
    def pair(self) -> Pair:
        """Two neighbouring tables; those of cloaking for mechanisms that no configuration offers."""
        name, points = (self.name if self.name in CHOICES else "cloaking"), 5 if self.name in FULL_RANK else 40
        return neighbours(name, self.epsilon, DELTA, BOUNDS[self.bounds], points)

    @property
    def mechanism(self) -> Mechanism:
        """A mechanism of the catalogue with the model of the example configuration."""
        public = Parameters(
            kernel=EQ(lengthscale=EXAMPLE.lengthscale),
            noise_variance=EXAMPLE.noise_variance,
            epsilon=self.epsilon,
            delta=DELTA,
            x_box=EXAMPLE.x_box,
            cells=3,
            ridge=1.5,
        )
        return CATALOGUE[self.name].build(public)


def before(mechanism: Mechanism, data: Dataset, X_test: FloatArray, count: int) -> FloatArray | None:
    """Releases (count, P) as they were made at first: a mean plus noise, both rounded. None if noise is not added once.

    A Gaussian mechanism's last stage is o + A u q + u s L w, A = L B: the mean in floats, then noise of r directions.
    """
    rng, y = np.random.default_rng(3), data.clipped_y[None]
    if isinstance(mechanism, BayesCloaking):
        return None
    if isinstance(mechanism, GaussianMechanism):
        plan = mechanism.mapped(mechanism.plan(data.X, X_test), data)
        *_, (last, _) = mechanism.measured(plan, data, lambda stage: simulate_measurement(stage, y, rng, count))
        inside = np.clip(y, last.low, last.high) - (last.low / 2 + last.high / 2)
        mean = data.midpoint + last.offset + (last.plan.weights @ inside.T).T
        w = last.noise_multiplier * rng.standard_normal((count, last.plan.factor.shape[1]))
        return np.asarray(mean + last.widest * w @ last.plan.factor.T)
    once = mechanism.release(data, X_test, rng)
    if once.noise_factor is None or not isinstance(once, TeachingRelease):
        return None
    return once.mean + rng.laplace(scale=2**-0.5, size=(count, once.noise_factor.shape[1])) @ once.noise_factor.T


def samples(mechanism: Mechanism, data: Dataset, X_test: FloatArray, count: int) -> FloatArray:
    """Real releases (count, P), planned once."""
    return mechanism.release(data, X_test, None, count).samples


def in_zips(pair: Pair, count: int) -> list[FloatArray]:
    """Numbers in zips of each table (count, numbers), planned once.

    Strategies that follow from released counts differ in size from release to release: zeros fill them up.
    """
    found = []
    for table in pair.tables:
        data = read_table(io.BytesIO(table), pair.spec)
        plan = plan_release(pair.spec, data.X)
        found += [numbers_in(number_files(publish(plan, data))) for _ in range(count)]
    columns = []
    for arrays in zip(*found, strict=True):
        size = max(len(each) for each in arrays)
        columns.append(np.stack([np.pad(each, (0, size - len(each))) for each in arrays]))
    together = np.hstack(columns)
    return [together[:count], together[count:]]


def number_files(published: Published) -> dict[str, bytes]:
    """The files of a zip that hold all its numbers: card and figure repeat them."""
    _, files = measured_files(published)
    return {"values.csv": csv_text(published_columns(published)).encode()} | files


def numbers_in(files: Mapping[str, bytes]) -> list[FloatArray]:
    """Every number that can depend on a record: values, intervals, all arrays, the curve before rounding."""
    rows = list(csv.reader(io.StringIO(files["values.csv"].decode())))[1:]
    found = [np.array(rows, dtype=float).ravel(), np.array(values_in(files))]
    for name in sorted(each for each in files if each.endswith(".npz")):
        arrays = np.load(io.BytesIO(files[name]), allow_pickle=False)
        found += [np.asarray(arrays[each], dtype=float).ravel() for each in sorted(arrays.files)]
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class NullSpaceAttack:
    """A linear score of releases, however small the directions in which they differ.

    Attributes:
        centre: (P,).
        axes: principal directions of the releases (k, P), the ones without noise among them.
        scales: standard deviation along each (k,), down to a few rounding errors.
        weights: Fisher's direction in those units (k,).
    """

    centre: FloatArray
    axes: FloatArray
    scales: FloatArray
    weights: FloatArray

    def score(self, samples: FloatArray) -> FloatArray:
        """Score of each release in ``samples`` (draws, P), shape (draws,): larger for the first data set."""
        return ((samples - self.centre) @ self.axes.T / self.scales) @ self.weights


def null_space_attack(inside: FloatArray, outside: FloatArray) -> NullSpaceAttack:
    """Fisher's discriminant in principal coordinates, each scaled to unit variance: no direction is too small.

    Args:
        inside: single releases (k, P) from one data set, k >= 2.
        outside: single releases (k', P) from its neighbour, k' >= 2.

    Raises:
        ValueError: fewer than two releases, or different test points.
    """
    check_releases(inside, outside)
    centre = (inside.mean(axis=0) + outside.mean(axis=0)) / 2
    within = np.vstack([inside - inside.mean(axis=0), outside - outside.mean(axis=0)])
    _, s, axes = np.linalg.svd(within, full_matrices=False)
    scales = np.maximum(s / np.sqrt(len(within)), np.finfo(float).tiny)
    # Axes are rounded, so small coordinates hold a little of large ones; the discriminant takes that out again.
    first, second = ((samples - centre) @ axes.T / scales for samples in (inside, outside))
    spread = np.cov(first.T) + np.cov(second.T)
    weights = np.linalg.lstsq(spread, first.mean(axis=0) - second.mean(axis=0), rcond=1e-12)[0]
    return NullSpaceAttack(centre=centre, axes=axes, scales=scales, weights=weights)
