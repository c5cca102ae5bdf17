"""How far the curves of two groups are apart, with an interval: from what was released alone, so it spends nothing.

f(x, a) - f(x, b) is linear in the curve. Under each model it is normal with mean m_a - m_b and variance
V_aa + V_bb - 2 V_ab, the posterior covariance of both: what both curves have in common, and do not know, cancels. The
mixture of the models gives its quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..gp.exact import check_columns
from ..levels import check_codes, level_columns
from ..measurement.statistics import CellStatistics, Statistics
from .intervals import Mixture
from .joint import Joint
from .models import Model, models_of, rough_share
from .refit import read
from .settings import noise_sds_for


@dataclass(frozen=True, kw_only=True, eq=False)
class Difference:
    """First group's curve less the second's at P places, in the output's unit. Public.

    Attributes:
        X: places (P, D), of the first group.
        mixture: of the difference, one draw, in model units.
        y_scale: unit of the model, in the output's unit.
    """

    X: FloatArray
    mixture: Mixture
    y_scale: float

    @property
    def mean(self) -> FloatArray:
        """Expected difference (P,)."""
        return np.asarray(self.y_scale * self.mixture.mean[0])

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends (P,), (P,) of the interval that holds the difference of the curves with this probability.

        Raises:
            ValueError: level is outside (0, 1).
        """
        low, high = self.mixture.interval(level, "function")
        return self.y_scale * low[0], self.y_scale * high[0]


def difference(
    statistics: Statistics | CellStatistics,
    first: str,
    second: str,
    X: FloatArray,
    *,
    of: str | None = None,
    models: Sequence[Model] | None = None,
) -> Difference:
    """The curve of one group less that of another. Spends nothing.

    Args:
        statistics: what was released, of inputs of which one is a category.
        first: one of its levels.
        second: another.
        X: places (P, D); their column of that category is not read.
        of: name of the category; None where there is one.
        models: of the curve, in model units; None for the automatic ones.

    Raises:
        ValueError: no input is that category, it has no such levels, or X does not fit.
    """
    column = _column(statistics, of)
    codes = [_code(statistics, column, level) for level in (first, second)]
    if codes[0] == codes[1]:
        raise ValueError(f"the difference of {first!r} and itself is 0; name two levels")
    check_columns(np.empty((1, len(statistics.x_box))), X)
    places = [X.copy(), X.copy()]
    for each, code in zip(places, codes, strict=True):
        each[:, column] = code
        check_codes(each, statistics.x_box, statistics.x_names)
    read_by = read(statistics, _models(statistics) if models is None else tuple(models))
    return Difference(X=places[0], mixture=contrast(read_by.at(np.vstack(places)).joint()), y_scale=statistics.y_scale)


def contrast(joint: Joint) -> Mixture:
    """F at the first half of a joint posterior's places less f at the second, place by place (P,); one draw.

    Variance = k_aa + k_bb - 2 k_ab - |q_a - q_b|^2, q the columns of Q.
    """
    P = len(joint.X_test) // 2
    a, b, variances = joint.X_test[:P], joint.X_test[P:], []
    for model, Q in zip(joint.models, joint.shared, strict=True):
        prior = model.kernel.diagonal(a) + model.kernel.diagonal(b)
        between = [float(model.kernel(a[i : i + 1], b[i : i + 1])[0, 0]) for i in range(P)]
        apart = Q[:, :P] - Q[:, P:]
        left = prior - 2 * np.array(between) - np.einsum("ij,ij->j", apart, apart)
        variances.append(np.maximum(left, 1e-14 * prior))
    return Mixture(
        means=(joint.means[:, :P] - joint.means[:, P:])[None],
        variances=np.array([variances]),
        noise_variances=np.zeros(len(joint.models)),
        weights=joint.weights[None],
        fit=joint.fit,
    )


def _models(statistics: Statistics | CellStatistics) -> tuple[Model, ...]:
    low, high = statistics.bounds
    noises = noise_sds_for(statistics.reading, statistics.x_box)
    rough = None
    if isinstance(statistics, CellStatistics):
        spent = sum(1 / each.noise_sd**2 for each in statistics.measurements)
        rough = rough_share(statistics.n, spent**-0.5)
    return models_of((), None, statistics.x_box, (high - low) / statistics.y_scale / 2, noises, rough)


def _column(statistics: Statistics | CellStatistics, of: str | None) -> int:
    columns = level_columns(statistics.x_box)
    if not columns:
        raise ValueError("no input of the release is a category, so it has no groups")
    if of is None and len(columns) > 1:
        raise ValueError("several inputs are categories; say which one by of")
    column = next((d for d in columns if of is None or statistics.x_names[d] == of), None)
    if column is None:
        raise ValueError(f"{of!r} is no input of the release that is a category")
    return column


def _code(statistics: Statistics | CellStatistics, column: int, level: str) -> int:
    levels = (statistics.x_levels or ())[column] or ()
    if level not in levels:
        raise ValueError(f"{statistics.x_names[column]!r} has no level {level!r}; its levels are {', '.join(levels)}")
    return levels.index(level)
