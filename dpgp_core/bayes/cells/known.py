"""What is known of a curve over public cells: counts, each model's posterior, how people scatter, and weights.

All of it is a function of what was released, and of what is public.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ...arrays import FloatArray
from ...measurement.fit import Fit, fits_of
from ...measurement.measurement import CellCounts
from ..intervals import Mixture
from ..scatter import ROUNDS, SquaresSeen, expected, log_density, model_weights, nothing_known, of_two_values
from .counts import Counts, counts_given
from .filter import CellObserved, CellState, Linear, Outlook, cell_prior, cell_update, linearise
from .grid import CellGrid
from .models import CellModel

Ends = tuple[FloatArray, FloatArray, FloatArray]
"""Low and high of each cell's residuals (M,), and g (F,), which they are taken about."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSetting:
    """What stages are run with; all of it is public.

    Attributes:
        grid: M cells.
        models: the mixture on the grid.
        n: number of records.
        half_range: half the public range of the outputs, in model units.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
        two_valued: whether every output stands at one end of the range, as yes and no do.
    """

    grid: CellGrid
    models: tuple[CellModel, ...]
    n: int
    half_range: float
    clip: float
    gap: float
    two_valued: bool = False

    @property
    def biased(self) -> bool:
        """Whether clipping may be, and squares say how people scatter: all but releases of before."""
        return bool(self.models[0].bias.shape[1])


class Posterior(NamedTuple):
    """Counts, each model's state, log density of the squares (S,), and the models' probabilities (m,)."""

    counts: Counts
    states: tuple[CellState, ...]
    scatter: FloatArray
    weights: FloatArray


def start(setting: CellSetting, counts: CellCounts | Counts, z: FloatArray) -> Posterior:
    """What is known before any residual is measured, z (r,) being what was released of counts that are not public."""
    if isinstance(counts, CellCounts):
        known = counts_given(setting.grid, setting.n, counts.B, counts.noise_sd, z, rough=setting.biased)
    else:
        known = counts
    states = tuple(cell_prior(model, known) for model in setting.models)
    scatter = nothing_known()
    return Posterior(known, states, scatter, _weights(setting, states, scatter))


def linearised(
    setting: CellSetting,
    now: Posterior,
    seen: Ends,
    known: Sequence[Outlook] | None = None,
) -> tuple[Linear, ...]:
    """The residual sums as each model sees them, for low (M,), high (M,), g (F,); ``known`` about g, if they are."""
    about_g: Sequence[Outlook | None] = known or [None] * len(setting.models)
    of_each = zip(setting.models, now.states, about_g, strict=True)
    more = setting.half_range, float(expected(now.scatter, setting.half_range))
    return tuple(
        linearise(model, setting.grid, now.counts, state, seen, *more, about) for model, state, about in of_each
    )


def after(setting: CellSetting, now: Posterior, linear: Sequence[Linear], seen: CellObserved) -> Posterior:
    """What is known after one more stage."""
    pairs = zip(now.states, linear, strict=True)
    states = tuple(cell_update(state, each, seen.B, seen.s, seen.z) for state, each in pairs)
    now = now._replace(states=states, weights=_weights(setting, states, now.scatter))
    return _two_valued(setting, now) if setting.two_valued else now


def with_squares(setting: CellSetting, now: Posterior, seen: CellObserved) -> Posterior:
    """What is known once the squares about a stage's g are too."""
    assert seen.squares is not None
    noise = float(now.weights @ [model.noise_variance for model in setting.models])
    about = mean_square(setting, now, seen.g) - noise
    high, s, z = seen.squares
    scatter = now.scatter + log_density(setting.half_range, SquaresSeen(about, np.sqrt(high), now.counts.mean, s, z))
    return now._replace(scatter=scatter, weights=_weights(setting, now.states, scatter))


def mean_square(setting: CellSetting, now: Posterior, g: FloatArray) -> FloatArray:
    """E (y - g)^2 of each cell (M,), over the models."""
    grid, square = setting.grid, np.zeros(setting.grid.size)
    centre = grid.averages(g)
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        k = model.cells.shape[1]
        variance = np.einsum("ij,ij->i", model.cells @ state.covariance[:k, :k], model.cells)
        square += weight * (variance + model.noise_variance + (model.cells @ state.mean[:k] - centre) ** 2)
    return square


def curve(setting: CellSetting, now: Posterior) -> FloatArray:
    """The expected curve at the nodes (F,), within the range."""
    mean = np.zeros(len(setting.grid.nodes))
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        mean += weight * (model.nodes @ state.mean[: model.nodes.shape[1]])
    return np.clip(mean, -setting.half_range, setting.half_range)


def cell_mixture(models: Sequence[CellModel], posterior: Posterior, X_test: FloatArray) -> Mixture:
    """The models' predictions at X_test (P, D), one draw.

    Variance = k(x, x) - phi^T phi + phi^T C phi.
    """
    means, variances = [], []
    for model, state in zip(models, posterior.states, strict=True):
        phi, k = model.at(X_test), model.cells.shape[1]
        left = phi @ state.covariance[:k, :k] - phi
        prior = model.features.kernel.diagonal(X_test)
        means.append(phi @ state.mean[:k])
        variances.append(np.maximum(prior + np.einsum("ij,ij->i", left, phi), 1e-14 * prior))
    return Mixture(
        means=np.array([means]),
        variances=np.array([variances]),
        noise_variances=np.array([model.noise_variance for model in models]),
        weights=posterior.weights[None],
        fit=fit_of(posterior),
    )


def fit_of(posterior: Posterior) -> tuple[Fit, ...]:
    """How counts and stages fit the models; () before any stage."""
    of_counts = posterior.counts.misfit
    counted = [] if of_counts is None else [of_counts]
    each = [[*counted, *state.misfit] for state in posterior.states]
    if not each[0]:
        return ()
    misfit = np.array([[square for square, _ in stages] for stages in each])
    return fits_of(posterior.weights[None], misfit[None], [r for _, r in each[0]])


def _two_valued(setting: CellSetting, now: Posterior) -> Posterior:
    """What the curve says of the scatter about it, and that of the models, until both agree."""
    share = now.counts.numbers / now.counts.numbers.sum()
    zero = np.zeros(len(setting.grid.nodes))
    for _ in range(ROUNDS):
        noise = float(now.weights @ [model.noise_variance for model in setting.models])
        square = float(share @ mean_square(setting, now, zero)) - noise
        scatter = of_two_values(setting.half_range, np.array([square]))[0]
        now = now._replace(scatter=scatter, weights=_weights(setting, now.states, scatter))
    return now


def _weights(setting: CellSetting, states: Sequence[CellState], scatter: FloatArray) -> FloatArray:
    models, evidence = setting.models, np.array([state.log_evidence for state in states])
    if setting.biased:
        kernels = [id(model.nodes) for model in models]
        weights: FloatArray = model_weights(models, kernels, scatter[None], evidence[None], setting.half_range)[0]
        return weights
    return np.asarray(softmax([math.log(model.weight) + each for model, each in zip(models, evidence, strict=True)]))
