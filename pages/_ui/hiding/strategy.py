"""What Bayes cloaking measures at a budget, and what it expects of it: planned from inputs alone. No streamlit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.models import typical_models
from dpgp_core.data import Dataset
from dpgp_core.evaluation.limits import least_error
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from pages._ui.model import Budget

EPSILONS = (0.1, 0.3, 1, 3, 10)


@dataclass(frozen=True, eq=False)
class Measured:
    """A plan. Public: no output was read. Errors are of the curve at the records, averaged over the prior's worlds.

    Attributes:
        settings: what it depends on.
        strategies: B of each stage (r, n), rows by falling weight, each with its largest entry above 0.
        expected: root mean square error after each stage (S,), in the output's unit.
        unmeasured: the same when nothing is measured.
        unbuyable: the same when every output is known.
    """

    settings: Budget
    strategies: tuple[FloatArray, ...]
    expected: FloatArray
    unmeasured: float
    unbuyable: float

    @property
    def ranks(self) -> tuple[int, ...]:
        """How many numbers each stage measures."""
        return tuple(len(B) for B in self.strategies)

    @property
    def error(self) -> float:
        """Expected error of the whole release."""
        return float(self.expected[-1])

    @property
    def price(self) -> float:
        """What privacy adds, as a root mean square: squares of errors add up, not errors."""
        return math.sqrt(max(self.error**2 - self.unbuyable**2, 0.0))


def describe(dataset: Dataset, planned: BayesPlan, budget: Budget) -> Measured:
    """What can be shown of a plan for a dataset's inputs."""
    models = typical_models(planned.models)
    prior = np.average([model.kernel.variance for model in models], weights=[model.weight for model in models])
    return Measured(
        settings=budget,
        strategies=tuple(_upright(stage.planned.B) for stage in planned.stages),
        expected=dataset.y_scale * np.sqrt([stage.planned.risk for stage in planned.stages]),
        unmeasured=dataset.y_scale * math.sqrt(prior),
        unbuyable=dataset.y_scale * least_error(models, dataset.X, dataset.X),
    )


def _upright(B: FloatArray) -> FloatArray:
    """Each row with the sign that makes its largest entry positive: -b y + noise tells as much as b y + noise."""
    largest = B[np.arange(len(B)), np.abs(B).argmax(axis=1)]
    upright: FloatArray = B * np.where(largest < 0, -1.0, 1.0)[:, None]
    return upright
