"""Read released numbers with other models and at other points: post-processing, which costs no budget."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpgp_core.arrays import FloatArray, lattice
from dpgp_core.bayes.mixture import Mixture, MixtureUncertainty
from dpgp_core.bayes.model import Model
from dpgp_core.bayes.refit import Refit, posterior_given, refit
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.gp.uncertainty import IntervalTarget
from dpgp_core.kernels import Kernel
from dpgp_core.levels import in_every_group, number_sides
from dpgp_core.measurement.statistics import CellStatistics, Released, Statistics
from dpgp_core.release.check import uncertainty_read
from pages._ui.model import KERNELS

SHARES = (2, 3, 4.5, 6.25, 9, 12.5, 18, 25, 35, 50, 70, 100)  # lengthscales as percentages of the sides of the box
NOISES = (5, 10, 20, 40, 80)  # standard deviations of one record as percentages of half the range

Lengthscales = tuple[tuple[float, ...], ...]
"""Candidates, with one length for each input."""


@dataclass(frozen=True, eq=False)
class Filtered:
    """A release read with the models that read it when it was made, and with the candidates of this page.

    Attributes:
        X_test: points (P, D), one group after another.
        uncertainty: predictions of the release itself, in the output's unit; of all candidates together if the release
            has no models of its own.
        lengthscale_probabilities: posterior probability of each of ``SHARES`` (L,), from equal prior probabilities.
        groups: name of every combination of categories, in the order of their points; ("",) if there are no categories.
        chosen: curve (P,) with one lengthscale that the visitor chose, in the output's unit; None if none was chosen.
    """

    X_test: FloatArray
    uncertainty: MixtureUncertainty
    lengthscale_probabilities: FloatArray
    groups: tuple[str, ...] = ("",)
    chosen: FloatArray | None = None

    @property
    def mixture(self) -> Mixture:
        """Predictions of the release itself, in model units."""
        return self.uncertainty.prediction

    @property
    def bounds(self) -> tuple[float, float]:
        """Public (low, high) of the output."""
        return self.uncertainty.outcome.bounds

    def of_group(self, group: int) -> Filtered:
        """Return the same reading at the points of one group."""
        count = len(self.X_test) // len(self.groups)
        rows = slice(group * count, (group + 1) * count)
        return replace(
            self,
            X_test=self.X_test[rows],
            uncertainty=replace(self.uncertainty, prediction=_at(self.mixture, rows)),
            groups=(self.groups[group],),
            chosen=None if self.chosen is None else self.chosen[rows],
        )

    @property
    def numbers(self) -> tuple[FloatArray, ...]:
        """All numbers from which something is drawn."""
        own = self.mixture
        return own.means, own.variances, own.weights, self.lengthscale_probabilities

    @property
    def released(self) -> FloatArray:
        """Released curve (P,), in the output's unit."""
        return np.asarray(self.uncertainty.values[0])

    @property
    def curve(self) -> FloatArray:
        """Curve that a visitor looks at (P,): the one with the chosen lengthscale, otherwise the released one."""
        return self.released if self.chosen is None else self.chosen

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """Return the central interval (P,), (P,) of the release itself, in the output's unit."""
        low, high = self.uncertainty.interval(level, of)
        return low[0], high[0]

    @property
    def knows_people(self) -> bool:
        """Whether the release contains the residual variance, and therefore centiles."""
        return self.mixture.outcomes is not None and self.uncertainty.outcome.kind != "yes/no"

    def centile(self, centile: float) -> FloatArray:
        """Return the value (P,) below which this percentage of further people are, in the output's unit."""
        return np.asarray(self.uncertainty.quantile(centile / 100)[0])

    def percent_above(self, level: float) -> FloatArray:
        """Return 100 P(f > level) at every point (P,) from the release itself; the level is in the output's unit."""
        return np.asarray(100 * self.uncertainty.probability_above(level)[0])


def _at(mixture: Mixture, rows: slice) -> Mixture:
    """Return a mixture at some of its points."""
    people = mixture.outcomes
    return replace(
        mixture,
        means=mixture.means[..., rows],
        variances=mixture.variances[..., rows],
        outcomes=None if people is None else people._replace(variance=people.variance[..., rows]),
    )


def filtered(
    statistics: Statistics | CellStatistics, own: Sequence[Model], kernel: str, X_test: FloatArray
) -> Filtered:
    """Read released numbers with the release's own models, and with every pair of a lengthscale and a noise.

    The pairs have equal prior weights. Their variance of f and noise are shares of the public range, as in the
    automatic models of Bayes cloaking. The kernel is a class name in ``dpgp_core.kernels``.

    Args:
        own: models of the release, in model units; if empty, the candidates replace them.
    """
    candidates = candidates_of(statistics, kernel, shares_of(statistics.x_box))
    predicted = _read_with(statistics, *candidates, X_test[:1] if own else X_test).mixture
    itself = posterior_given(statistics, own).at(X_test).curve if own else predicted
    declared = [each.levels for each in statistics.columns if each.levels is not None]
    return Filtered(
        X_test=X_test,
        uncertainty=uncertainty_read(statistics, itself),
        lengthscale_probabilities=predicted.weights[0].reshape(-1, len(SHARES), len(NOISES)).sum(axis=(0, 2)),
        groups=tuple(", ".join(levels) for levels in itertools.product(*declared)),
    )


def with_lengthscale(
    statistics: Statistics | CellStatistics, kernel: str, lengthscale: int, X_test: FloatArray
) -> FloatArray:
    """Return the posterior mean (P,) with one of ``SHARES`` alone, averaged over noises, in the output's unit.

    It is clipped to the bounds. There is no interval, because it would be too narrow if this lengthscale is wrong.
    """
    kernels, variances = candidates_of(statistics, kernel, (shares_of(statistics.x_box)[lengthscale],))
    return np.asarray(np.clip(_read_with(statistics, kernels, variances, X_test).mean, *statistics.bounds))


def _read_with(
    statistics: Statistics | CellStatistics, kernels: Sequence[Kernel], variances: Sequence[float], X_test: FloatArray
) -> Refit:
    """Return a release read with every pair of a kernel and a noise variance.

    If there are categorical inputs, all pairs are repeated for each share that groups have in common.
    """
    return refit(
        statistics, kernels=kernels, noise_variances=variances, X_test=X_test, change_points=True, periodic=True
    )


def candidates_of(statistics: Released, kernel: str, lengthscales: Lengthscales) -> tuple[list[Kernel], list[float]]:
    """Return a kernel for each lengthscale, and the noise variances, in model units."""
    low, high = statistics.bounds
    half = (high - low) / statistics.y_scale / 2
    variance = TUNING.curve_variance * half**2
    kernels: list[Kernel] = [KERNELS[kernel](variance=variance, lengthscale=list(each)) for each in lengthscales]
    return kernels, [(noise / 100 * half) ** 2 for noise in NOISES]


def shares_of(box: Sequence[tuple[float, float]]) -> Lengthscales:
    """Return ``SHARES`` of each side of the box along a numerical input."""
    return tuple(tuple(share / 100 * (high - low) for low, high in number_sides(box)) for share in SHARES)


def grid_over(box: Sequence[tuple[float, float]], points: int) -> FloatArray:
    """Return a regular public grid over the box (P, D), in which the second input varies fastest and a third is at its
    middle.

    If there are categorical inputs, the grids of the groups follow one another in the order of ``Filtered.groups``.
    """
    numbers = number_sides(box)
    sides = [points] if len(numbers) == 1 else 2 * [round(2 * points**0.5)]
    axes = [np.linspace(low, high, side) for (low, high), side in zip(numbers, sides, strict=False)]
    axes += [np.array([(low + high) / 2]) for low, high in numbers[len(sides) :]]
    return in_every_group(box, lattice(axes))
