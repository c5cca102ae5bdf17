"""Do the released numbers fit the models that read them? They say so themselves, and asking spends nothing.

A stage released r numbers z. Under a model, given all stages before, z ~ N(E z, L L^T) as far as clipping is linear, so
w = L^-1 (z - E z) is standard normal and |w|^2 a chi-square variable of r degrees, independent from stage to stage.
Where no model of the mixture is near the truth, |w|^2 / r is large. It is averaged over the models by their
probabilities given everything released, over single stages and over all of them. A fit fails where one of these
averages lies above the quantile of its chi-square that S stages and their sum exceed together with probability
``FALSE_ALARMS`` at most (Bonferroni); models chosen by the same numbers fit better than one that is fixed, so there are
fewer. ``python -m benchmarks fit`` counts them, and misfits that are noticed.

Where it fails, intervals are widened about the curve by the root of the largest |w|^2 / r: deviations that large are
then as likely as the models took them to be.
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
    """How one release fits the models that read it. Public: a function of released numbers.

    Attributes:
        ratio: |w|^2 over the number of released numbers, all stages together, averaged over the models; about 1 or less
            where they fit.
        threshold: the largest ratio that counts as a fit.
        widened: factor of every interval's half-width; 1.0 where it fits.
        likeliest: ``ratio`` of the likeliest model alone.
    """

    ratio: float
    threshold: float
    widened: float
    likeliest: float

    @property
    def fits(self) -> bool:
        """Whether intervals are as the models have them."""
        return self.widened == 1.0

    def __str__(self) -> str:
        """One sentence for everybody."""
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
    """The fit of each of D draws.

    Args:
        weights: probabilities of the M models (D, M).
        misfit: |w|^2 of each of S stages under each model (D, M, S).
        numbers: r of each stage (S,).
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
