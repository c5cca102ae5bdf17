"""Evidence that the curve deviates from all models in a part of the box, for example on a plateau or at a mass.

The squared norm |w|^2 of the whitened numbers (``measurement.fit``) hardly shows such a deviation, because it changes
few of them, and because flexible kernels absorb most of it. It does change the evidence: a smooth curve with the
deviation explains the numbers much better than any curve of the models.

The alternative to the models is therefore each model plus b chi_j. The shape chi_j is 1 in region j and 0 elsewhere,
the J regions are equally likely, and b ~ N(0, v_b) is about as large as small deviations of curves. With p_m, q_m the
prior probabilities of the kernel of model m and in the alternative, G_j (R,) the effect of a unit of b on the whitened
numbers w, w_- the part of w that the expected change points do not explain, and S_j = |G_j|^2, the Bayes factor of the
alternative against the models is

    E = sum_m P(m | z) q_m / p_m mean_j (1 + v_b S_j)^(-1/2) exp(v_b (G_j^T w_-)^2 / (2 (1 + v_b S_j))).

E is a ratio of two densities of z and has the mean 1 if the models are true. By Markov's inequality, it exceeds 1 / p
in at most a share p of the releases, however many regions there are and however similar they are. This holds for any q
that is chosen beforehand. As a deviation is seen best next to a smooth curve, q gives most of the probability to the
smoothest kernels. The alternative has to fit itself: the sum leaves out models and regions for which the squared norm
that b does not explain, |w_-|^2 - (G_j^T w_-)^2 / S_j, exceeds the threshold of the test of squared norms. Otherwise a
model that is far from the truth would count, whose linearised sums determine no evidence. This only reduces E.

P(m | z) is that of the kernel of model m. If sigma^2 is between the noise variances of two models, log Bayes factors
are interpolated between them like the log evidence ("Weights of the models"). A model with too little noise alone would
take deviations of people for one of the curve.

The effects G follow from the state. A unit of b in bin c changes the sums like n_c units of the deviation eta_c, which
is independent of the rest of the state a priori. As ``rows`` is the covariance of w with the state, the effect of one
bin is n_c rows[:, eta_c] / Var(eta_c), and that of a region is the sum over its bins.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtri, softmax

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..levels import level_columns
from ..measurement.fit import OF_SQUARES
from .changepoints import single_effects
from .clusters import Bins
from .filter import Filter, Posterior
from .mixture import Mixture
from .state import ModelSet, State
from .tuning import TUNING

_LEAST = 1e-3  # smallest probability, over the largest one, of noise variances, and of kernels that widen intervals
_SAME = 1e-9  # difference of locations that count as equal, over the side of the box


class LocalMisfit(NamedTuple):
    """Evidence of a deviation from the models in one of J regions.

    Attributes:
        log_evidence: log E; -inf if no alternative fits.
        near: low and high end of the likeliest region along each numerical side, from 0 to 1, from the centres of its
            bins.
        regions: whether each bin belongs to each region (J, M).
        rows: a model of each kernel that is likely if there is a deviation, with the likeliest noise variance, as
            positions in the list of active models (K,).
        log_weights: log prior probability of these kernels in the alternative, times their evidence without a deviation
            (K,).
    """

    log_evidence: float
    near: tuple[tuple[float, float], ...]
    regions: csr_array
    rows: IndexArray
    log_weights: FloatArray


def regions_of(bins: Bins) -> csr_array:
    """Return which of the M bins belong to each of J regions (J, M).

    A region contains the bins of the same categories whose centres lie within a box. The lowest corner of this box is
    the centre of a bin, and its sides are one of ``TUNING.misfit_widths`` times as long as those of the declared box.
    With several numerical sides, regions are also slabs: boxes that extend over the whole of all sides but one.
    """
    at, numeric = _shares(bins), bins.numeric_sides
    of_categories = at[:, list(level_columns(bins.sides))]
    same = (np.abs(of_categories[:, None] - of_categories) < _SAME).all(axis=2)
    since = at[:, numeric] - at[:, None, numeric]
    widths = np.array(TUNING.misfit_widths if len(numeric) == 1 else TUNING.misfit_widths_of_several)
    found = [same & ((since > -_SAME) & (since < max(width, 2 * _SAME) - _SAME)).all(axis=2) for width in widths]
    if len(numeric) > 1:
        starts, groups = np.arange(0, 1, TUNING.misfit_slabs)[:, None], np.unique(same, axis=0)
        for d in numeric:
            for width in (*widths[widths > 0], math.inf):
                slabs = (at[:, d] > starts - _SAME) & (at[:, d] < starts + width - _SAME)
                found += [slabs & group for group in groups]
    every = np.concatenate(found)
    _, first = np.unique(np.packbits(every, axis=1), axis=0, return_index=True)
    distinct = every[np.sort(first)]
    return csr_array(distinct[distinct.any(axis=1)].astype(float))


def local_misfit(filtered: Filter, posterior: Posterior) -> LocalMisfit:
    """Return the evidence of a local deviation given all stages. This is post-processing."""
    state, bins, regions = posterior.state, filtered.bins, regions_of(filtered.bins)
    J, most = regions.shape[0], chdtri(state.rows.shape[1], OF_SQUARES)
    weights, ratios = posterior.weights[state.index], alternative_to_prior(filtered.models)[state.index]
    noises, of_noise = np.unique(state.noise_variance, return_inverse=True)
    shares = np.bincount(of_noise, weights, minlength=len(noises))[of_noise]
    rows, log_weights, log_densities = list[int](), list[float](), list[FloatArray]()
    for _, of_kernel in state.models.kernels_of(state.index):
        weight = float(weights[of_kernel] @ ratios[of_kernel])
        of_kernel = of_kernel[shares[of_kernel] >= _LEAST * shares[of_kernel].max()]
        factors, left = np.zeros(J), np.zeros(J)
        for row in of_kernel.tolist():
            share = shares[row] / shares[of_kernel].sum()
            G, white = _effects(filtered, state, row, regions), _unexplained(state, row)
            score, S = G @ white, np.einsum("jr,jr->j", G, G)
            factors += share * log_bayes_factors(score, S, _variances(filtered, state, row))
            left += share * (white @ white - np.divide(score**2, S, out=np.zeros(J), where=S > 0))
        if weight > 0:
            rows.append(int(of_kernel[shares[of_kernel].argmax()]))
            log_weights.append(math.log(weight))
            log_densities.append(log_weights[-1] - math.log(J) + np.where(left <= most, factors, -math.inf))
    of_kernels = np.logaddexp.reduce(log_densities, axis=1)
    likeliest = regions[[np.logaddexp.reduce(log_densities, axis=0).argmax()]].indices
    along = _shares(bins)[likeliest][:, bins.numeric_sides].T
    likely = of_kernels >= of_kernels.max() + math.log(_LEAST)
    return LocalMisfit(
        log_evidence=float(np.logaddexp.reduce(of_kernels)),
        near=tuple((float(each.min()), float(each.max())) for each in along),
        regions=regions,
        rows=np.array(rows)[likely],
        log_weights=np.array(log_weights)[likely],
    )


def alternative_to_prior(models: ModelSet) -> FloatArray:
    """Return q_m / p_m, the probability of the kernel of each model in the alternative over its prior one (m,).

    ``TUNING.misfit_smoothest`` of the alternative is divided equally among the kernels that have the fewest features,
    or differ from such a kernel only in their amplitude. The rest is divided like the prior.
    """
    prior = np.bincount(models.label, models.weight) / models.weight.sum()
    families = [models.family[model] for model in np.unique(models.label, return_index=True)[1]]
    fewest = min(range(len(prior)), key=lambda label: len(models.features[label].root))
    smoothest = np.array([family == families[fewest] for family in families])
    share = TUNING.misfit_smoothest
    return np.asarray(((1 - share) + share * smoothest / smoothest.sum() / prior)[models.label])


def log_bayes_factors(score: FloatArray, S: FloatArray, variances: FloatArray) -> FloatArray:
    """Return the log Bayes factor of each of J shapes with an unknown height, against no deviation (J,).

    Args:
        score: products G_j^T w of the effect of each shape, for unit height, and the whitened numbers (J,). The latter
            are standard normal if there is no deviation.
        S: squared norms |G_j|^2 (J,).
        variances: possible prior variances v_b of the height, which are equally likely (V,).
    """
    v_b = variances[:, None]
    each = 0.5 * (v_b * score**2 / (1 + v_b * S) - np.log1p(v_b * S))
    return np.asarray(np.logaddexp.reduce(each, axis=0) - math.log(len(variances)))


def added_variance(
    filtered: Filter, posterior: Posterior, found: LocalMisfit, prediction: Mixture, X_test: FloatArray
) -> FloatArray:
    """Return the variance to add to that of f at X_test (P,) if the curve deviates from the models.

    Up to ``TUNING.most_change_points`` deviations are added to each model. If the posterior with them has the mean m'
    and the variance v', and the prediction has the mean m and the variance v, the added variance is
    v' + (m' - m)^2 - v, or 0 if that is negative.
    """
    state, models, J = posterior.state, filtered.models, found.regions.shape[0]
    G = np.stack([_effects(filtered, state, row, found.regions).T for row in found.rows.tolist()])
    white = np.stack([_unexplained(state, row) for row in found.rows.tolist()])
    v_b = np.stack([_variances(filtered, state, row) for row in found.rows.tolist()])
    deviations = single_effects(G, white, v_b, np.full(J, math.log(TUNING.misfit_share / J)))
    index = state.index[found.rows]
    weights = softmax(found.log_weights + deviations.log_evidence)
    means, variances = prediction.means[0, index], prediction.variances[0, index]
    shapes = found.regions.T[filtered.bins.index(X_test)].toarray()
    for i, (row, model) in enumerate(zip(found.rows.tolist(), index, strict=True)):
        Q = state.rows[row, :, : models.rank] @ models.at(int(models.label[model]), X_test).T
        effects, of_model = shapes - Q.T @ G[i], deviations.only(np.array([i]))
        means[i] += effects @ of_model.mean[0]
        variances[i] += of_model.variance(effects[None])[0]
    square = weights @ (variances + (means - prediction.mean[0]) ** 2)
    return np.asarray(np.maximum(square - prediction.variance[0], 0.0))


def _shares(bins: Bins) -> FloatArray:
    """Return the centres of the bins (M, D + K), from 0 to 1 along each side of the box."""
    low, high = np.array(bins.sides).T
    return np.asarray((bins.centres - low) / (high - low))


def _effects(filtered: Filter, state: State, row: int, regions: csr_array) -> FloatArray:
    """Return the effect G of each region, for unit height, on the whitened numbers of an active model (J, R)."""
    k, M = state.models.rank, filtered.bins.size
    prior, n = state.prior[row, k : k + M], filtered.counts.nonnegative
    of_bins = state.rows[row, :, k : k + M] * np.divide(n, prior, out=np.zeros(M), where=prior > 0)
    return np.asarray(regions @ np.ascontiguousarray(of_bins.T))


def _unexplained(state: State, row: int) -> FloatArray:
    """Return w_-, the whitened numbers of an active model without the expected effect of change points (R,)."""
    found = state.change_points
    return np.asarray(found.white[row] - found.G[row] @ found.mean[row])


def _variances(filtered: Filter, state: State, row: int) -> FloatArray:
    """Return the prior variance v_b of the height of a deviation under an active model (1,)."""
    variance = TUNING.curve_variance * filtered.half_range**2 * TUNING.misfit_variance
    return np.atleast_1d(np.minimum(variance, TUNING.most_change_point_variance * state.noise_variance[row]))
