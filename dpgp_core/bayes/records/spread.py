"""How people scatter about the curve, records one by one: distances planned and read as ``bayes.spread`` has it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import FloatArray
from ...strategies.strategy import Strategy
from ..bias import Public
from ..intervals import Mixture
from ..models import weights_of
from ..scatter import expected
from ..spread import GAP, Distances, Spread, peopled, reach_of, spread_models, spread_of, two_valued, usual_distance
from .filter import mixture_of
from .places import Places, places_of
from .planning import plan_stages
from .stages import Observed, Outcome, curve_at_records, mean_square, posterior

_TOLERANCE = 1e-6  # of the prior variance, left out of the features


def about_curve(places: Sequence[Places], now: Outcome, half_range: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What distances are taken from: the curve g at the records (D, n), their reach A (D,), and sd (D,)."""
    assert now.scatter is not None
    g = curve_at_records(places, now, half_range)
    reach = reach_of(mean_square(now, g).mean(axis=1), half_range)
    return g, reach, np.sqrt(expected(now.scatter, half_range))


def plan_spread(x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray, s: float) -> Strategy:
    """What to measure of distances: public, from inputs, box and budget.

    Args:
        x_box: D public (low, high) pairs.
        X: records (n, D).
        X_test: where the scatter should be known (P, D).
        s: noise multiplier.
    """
    places = _places(x_box, X, X_test)
    return plan_stages(places, weights_of(spread_models(x_box)), 1.0, (s,), gap=GAP)[0].strategy


def read_spread(seen: Distances, x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray) -> Spread:
    """What noisy sums of distances say of E a at X_test (P, D): spends nothing.

    Args:
        seen: as released, of records X (n, D).
        x_box: D public (low, high) pairs.
        X: the records (n, D).
        X_test: where (P, D).
    """
    places, ends = _places(x_box, X, X_test), np.ones((len(seen.z), len(X)))
    usual = usual_distance(seen.sd, seen.reach)[:, None]
    z = seen.z - (usual - 0.5) * seen.B.sum(axis=1)
    outcome = posterior([Observed(seen.B, -ends, ends, seen.s, z)], places, weights_of(spread_models(x_box)))
    return spread_of(mixture_of(places, outcome.states, outcome.weights), usual, seen.reach)


def with_people(
    prediction: Mixture, distances: Distances | None, public: Public | None, X: FloatArray, X_test: FloatArray
) -> Mixture:
    """The same prediction, with what is known of how people scatter at each test input.

    Args:
        prediction: of the curve at X_test (P, D).
        distances: as released, of records X (n, D); None if there are none.
        public: of the table.
        X: the records (n, D).
        X_test: where (P, D).
    """
    if public is not None and public.kind == "yes/no":
        return two_valued(prediction, public.half_range)
    if distances is None or public is None:
        return prediction
    return peopled(prediction, read_spread(distances, public.x_box, X, X_test), distances, len(X))


def _places(x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray) -> tuple[Places, ...]:
    """Models of 2 (a / A - usual) at records X (n, D) and test inputs X_test (P, D), from the box alone."""
    public = Public(x_box, 1.0)  # nothing is cut off at its ends
    return places_of(spread_models(x_box), X, X_test, public=public, tolerance=_TOLERANCE)
