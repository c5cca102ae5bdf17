"""Tests whether the released numbers fit the models of the mixture. They use released numbers only.

Suppose a stage released r numbers z. Under a model, and given all earlier stages, z ~ N(E z, L L^T), if clipping is
approximated as linear (``bayes.update``). Then w = L^-1 (z - E z) is standard normal, and |w|^2 has a chi-square
distribution with r degrees of freedom, independently for each stage. If no model of the mixture is close to the truth,
|w|^2 / r is large.

The first test averages |w|^2 / r over the models, weighted by their posterior probabilities, for each of the S stages
and for all stages together. It rejects the fit if one of these S + 1 averages exceeds the 1 - p / (S + 1) quantile of
its distribution (Bonferroni correction) with p = ``OF_SQUARES``. False alarms are rarer than p, because
the same numbers also determine the probabilities of the models. If the fit is rejected, intervals are widened by the
square root of the largest |w|^2 / r. With standard deviations larger by this factor, the observed |w|^2 would have had
its expected value.

The second test finds deviations in a part of the box, which hardly change |w|^2. It rejects the fit if the Bayes factor
E of such a deviation (``bayes.local_misfit``) exceeds 1 / p with p = ``OF_REGIONS``. As E has the mean 1 if the models
are true, false alarms are rarer than p by Markov's inequality. Intervals are then widened as far as the deviation moves
the curve, most of all where it is.

``python -m benchmarks fit`` counts false alarms and detected misfits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri

from ..arrays import FloatArray

FALSE_ALARMS = 1e-3
OF_SQUARES, OF_REGIONS = 0.2 * FALSE_ALARMS, 0.8 * FALSE_ALARMS
"""Rates of false alarms of the two tests. A local misfit is the one that is hard to find."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Result of the tests for one release. Public, because it is a function of released numbers.

    Attributes:
        ratio: |w|^2 of all stages together, divided by the number of released numbers and averaged over the models. It
            is about 1 or less if the models fit.
        threshold: the largest ratio that counts as a fit.
        widened: factor by which half-widths of all intervals are multiplied; 1.0 if the first test accepts the fit.
        likeliest: ``ratio`` of the most probable model alone.
        local: decimal logarithm of the Bayes factor E of a deviation in a part of the box; -inf if no curve with such
            a deviation fits either.
        near: the likeliest part if the second test rejects the fit: its (low, high) along each numerical side of the
            box, from 0 to 1. () if the test accepts the fit.
    """

    ratio: float
    threshold: float
    widened: float
    likeliest: float
    local: float = 0.0
    near: tuple[tuple[float, float], ...] = ()

    @property
    def fits(self) -> bool:
        """Whether the released numbers fit the models, so that no interval is widened."""
        return self.widened == 1.0 and not self.near

    def with_local_misfit(self, log_evidence: float, near: tuple[tuple[float, float], ...]) -> Fit:
        """Return the result of both tests.

        Args:
            log_evidence: natural logarithm of E.
            near: the part of the box in which a deviation is likeliest.
        """
        found = log_evidence > -math.log(OF_REGIONS)
        return replace(self, local=log_evidence / math.log(10), near=near if found else ())

    def __str__(self) -> str:
        """Return the result in one to three sentences for readers of the release."""
        if self.fits:
            return f"The released numbers fit the models (misfit {self.ratio:.2f}, at most {self.threshold:.2f})."
        said = []
        if self.widened != 1.0:
            said.append(
                f"The released numbers do not fit the models (misfit {self.ratio:.2f}, at most {self.threshold:.2f}): "
                f"intervals are {self.widened:.2g} times as wide. {REMEDIES}"
            )
        if self.near:
            said.append(f"The curve does not fit the models {self._where}: intervals are wider, most of all there.")
        return " ".join(said)

    @property
    def _where(self) -> str:
        if len(self.near) > 1:
            return "in a part of the box"
        [(low, high)] = ([f"{100 * end:.0f}" for end in each] for each in self.near)
        return f"at about {low if low == high else f'{low} to {high}'} % of the range"


REMEDIES = (
    "Another release may do better with larger groups, other bounds, or a column of few values declared as groups."
)


def fits_of(weights: FloatArray, misfit: FloatArray, numbers: Sequence[int]) -> tuple[Fit, ...]:
    """Test the fit of several releases by |w|^2.

    Args:
        weights: posterior probabilities of the m models (releases, m).
        misfit: |w|^2 of each of S stages under each model (releases, m, S).
        numbers: number r of released values of each stage (S,).
    """
    r = np.array([*numbers, sum(numbers)], dtype=float)
    whole = np.concatenate([misfit, misfit.sum(axis=2, keepdims=True)], axis=2) / r
    most = chdtri(r, OF_SQUARES / len(r)) / r
    fits = []
    for own, each in zip(weights, whole, strict=True):
        ratios = own @ each
        largest = float(ratios[ratios > most].max(initial=1.0))
        fits.append(
            Fit(
                ratio=float(ratios[-1]),
                threshold=float(most[-1]),
                widened=largest**0.5,
                likeliest=float(each[own.argmax(), -1]),
            )
        )
    return tuple(fits)
