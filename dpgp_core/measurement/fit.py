"""Test whether the released numbers fit the models of the mixture. It uses released numbers only.

Suppose a stage released r numbers z. Under a model, and given all earlier stages, z ~ N(E z, L L^T), if clipping is
approximated as linear (``bayes.update``). Then w = L^-1 (z - E z) is standard normal, and |w|^2 has a chi-square
distribution with r degrees of freedom, independently for each stage. If no model of the mixture is close to the truth,
|w|^2 / r is large.

The test averages |w|^2 / r over the models, weighted by their posterior probabilities, for each of the S stages and for
all stages together. It rejects the fit if one of these S + 1 averages exceeds the 1 - ``FALSE_ALARMS`` / (S + 1)
quantile of its distribution (Bonferroni correction). False alarms are rarer than ``FALSE_ALARMS``, because the same
numbers also determine the probabilities of the models. ``python -m benchmarks fit`` counts false alarms and detected
misfits.

If the fit is rejected, intervals are widened by the square root of the largest |w|^2 / r. With standard deviations
larger by this factor, the observed |w|^2 would have had its expected value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri

from ..arrays import FloatArray

FALSE_ALARMS = 1e-3


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Result of the test for one release. Public, because it is a function of released numbers.

    Attributes:
        ratio: |w|^2 of all stages together, divided by the number of released numbers and averaged over the models. It
            is about 1 or less if the models fit.
        threshold: the largest ratio that counts as a fit.
        widened: factor by which half-widths of intervals are multiplied; 1.0 if the models fit.
        likeliest: ``ratio`` of the most probable model alone.
    """

    ratio: float
    threshold: float
    widened: float
    likeliest: float

    @property
    def fits(self) -> bool:
        """Whether the released numbers fit the models, so that intervals are not widened."""
        return self.widened == 1.0

    def __str__(self) -> str:
        """Return the result in one or two sentences for readers of the release."""
        if self.fits:
            return f"The released numbers fit the models (misfit {self.ratio:.2f}, at most {self.threshold:.2f})."
        return (
            f"The released numbers do not fit the models (misfit {self.ratio:.2f}, at most {self.threshold:.2f}): "
            f"intervals are {self.widened:.2g} times as wide. {REMEDIES}"
        )


REMEDIES = (
    "Another release may do better with larger groups, other bounds, or a column of few values declared as groups."
)


def fits_of(weights: FloatArray, misfit: FloatArray, numbers: Sequence[int]) -> tuple[Fit, ...]:
    """Test the fit of several releases.

    Args:
        weights: posterior probabilities of the m models (releases, m).
        misfit: |w|^2 of each of S stages under each model (releases, m, S).
        numbers: number r of released values of each stage (S,).
    """
    r = np.array([*numbers, sum(numbers)], dtype=float)
    whole = np.concatenate([misfit, misfit.sum(axis=2, keepdims=True)], axis=2) / r
    most = chdtri(r, FALSE_ALARMS / len(r)) / r
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
