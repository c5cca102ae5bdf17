"""Local dispersion: the residual standard deviation as a function of the inputs, from clipped absolute residuals.

After the stages, which determine a curve g, one more measurement releases sums of the distances
a_j = min(|y_j - g(x_j)|, theta) with a clipping threshold theta. A second filter infers v(x) = 2 (E a / theta - usual),
where ``usual`` is the value of E a / theta that the stages imply. For normal residuals of variance sigma^2, with
t = theta / sigma,

    E min(|r|, theta) = sigma sqrt(2 / pi) (1 - exp(-t^2 / 2)) + 2 theta Phi(-t),

which grows with sigma. Its inverse gives sigma^2(x) from E a at x, averaged over the posterior of E a. For residuals
that are not normal, this inverse gives intervals of about the right width.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray
from ..strategies.strategy import Strategy
from .filter import Filter, Posterior
from .local_misfit import added_variance, local_misfit
from .mixture import Mixture, OutcomeDistribution, skewness_of
from .prediction import predict, unseen_outliers, variance_of_outliers, variance_of_plateaus
from .queries import NOTHING, Distances, Measured, StageMeasurement
from .strategy import plan_stage
from .tuning import TUNING

_SDS: FloatArray = np.linspace(0.0, 2.0, 401)  # sigma / theta; above 2 nearly all distances are clipped
_HERMITE = np.polynomial.hermite_e.hermegauss(9)
_LEAST = 1e-6  # smallest variance of yes/no outcomes, over h^2


def usual_distance(sd: FloatArray | float) -> FloatArray:
    """Return E a / theta = E min(|r|, 1) for normal residuals r ~ N(0, sd^2), with sd in units of theta."""
    t = 1 / np.maximum(sd, 1e-9)
    usual: FloatArray = sd * math.sqrt(2 / math.pi) * -np.expm1(-t * t / 2) + 2 * ndtr(-t)
    return usual


_MEANS = usual_distance(_SDS)


class LocalDispersion(NamedTuple):
    """Posterior of E a / theta at P points.

    Attributes:
        mean, variance: posterior mean and variance (P,).
        threshold: clipping threshold theta, in model units.
    """

    mean: FloatArray
    variance: FloatArray
    threshold: float

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of an outcome about the released curve g (P,), in squared model units."""
        points, weights = _HERMITE
        shares = self.mean[:, None] + np.sqrt(self.variance)[:, None] * points
        square = np.interp(shares, _MEANS, _SDS) ** 2 @ (weights / weights.sum())
        return np.asarray(self.threshold**2 * square)

    def about_curve(self, of_curve: FloatArray) -> FloatArray:
        """Return the variance of an outcome about the true curve (P,), in squared model units.

        Residuals are taken from the released curve and therefore include its error. The variance of this error is
        subtracted, but at most half of the whole.

        Args:
            of_curve: posterior variance of the curve (P,), in squared model units.
        """
        whole = self.noise_variance
        # outcomes that are counts of few different values may all lie on the curve
        least = (TUNING.least_dispersion * self.threshold) ** 2
        return np.asarray(np.maximum(np.maximum(whole - of_curve, whole / 2), least))


def clipping_threshold(mean_square: float, half_range: float) -> float:
    """Return the clipping threshold theta of the distances, in model units.

    Args:
        mean_square: mean of E (y - g)^2 over the records, in squared model units.
        half_range: half the range of the outcomes, which theta does not exceed.
    """
    return min(TUNING.distance_threshold * math.sqrt(mean_square), half_range)


def dispersion_filter(filtered: Filter) -> Filter:
    """Return the filter of the scaled distances, with the counts of records."""
    assert filtered.of_distances is not None
    return replace(filtered.of_distances, counts=filtered.counts)


def distance_query(
    filtered: Filter, B: FloatArray, usual: float, s: float, z: FloatArray = NOTHING
) -> StageMeasurement:
    """Return the sums of a / theta - 1/2 as a stage of the dispersion filter.

    The outcomes of this stage are 2 (a / theta - usual), whose mean is v. Its interval [-2 usual, 2 - 2 usual] contains
    all of them, so that nothing is clipped.

    Arguments are those of ``StageMeasurement``; ``usual`` is the expected a / theta.
    """
    centre, one = 2 * usual - 1, np.ones(filtered.bins.size)
    zero = np.zeros(len(filtered.bins.nodes))
    return StageMeasurement(B, -one - centre, one - centre, s, zero, z, clips=False)


def plan_distances(filtered: Filter, usual: float, s: float) -> Strategy:
    """Return the strategy for measuring distances with noise multiplier s; ``usual`` is the expected a / theta."""
    of_distances = dispersion_filter(filtered)
    prior = of_distances.prior()
    linear = of_distances.linearised(prior, distance_query(of_distances, NOTHING, usual, s))
    return plan_stage(of_distances, prior, linear, s)


def dispersion_given(filtered: Filter, distances: Distances, X_test: FloatArray) -> LocalDispersion:
    """Return the posterior of E a / theta at X_test (P, D), given noisy sums of distances. It spends no budget."""
    of_distances, usual = dispersion_filter(filtered), float(usual_distance(distances.sd / distances.threshold))
    query = distance_query(of_distances, distances.B, usual, distances.s, distances.z)
    scaled = predict(of_distances, of_distances.after(of_distances.prior(), query), X_test)
    return LocalDispersion(usual + scaled.mean[0] / 2, scaled.variance[0] / 4, distances.threshold)


def predict_release(filtered: Filter, posterior: Posterior, measured: Measured, X_test: FloatArray) -> Mixture:
    """Return everything that a release predicts at X_test (P, D): the curve, and the local dispersion of outcomes.

    For yes/no outcomes the dispersion follows from the mean. For others it is unknown unless distances were measured.
    The filter has the counts and locations of the release, and the posterior is that given all stages.
    """
    prediction, bins, stages = predict(filtered, posterior, X_test), filtered.bins, measured.stages
    of_curve, outcomes, over_bins = prediction.variance[0], None, np.ones(bins.size)
    has_plateaus = not filtered.is_binary and len(filtered.models.change_points.step_share) > 0
    if filtered.is_binary:
        h = filtered.half_range
        variance = h**2 - np.clip(prediction.mean, -h, h) ** 2
        outcomes = OutcomeDistribution(np.maximum(variance, _LEAST * h**2))
    elif (distances := measured.distances) is not None:
        places, of_places, skew = X_test, of_curve, None
        if has_plateaus:  # which need the dispersion over the bins as well
            state = posterior.state
            places = np.vstack([X_test, bins.averages(bins.nodes)])
            of_places = np.append(of_curve, posterior.weights[state.index] @ state.variance_over_bins)
        local = dispersion_given(filtered, distances, places).about_curve(of_places)
        variance, over_bins = np.split(local, [len(X_test)])
        if distances.above is not None:
            s, z = distances.above
            skew = skewness_of(np.array([z]), s, filtered.n, np.array([(of_curve / variance).mean()]))
        outcomes = OutcomeDistribution(variance[None], skew)
    added = variance_of_outliers(filtered, posterior, stages, prediction, X_test)
    if has_plateaus:
        of_plateaus = variance_of_plateaus(filtered, posterior, stages, over_bins, prediction, X_test)
        added = np.maximum(added, of_plateaus)
    prediction = replace(
        prediction.more_cautious(added), outcomes=outcomes, unseen=unseen_outliers(filtered, posterior, stages)
    )
    if len(bins.numeric_sides) > TUNING.most_misfit_sides:
        return prediction
    misfit = local_misfit(filtered, posterior)
    fits = tuple(fit.with_local_misfit(misfit.log_evidence, misfit.near) for fit in prediction.fit)
    prediction = replace(prediction, fit=fits)
    if any(fit.near for fit in fits):
        return prediction.more_cautious(added_variance(filtered, posterior, misfit, prediction, X_test))
    return prediction
