"""One record moved between the bounds: the fit follows its column of C, and the noise must hide that. No streamlit.

Leaving record j out is moving it, too: the posterior mean without it is the one with its output at mu_j, which the
others predict for it,

    C y with y_j = mu_j,    mu_j = (f_j - C_jj y_j) / (1 - C_jj),    f = C y at the record itself,

for then it adds nothing to what they say (leave-one-out; Rasmussen & Williams 2006, section 5.4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms.gaussian import GaussianMechanism
from pages._ui.cloaking.results import Result
from pages._ui.model import Design, Draw, Model, mechanism_of


@dataclass(frozen=True)
class Choice:
    """Which record, counted from 1 in order of the first input, and where its output is moved, in the output's unit."""

    rank: int
    value: float


@dataclass(frozen=True, eq=False)
class Moved:
    """What happens. Not private, but for ``noise``, ``calibrated`` and ``x``.

    Attributes:
        settings: what all of it depends on.
        x: grid (G,) along the first input.
        at: the record's first input.
        output: its true output, clipped to the bounds.
        before, after, without: the fit with its true output, with the one chosen, and without the record (G,).
        noise: standard deviation of one release's noise (G,).
        shift: length of the fit's move at all test points in the metric of the noise: how many standard deviations
            it is, for the observer who sees it best.
        calibrated: the largest shift that any record may cause at this budget, 1 / s'.
    """

    settings: tuple[Model, Design, Draw, Choice]
    x: FloatArray
    at: float
    output: float
    before: FloatArray
    after: FloatArray
    without: FloatArray
    noise: FloatArray
    shift: float
    calibrated: float

    @property
    def largest(self) -> int:
        """Where on the grid the move is largest."""
        return int(np.abs(self.after - self.before).argmax())


def move(result: Result, choice: Choice) -> Moved:
    """The fit and its noise as one record's output is moved: milliseconds with C and the design in hand."""
    data, plan, scene = result.dataset, result.linear_plan, result.outcome.scene
    mechanism: GaussianMechanism = mechanism_of(*result.chosen)
    j = int(np.argsort(data.X[:, 0], kind="stable")[choice.rank - 1])
    column, y = dense_of(plan.weights)[:, j], data.clipped_y
    own = float(dense_of(result.fit.C)[j, j])
    before = data.in_data_units(result.fit.C @ data.standardised())
    predicted = (before[j] - data.midpoint - own * (y[j] - data.midpoint)) / (1 - own) + data.midpoint
    along = slice(scene.records, None)
    deviation = data.output_range * mechanism.noise_multiplier
    direction = np.linalg.lstsq(plan.factor, column, rcond=1e-14)[0]
    return Moved(
        settings=(*result.chosen, choice),
        x=scene.X_test[along, 0],
        at=float(data.X[j, 0]),
        output=float(y[j]),
        before=before[along],
        after=(before + column * (choice.value - y[j]))[along],
        without=(before + column * (predicted - y[j]))[along],
        noise=deviation * np.linalg.norm(plan.factor[along], axis=1),
        shift=float(np.linalg.norm(direction)) * abs(choice.value - y[j]) / deviation,
        calibrated=1 / mechanism.noise_multiplier,
    )
