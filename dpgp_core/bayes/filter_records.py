"""Every record has a column of its own, and inputs are public: the posterior given noisy sums of clipped outputs.

Under a model, y = f(X) + e. A stage released z = B ((clip(y, low, high) - o) / u) + s w, with public B (r, n), o and u
the middle and the width of each record's public interval, w standard normal. With ``clipping.clipped``,
z ~ B ((k + alpha (y - m) + rest - o) / u) + s w: a linear observation of y, A = B diag(alpha / u), of noise covariance
B diag(extra / u^2) B^T + s^2 I, whose moments k, alpha, extra come from the posterior m, v that earlier stages leave.
No matrix of n x n is formed: K = Phi Phi^T + diag(noise). Everything here is post-processing of z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..gp.pivoted import factorise
from ..kernels import Kernel
from ..linalg import sturdy_cholesky
from .engine import Filter, Observation, Posterior
from .mixture import Mixture
from .models import Model
from .spread import spread_models
from .stages import DRAWN_TIED, NARROWEST, SAME, PlannedStage, Public, bias_features, bias_of, ends_of, widest

_EXACT, _LOOSE = 1e-12, 1e-6  # of the prior variance at the inputs, left out of the features of few and of many inputs
_MANY = 1000
_LARGEST = 2 * 10**7  # numbers kept at a time, 160 MB
_LOG_TWO_PI = math.log(2 * math.pi)
_ROUNDING = 1e-13  # of the largest eigenvalue of a Gram matrix: below, directions are not distinguished


class State(NamedTuple):
    """Posterior of y at the n records, f at the P test inputs and b of the bias, for D draws, in model units.

    Attributes:
        mean: (D, n + P + q).
        variance: (D, n + P + q).
        shared: Q (D, R, n + P + q), covariance of y, f and b with the R whitened measurements so far:
            posterior covariance = prior - Q^T Q.
        log_evidence: log p(z of all stages | model), (D,).
        misfit: |w|^2 of each stage (D, S), see ``measurement.fit``.
    """

    mean: FloatArray
    variance: FloatArray
    shared: FloatArray
    log_evidence: FloatArray
    misfit: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordModel:
    """One model at n records and P test inputs: the covariance of (y, f_*, b) is phi phi^T + a diagonal.

    b (q,) ~ N(0, I) are the coefficients of the field of clipping's bias, h = psi b; see ``stages``.

    Attributes:
        phi: features (n + P + q, k), records first.
        noise: variance of y that the features leave, (n,): noise_variance and the kernel's residual.
        variance: prior variance of y at the records, of f at the test inputs and of b (n + P + q,).
        weight: prior weight of the model.
    """

    phi: FloatArray
    noise: FloatArray
    variance: FloatArray
    noise_variance: float
    weight: float


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordFilter(Filter[tuple[State, ...]]):
    """The mixture at n records and P test inputs.

    Attributes:
        models: at these inputs (M).
        X, X_test: records (n, D) and test inputs (P, D).
        public: of the table; None where stages are read as if outcomes were normal.
        psi: of the field h of clipping's bias (n, q); q = 0 where clipping is taken to have none.
    """

    models: tuple[RecordModel, ...]
    kernels: tuple[int, ...]
    n: int
    X: FloatArray
    X_test: FloatArray
    public: Public | None
    psi: FloatArray
    half_range: float
    two_valued: bool

    @property
    def tests(self) -> slice:
        """Where f at the test inputs is in a state."""
        return slice(self.n, self.n + len(self.X_test))

    @property
    def noise_variances(self) -> FloatArray:
        """See ``Filter``."""
        return np.array([model.noise_variance for model in self.models])

    @property
    def prior_weights(self) -> FloatArray:
        """See ``Filter``."""
        return np.array([model.weight for model in self.models])

    @property
    def labels(self) -> tuple[int, ...]:
        """See ``Filter``."""
        return self.kernels

    def evidence_of(self, states: tuple[State, ...]) -> FloatArray:
        """See ``Filter``."""
        return np.stack([state.log_evidence for state in states], axis=1)

    def misfit_of(self, states: tuple[State, ...]) -> FloatArray:
        """See ``Filter``."""
        return np.stack([state.misfit for state in states], axis=1)

    @property
    def biased(self) -> bool:
        """See ``Filter``."""
        return self.public is not None

    @property
    def people(self) -> FloatArray:
        """One for each record."""
        return np.ones(self.n)

    @property
    def zero(self) -> FloatArray:
        """A curve that is 0."""
        return np.zeros((1, self.n))

    def batch_size(self, rows: int) -> int:
        """See ``Filter``; every draw keeps its covariances with all measurements."""
        return max(1, _LARGEST // (len(self.models) * rows * len(self.models[0].variance)))

    def prior(self, draws: int) -> tuple[tuple[State, ...], tuple[int, ...]]:
        """The same for every draw."""
        size, none = len(self.models[0].variance), np.zeros(draws)
        zero, nothing = np.zeros((draws, size)), np.zeros((draws, 0, size))
        spread = (np.broadcast_to(model.variance, (draws, size)) for model in self.models)
        return tuple(State(zero, variance, nothing, none, nothing[..., 0]) for variance in spread), ()

    def updated(self, posterior: Posterior[tuple[State, ...]], observation: Observation, linear: Any = None) -> tuple[State, ...]:
        """Posterior after one more stage.

        S = A K_post A^T + B diag(extra / u^2) B^T + s^2 I = L L^T,    z - E z = z - B ((k - o) / u),
        Q' = L^-1 A K_post,    mean += Q'^T L^-1 (z - E z),    variance -= column norms of Q'.
        """
        B, s, low, high = observation.B, observation.noise_multiplier, observation.low, observation.high
        width, middle, beta = high - low, (high + low) / 2, np.zeros(1)
        scatter = self.expected_scatter(posterior)
        if scatter is not None:
            low, high, half_width = ends_of(low, high, middle, self.half_range, cut=observation.cut)
            beta = bias_of(half_width, scatter, self.half_range)
        loadings = (B * (beta / width)[:, None]) @ self.psi
        return tuple(
            _updated(model, state, B, (low, high, width, middle), loadings, s, observation.z)
            for model, state in zip(self.models, posterior.states, strict=True)
        )

    def mean_square(self, posterior: Posterior[tuple[State, ...]], g: FloatArray) -> FloatArray:
        """E (y - g)^2 (D, n), over the models."""
        each = (state.variance[:, : self.n] + (state.mean[:, : self.n] - g) ** 2 for state in posterior.states)
        pairs = zip(posterior.weights.T, each, strict=True)
        total: FloatArray = sum((w[:, None] * square for w, square in pairs), np.zeros(1))
        return total

    def curve(self, posterior: Posterior[tuple[State, ...]]) -> FloatArray:
        """The expected curve at the records (D, n), within the range."""
        means = np.stack([state.mean[:, : self.n] for state in posterior.states], axis=1)
        g = np.einsum("dm,dmj->dj", posterior.weights, means)
        clipped: FloatArray = np.clip(g, -self.half_range, self.half_range)
        return clipped

    def next_intervals(self, posterior: Posterior[tuple[State, ...]], clip: float) -> tuple[FloatArray, FloatArray]:
        """Cut g +- c to the public range, (D, n) each: g the predictive mean, c = clip sqrt(E (y - g)^2).

        Never narrower than ``NARROWEST`` of the range, which also keeps an interval where all of g +- c lies outside.

        Args:
            posterior: of all draws.
            clip: half-width over the predictive standard deviation.
        """
        n, half_range, least = self.n, self.half_range, 2 * NARROWEST * self.half_range
        means = np.stack([state.mean[:, :n] for state in posterior.states], axis=1)
        variances = np.stack([state.variance[:, :n] for state in posterior.states], axis=1)
        g = np.einsum("dm,dmj->dj", posterior.weights, means)
        square = np.einsum("dm,dmj->dj", posterior.weights, variances + (means - g[:, None]) ** 2)
        half_width = np.maximum(clip * np.sqrt(square), NARROWEST * half_range)
        low = np.clip(g - half_width, -half_range, half_range - least)
        high = np.clip(g + half_width, low + least, half_range)
        return low, np.maximum(high, low + least)

    def next_stage(
        self, posterior: Posterior[tuple[State, ...]], stage: PlannedStage, s: float, first: bool
    ) -> tuple[Observation, None]:
        """Intervals of the half-width that leaves least variance of f at the test inputs; of each draw its own."""
        B, widths = stage.planned.B, stage.widths
        intervals = [self.next_intervals(posterior, width) for width in widths]
        if len(widths) == 1:
            return Observation(B, *intervals[0], s), None
        variances = np.array([self._variance_after(posterior, Observation(B, *ends, s)) for ends in intervals])
        chosen = widest(variances, DRAWN_TIED * (self._variance(posterior) - variances.min(axis=0)))
        low, high = (np.choose(chosen[:, None], list(ends)) for ends in zip(*intervals, strict=True))
        return Observation(B, low, high, s), None

    def _variance(self, posterior: Posterior[tuple[State, ...]]) -> FloatArray:
        """Variance of f, summed over the test inputs, under each draw's likeliest model (D,)."""
        each = enumerate(posterior.weights.argmax(axis=1))
        return np.array([posterior.states[m].variance[d, self.tests].sum() for d, m in each])

    def _variance_after(self, posterior: Posterior[tuple[State, ...]], query: Observation) -> FloatArray:
        """The same after a stage; it does not depend on z."""
        assert posterior.scatter is not None
        likeliest = posterior.weights.argmax(axis=1)
        variance = np.empty(len(likeliest))
        for m in np.unique(likeliest):
            d = np.flatnonzero(likeliest == m)
            one = replace(self, models=(self.models[m],), kernels=(0,))
            state = State(*(part[d] for part in posterior.states[m]))
            before = Posterior((state,), posterior.scatter[d], posterior.weights[d])
            observation = query._replace(low=query.low[d], high=query.high[d], z=np.zeros((len(d), len(query.B))))
            variance[d] = one.updated(before, observation)[0].variance[:, self.tests].sum(axis=1)
        return variance

    def predict(self, posterior: Posterior[tuple[State, ...]]) -> Mixture:
        """The models' predictions at the test inputs; variances stay above the prior's rounding."""
        pairs = list(zip(self.models, posterior.states, strict=True))
        variances = [np.maximum(state.variance[:, self.tests], 1e-14 * float(m.variance.max())) for m, state in pairs]
        return Mixture(
            means=np.stack([state.mean[:, self.tests] for state in posterior.states], axis=1),
            variances=np.stack(variances, axis=1),
            noise_variances=np.array([model.noise_variance for model in self.models]),
            weights=posterior.weights,
            fit=self.fit(posterior) if self.biased else (),
        )

    def shared(self, posterior: Posterior[tuple[State, ...]]) -> tuple[FloatArray, ...]:
        """See ``Filter``."""
        return tuple(state.shared[0][:, self.tests] for state in posterior.states)

    def distance_filter(self) -> RecordFilter:
        """See ``Filter``; nothing is cut off at the ends of their range."""
        assert self.public is not None
        return record_filter(
            spread_models(self.public.x_box),
            self.X,
            self.X_test,
            public=Public(self.public.x_box, 1.0),
            tolerance=_LOOSE,
        )


def record_filter(
    models: Sequence[Model],
    X: FloatArray,
    X_test: FloatArray,
    *,
    public: Public | None = None,
    tolerance: float | None = None,
) -> RecordFilter:
    """Every model at records X (n, D) and test inputs X_test (P, D); models of one kernel share their features.

    Pivots are chosen among the records only: given f there, the rest of f at a test input is independent of y.

    Args:
        public: of the table. None: stages are read as if outcomes were normal, and clipping them no more than that.
        tolerance: share of the prior variance at the records that features may leave out; the rest counts as
            noise. None: next to nothing.
    """
    tolerance = (_EXACT if len(X) <= _MANY else _LOOSE) if tolerance is None else tolerance
    numbers = {kernel: i for i, kernel in enumerate(dict.fromkeys(model.kernel for model in models))}
    features = {kernel: _features(kernel, X, X_test, tolerance) for kernel in numbers}
    psi = np.zeros((len(X), 0)) if public is None else bias_features(public.x_box, X)
    return RecordFilter(
        models=tuple(_record_model(model, psi, *features[model.kernel]) for model in models),
        kernels=tuple(numbers[model.kernel] for model in models),
        n=len(X),
        X=X,
        X_test=X_test,
        public=public,
        psi=psi,
        half_range=1.0 if public is None else public.half_range,
        two_valued=public is not None and public.kind == "yes/no",
    )


def _features(kernel: Kernel, X: FloatArray, X_test: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """Phi and the prior variance at records and test inputs."""
    low_rank = factorise(kernel, X, tolerance)
    phi = np.vstack([low_rank.features.values(), low_rank.features.at(X_test).values()])
    return phi, np.concatenate([kernel.diagonal(X), kernel.diagonal(X_test)])


def _record_model(model: Model, psi: FloatArray, phi: FloatArray, prior: FloatArray) -> RecordModel:
    """The model at inputs where phi (n + P, k) and the prior variance of f (n + P,) are these."""
    n, q = psi.shape
    residual = np.maximum(prior - np.einsum("ij,ij->i", phi, phi), 0.0)
    variance = np.concatenate([prior, np.ones(q)])
    variance[:n] += model.noise_variance
    return RecordModel(
        phi=block_diag(phi, np.eye(q)) if q else phi,
        noise=model.noise_variance + residual[:n],
        variance=variance,
        noise_variance=model.noise_variance,
        weight=model.weight,
    )


def _updated(
    model: RecordModel,
    state: State,
    B: FloatArray,
    ends: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    loadings: FloatArray,
    s: float,
    z: FloatArray,
) -> State:
    """One model's state after a stage, where z depends on the bias b by ``loadings`` (D, r, q)."""
    low, high, width, middle = ends
    n, q = len(model.noise), loadings.shape[-1]
    k, gain, extra = clipped(state.mean[:, :n], state.variance[:, :n], low, high)
    A = B * (gain / width)[:, None]
    b, same = slice(len(model.variance) - q, None), SAME**0.5 * loadings
    # Cov(A y + same b, (y, f, b) | stages before), y at the records and f at the test inputs
    cross = (A @ model.phi[:n] + same @ model.phi[b]) @ model.phi.T
    cross[..., :n] += A * model.noise
    cross -= (A @ state.shared[..., :n].swapaxes(1, 2) + same @ state.shared[..., b].swapaxes(1, 2)) @ state.shared
    scaled = B * (np.sqrt(extra) / width)[:, None]
    S = cross[..., :n] @ A.swapaxes(1, 2) + cross[..., b] @ same.swapaxes(1, 2) + s**2 * np.eye(len(B))
    S += scaled @ scaled.swapaxes(1, 2) + (1 - SAME) * loadings @ loadings.swapaxes(1, 2)
    L = _roots(S, s**2)
    surprise = z - ((k - middle) / width) @ B.T - (same @ state.mean[:, b, None])[..., 0]
    # S >= s^2 I: the inverse of L is as accurate as solving with it, and a product is faster
    whitened = np.linalg.inv(L) @ np.concatenate([surprise[..., None], cross], axis=-1)
    w, Q = whitened[..., 0], whitened[..., 1:]
    half_log_det = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    square = (w * w).sum(axis=1)
    log_density = -0.5 * square - half_log_det - 0.5 * len(B) * _LOG_TWO_PI
    return State(
        state.mean + (w[:, None] @ Q)[:, 0],
        state.variance - np.einsum("dri,dri->di", Q, Q),
        np.concatenate([state.shared, Q], axis=1),
        state.log_evidence + log_density,
        np.column_stack([state.misfit, square]),
    )


def _roots(S: FloatArray, least: float) -> FloatArray:
    """Cholesky factors of each draw's S (D, r, r), which rounding may have made indefinite."""
    try:
        return np.asarray(np.linalg.cholesky(S), dtype=float)
    except np.linalg.LinAlgError:
        return np.stack([sturdy_cholesky(each, least) for each in S])


def leading(model: RecordModel, state: State, least: float) -> tuple[RecordModel, State]:
    """The model and the state of one draw with Phi Phi^T - Q^T Q replaced by its leading eigenvectors.

    In units of the noise, these two terms have few eigenvalues that are not next to 0, however many features and
    measurements there are. Only plans of very many records rest on them: any plan is private, and predictions
    from its numbers are computed with all of them. With D the noise at the records, its mean at test inputs, and
    R = [Phi, Q^T], S = diag(+1 ..., -1 ...): R^T D^-1 R = W diag(g) W^T, and R S R^T has the eigenvalues of
    diag(sqrt g) W^T S W diag(sqrt g) in units of D.

    Args:
        model: at records and test inputs.
        state: of one draw, whose variances are kept.
        least: eigenvalue, in units of the noise, up to which a direction is left out.
    """
    Q, n = state.shared[0], len(model.noise)
    R = np.hstack([model.phi, Q.T])
    signs = np.repeat([1.0, -1.0], [model.phi.shape[1], len(Q)])
    sd = np.sqrt(np.concatenate([model.noise, np.full(len(R) - n, model.noise.mean())]))
    scaled = R / sd[:, None]
    g, W = np.linalg.eigh(scaled.T @ scaled)
    kept = g > _ROUNDING * g[-1]
    g, W = g[kept], W[:, kept]
    inner = (W * np.sqrt(g)).T @ (signs[:, None] * W * np.sqrt(g))
    values, V = np.linalg.eigh(inner)
    long = np.abs(values) > least
    values = values[long]
    root: FloatArray = R @ ((W / np.sqrt(g)) @ (V[:, long] * np.sqrt(np.abs(values))))
    return replace(model, phi=root[:, values > 0]), state._replace(shared=root[:, values < 0].T[None])
