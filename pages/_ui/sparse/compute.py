"""Releases of the sparse page, and their errors on people left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import logsumexp

from datasets import exhibit
from datasets.exhibits import SparseDefaults
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation import comparison
from dpgp_core.evaluation.comparison import HeldOutFold, error_without_privacy, without_privacy
from dpgp_core.evaluation.errors import coverage, held_out_rmse, nlpd
from dpgp_core.gp.inducing import posterior
from dpgp_core.gp.uncertainty import IntervalTarget
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.sparse.posterior import SparseInterval
from dpgp_core.sparse.statistics import add_noise
from dpgp_core.table import Dataset
from pages._ui import left_out
from pages._ui.cloaking.results import along_first
from pages._ui.left_out import FOLDS, folds_of, released
from pages._ui.look.offers import EPSILONS
from pages._ui.model import Budget, Draw, usual
from pages._ui.work import cached
from pages._ui.work.cached import Prefetch

LEVELS: FloatArray = np.linspace(0.05, 0.95, 19)
Method = Literal["ours", "paper", "naive"]
METHODS: tuple[Method, ...] = ("ours", "paper", "naive")
Contender = Literal["ours", "paper", "naive", "bayes"]
CONTENDERS: tuple[Contender, ...] = (*METHODS, "bayes")
"""Variants of the sparse DP-GP, and Bayes cloaking, which protects the same."""


@dataclass(frozen=True)
class SparseSetting:
    """Public settings of the page.

    Attributes:
        dataset: name in ``datasets.EXHIBITS``.
        lengthscale: lengthscale of the EQ kernel for the first input; others are in public proportion.
        noise: noise variance over kernel variance.
        inducing: inducing inputs along each dimension of the public box.
        epsilon, delta: budget of one release.
        seed: seed of the noise.
    """

    dataset: str
    lengthscale: float
    noise: float
    inducing: int
    epsilon: float
    delta: float
    seed: int

    @property
    def kernel(self) -> EQ:
        """Return the EQ kernel with unit variance in model units."""
        return EQ(lengthscale=tuple(self.lengthscale * ratio for ratio in exhibit(self.dataset).ratios))

    def mechanism(self, method: Method = "ours") -> SparseVariational:
        """Return the mechanism of a method."""
        ours = SparseVariational(
            epsilon=self.epsilon,
            delta=self.delta,
            kernel=self.kernel,
            noise_variance=self.noise,
            n_inducing=self.inducing,
        )
        if method == "ours":
            return ours
        return replace(ours, variant="paper", covariance="paper" if method == "paper" else "naive")

    @property
    def budget(self) -> Budget:
        """Return the budget of Bayes cloaking, which protects the same."""
        return Budget(self.dataset, self.epsilon, self.delta, "inputs and outputs")

    def released(self, unit: str) -> list[tuple[object, Guarantee]]:
        """Return the releases in the page's figure and table: of our method, of the paper's, and of Bayes cloaking."""
        made = {"ours": self.mechanism(), "paper": self.mechanism("paper"), "bayes": self.budget.mechanism}
        return [((name, self), each.guarantee.for_unit(unit)) for name, each in made.items()]


def defaults(name: str) -> SparseDefaults:
    """Return the settings with which the page opens for a data set."""
    start = exhibit(name).sparse
    assert start is not None
    return start


def load(name: str) -> Dataset:
    """Return the page's data: those of other pages, unless the data set says otherwise."""
    return (defaults(name).load or exhibit(name).load)()


def loaded(name: str) -> Dataset:
    """Return the result of ``load``, computed once for everybody."""
    return cached.value("Loading the data", load, name, here=True)


@dataclass(frozen=True, eq=False)
class _About:
    """A result about one of the page's data sets, of which it keeps only the name."""

    name: str

    @property
    def dataset(self) -> Dataset:
        """Return all records."""
        return loaded(self.name)


def parts(dataset: Dataset) -> list[HeldOutFold]:
    """Return each public fold: the people to fit, and those left out."""
    return comparison.left_out(dataset, folds_of(dataset))


GRID_POINTS = 161
LEVEL = 0.95
KINDS: tuple[IntervalTarget, ...] = ("outputs", "function")


@dataclass(frozen=True, eq=False)
class Shown:
    """A release that may be published.

    Attributes:
        mean: mean of the curve (P,), in the output's unit.
        low, high: ends of its interval at ``LEVEL``.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class Fits(_About):
    """Private fits along the first input, and the non-private one.

    Attributes:
        x: grid (P,) of the first input; other inputs are at the middle of their box.
        means: prediction of each method (P,) from a release; it may be published.
        halves: half-widths (P,) of our intervals of ``LEVEL`` for the curve and for one more output. The paper's
            posterior has none, because it does not cover at its level.
        plain: curve without privacy (P,). It is not private.
        inducing: first coordinates of the inducing inputs.
        rmse: error of each method on people left out. It is not private.
        plain_rmse: error of the sparse Gaussian process without privacy noise. It is not private.
        coverage: share of people left out inside each central interval, per method (19,). It is not private.
        bayes: release of Bayes cloaking; it may be published.
    """

    x: FloatArray
    means: dict[Method, FloatArray]
    halves: dict[IntervalTarget, FloatArray]
    plain: FloatArray
    inducing: FloatArray
    rmse: dict[Contender, float]
    plain_rmse: float
    coverage: dict[Contender, FloatArray]
    bayes: Shown


class Variants(NamedTuple):
    """Those fields of ``Fits`` that depend on the settings of the sparse model."""

    means: dict[Method, FloatArray]
    halves: dict[IntervalTarget, FloatArray]
    inducing: FloatArray
    rmse: dict[Method, float]
    plain_rmse: float
    coverage: dict[Method, FloatArray]


def _grid(data: Dataset) -> FloatArray:
    return np.linspace(*data.x_box[0], GRID_POINTS)


def fit_variants(data: Dataset, setting: SparseSetting) -> Variants:
    """Return a release of every variant from all records; errors and calibration are those on people left out."""
    points = along_first(data, _grid(data))
    made = {
        method: released(setting.mechanism(method), data, points, np.random.default_rng(setting.seed))
        for method in METHODS
    }
    ends = {of: made["ours"].interval(LEVEL, of) for of in KINDS}
    found = {each: judged(setting, each, data, () if each == "ours" else LEVELS.tolist()) for each in METHODS}
    return Variants(
        means={method: release.samples[0] for method, release in made.items()},
        halves={of: (high - low)[0] / 2 for of, (low, high) in ends.items()},
        inducing=np.unique(setting.mechanism().inducing_inputs(data)[:, 0]),
        rmse={name: each.rmse for name, each in found.items()},
        plain_rmse=with_nothing_hidden(setting, data),
        coverage={name: each.inside for name, each in found.items()} | {"ours": intervals_hold(setting, data)},
    )


def curve_without_privacy(data: Dataset, _name: str) -> FloatArray:
    """Return the curve without privacy on the grid (P,). It is not private, and depends on the data set alone."""
    return without_privacy(data, along_first(data, _grid(data)))


def release_bayes(data: Dataset, budget: Budget, seed: int) -> Shown:
    """Return a release of Bayes cloaking on the grid."""
    points = along_first(data, _grid(data))
    release = released(budget.mechanism, data, points, np.random.default_rng([seed, 3]))
    return Shown(release.samples[0], *(end[0] for end in release.interval(LEVEL, "function")))


REPEATS = 8
BAYES_DRAWS = 1  # about each fold of the people; each release plans its own stages
CURVE_EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class Judged(NamedTuple):
    """Performance on people left out, as the mean over simulated releases. It is not private.

    Attributes:
        rmse: error in the output's unit.
        likelihood: log-likelihood of one of these people.
        inside: share of outputs inside each central interval (19,).
    """

    rmse: float
    likelihood: float
    inside: FloatArray


class Simulated(NamedTuple):
    """Simulated releases that leave out one fold. They are not private.

    Attributes:
        residuals: residuals of each release at the people left out (draws, P).
        likelihood: mean log-likelihood of one of these people.
        inside: share of outputs inside each central interval.
    """

    residuals: FloatArray
    likelihood: float
    inside: Sequence[float] | FloatArray


def _judged(every: Sequence[Sequence[Simulated]]) -> Judged:
    """Return the mean over simulated releases, of which ``every`` has those of each fold."""
    residuals = [np.concatenate([each.residuals for each in fold]) for fold in every]
    likelihoods, inside = zip(*((each.likelihood, each.inside) for fold in every for each in fold), strict=True)
    return Judged(error_of(residuals), float(np.mean(likelihoods)), np.mean(inside, axis=0))


def judged(setting: SparseSetting, method: Method, data: Dataset, levels: Sequence[float] = ()) -> Judged:
    """Evaluate simulated releases on each fold of the people, with central intervals of these levels."""
    return _judged([[*_simulated(setting, *each, levels, method)] for each in enumerate(parts(data))])


def _simulated(
    setting: SparseSetting, index: int, fold: HeldOutFold, levels: Sequence[float], method: Method
) -> Iterator[Simulated]:
    """Evaluate ``REPEATS`` releases of a variant of the sparse DP-GP on one fold."""
    mechanism, train, truth = setting.mechanism(method), fold.train, fold.truth
    sums, noise = mechanism.exact_statistics(train), mechanism.noise(train)
    rngs = (np.random.default_rng([setting.seed, repeat, index, 7]) for repeat in range(REPEATS))
    for fit in mechanism.fits_of([add_noise(*sums, noise, rng) for rng in rngs], train):
        mean, variance = fit.predict(fold.X_test)
        total = variance + setting.noise * train.y_scale**2
        inside = [coverage(mean, total, truth, level) for level in levels]
        yield Simulated((mean - truth)[None], -nlpd(mean, total, truth), inside)


def simulate_bayes(data: Dataset, budget: Budget, seed: int, index: int) -> Simulated:
    """Evaluate ``BAYES_DRAWS`` releases of Bayes cloaking on one fold; the likelihood is that of the mixture of models.

    Whether the central interval of a level covers an output follows from the probability of smaller outputs. That of a
    clipped output may be anything beyond it.
    """
    fold = parts(data)[index]
    rng = np.random.default_rng([seed, index, 5])
    release = released(budget.mechanism, fold.train, fold.X_test, rng, BAYES_DRAWS)
    mixture, y = release.uncertainty.prediction, (fold.truth - data.midpoint) / data.y_scale
    sd = np.sqrt(mixture.variances + mixture.noise_variances[:, None])
    density = -(((y - mixture.means) / sd) ** 2) / 2 - np.log(sd * np.sqrt(2 * np.pi))
    each = logsumexp(density, axis=1, b=mixture.weights[:, :, None])
    below, (low, high) = mixture.probability_below(y), data.y_bounds
    away = np.select([fold.truth <= low, fold.truth >= high], [0.5 - below, below - 0.5], np.abs(below - 0.5))
    inside = (away.ravel() <= LEVELS[:, None] / 2).mean(axis=1)
    return Simulated(release.samples - fold.truth, float(each.mean() - np.log(data.y_scale)), inside)


def bayes_requests(setting: SparseSetting) -> list[Prefetch]:
    """Return the requests for all folds of ``simulate_bayes``."""
    data = loaded(setting.dataset)
    return [Prefetch(simulate_bayes, (setting.budget, setting.seed, index), (data,)) for index in range(FOLDS)]


def intervals_hold(setting: SparseSetting, data: Dataset) -> FloatArray:
    """Return the coverage (19,) of our intervals of each level on people left out over ``REPEATS`` releases. It is not
    private.
    """
    inside = []
    mechanism = setting.mechanism()
    for index, fold in enumerate(parts(data)):
        rng = np.random.default_rng([setting.seed, index, 8])
        release = released(mechanism, fold.train, fold.X_test, rng, REPEATS)
        assert isinstance(release.uncertainty, SparseInterval)
        reached = release.uncertainty.level_of(fold.truth)
        inside.append(np.asarray((reached.ravel() <= LEVELS[:, None]).mean(axis=1)))
    return np.asarray(np.mean(inside, axis=0))


def with_nothing_hidden(setting: SparseSetting, data: Dataset) -> float:
    """Return the error of the sparse Gaussian process without privacy noise, in the output's unit. It is not
    private.
    """
    Z, residuals = setting.mechanism().inducing_inputs(data), []
    for fold in parts(data):
        X, y = fold.train.X, fold.train.standardised()
        mean, _ = posterior(setting.kernel, X, y, fold.X_test, Z, setting.noise)
        residuals.append(fold.train.in_data_units(mean)[None] - fold.truth)
    return error_of(residuals)


def best_without_privacy(name: str) -> float:
    """Return the error of the models of Bayes cloaking without privacy noise, in the output's unit. It is not
    private.
    """
    data = load(name)
    return error_without_privacy(data, folds_of(data))


def error_of(residuals: Sequence[FloatArray]) -> float:
    """Return the root mean square over all folds, as the mean over releases; residuals of each fold are (draws, P)."""
    return float(held_out_rmse(residuals).mean())


@dataclass(frozen=True, eq=False)
class Curves(_About):
    """Error and log-likelihood on people left out over ``CURVE_EPSILONS`` for each method. They are not private."""

    rmse: dict[Contender, FloatArray]
    likelihood: dict[Contender, FloatArray]
    plain: float


def errors_against_epsilon(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Curves:
    """Return the errors at every epsilon of our variant, and of the paper's."""
    data = load(setting.dataset)
    compared: tuple[Method, ...] = ("ours", "paper")
    curves: dict[Contender, list[Judged]] = {each: [] for each in compared}
    for done, (method, epsilon) in enumerate(product(compared, CURVE_EPSILONS), 1):
        curves[method].append(judged(replace(setting, epsilon=epsilon), method, data))
        progress(done / (len(compared) * len(CURVE_EPSILONS)))
    return Curves(setting.dataset, *_lines(curves), with_nothing_hidden(setting, data))


Lines = dict[Contender, FloatArray]


def _lines(curves: dict[Contender, list[Judged]]) -> tuple[Lines, Lines]:
    """Return errors and log-likelihoods at every epsilon."""
    errors: Lines = {name: np.array([each.rmse for each in curve]) for name, curve in curves.items()}
    return errors, {name: np.array([each.likelihood for each in curve]) for name, curve in curves.items()}


def is_compared(name: str) -> bool:
    """Return whether other pages show errors for the same records; this page then shows the same errors."""
    return exhibit(name).cross_validated and defaults(name).load is None


def _bayes_errors(setting: SparseSetting, epsilons: Sequence[float]) -> FloatArray:
    """Return the errors of Bayes cloaking as every page shows them (E,). They are not private."""
    budgets = (Budget(setting.dataset, each, setting.delta, "inputs and outputs") for each in epsilons)
    errors = (left_out.simulated_errors(each) for each in budgets)
    return np.array([each.errors.mean() for each in errors if each is not None])


def fits(setting: SparseSetting) -> Fits:
    """Return the fits with and without privacy. Bayes cloaking is simulated anew only if the budget or seed changes."""
    variants, plain, shown, *folds = cached.values("Fitting with and without privacy", _requests(setting))
    bayes = _judged([[each] for each in folds])
    error = float(_bayes_errors(setting, [setting.epsilon])[0]) if is_compared(setting.dataset) else bayes.rmse
    data = loaded(setting.dataset)
    return Fits(
        name=setting.dataset,
        x=_grid(data),
        means=variants.means,
        halves=variants.halves,
        plain=plain,
        inducing=variants.inducing,
        rmse={**variants.rmse, "bayes": error},
        plain_rmse=variants.plain_rmse,
        coverage={**variants.coverage, "bayes": bayes.inside},
        bayes=shown,
    )


def _requests(setting: SparseSetting) -> list[Prefetch]:
    """Return the requests for all parts of ``fits``."""
    data = loaded(setting.dataset)
    return [
        Prefetch(fit_variants, (setting,), (data,)),
        Prefetch(curve_without_privacy, (setting.dataset,), (data,)),
        *_of_bayes(setting),
    ]


def _of_bayes(setting: SparseSetting) -> list[Prefetch]:
    """Return the requests for a release of Bayes cloaking, and for its errors."""
    data = loaded(setting.dataset)
    return [Prefetch(release_bayes, (setting.budget, setting.seed), (data,)), *bayes_requests(setting)]


def curves(setting: SparseSetting) -> Curves:
    """Return the errors at every epsilon."""
    every = [replace(setting, epsilon=epsilon) for epsilon in CURVE_EPSILONS]
    requests = [request for each in every for request in bayes_requests(each)]
    found: Curves
    found, *folds = cached.values(
        "Releasing at every epsilon", [Prefetch(errors_against_epsilon, (setting,), ()), *requests]
    )
    bayes = [_judged([[each] for each in folds[at : at + FOLDS]]) for at in range(0, len(folds), FOLDS)]
    errors, likelihoods = _lines({"bayes": bayes})
    if is_compared(setting.dataset):
        errors = {"bayes": _bayes_errors(setting, CURVE_EPSILONS)}
    return replace(found, rmse=found.rmse | errors, likelihood=found.likelihood | likelihoods)


def opening(names: Sequence[str], draw: Draw) -> list[Prefetch]:
    """Return the results with which the page opens, for the first of its data sets, with Bayes cloaking at every
    epsilon; and those that depend on nothing but the data set, for all of them.
    """
    name = names[0]
    start, length = defaults(name), exhibit(name).lengthscale
    setting = SparseSetting(name, length, start.noise, start.start, draw.epsilon, draw.delta, draw.seed)
    fixed = [Prefetch(curve_without_privacy, (each,), (load(each),)) for each in names[1:]]
    fixed += [Prefetch(best_without_privacy, (each,), ()) for each in names if not is_compared(each)]
    every = [replace(setting, epsilon=epsilon) for epsilon in map(float, EPSILONS) if epsilon != draw.epsilon]
    return [*_requests(setting), *(request for each in every for request in _of_bayes(each)), *fixed]


def least_without_privacy(setting: SparseSetting, plain: float) -> float:
    """Return the error without privacy noise, or ``plain``, that of the sparse Gaussian process, if smaller. It is not
    private.
    """
    name = setting.dataset
    if is_compared(name):
        return min(plain, left_out.without_privacy(name, usual(name)))
    return min(plain, cached.value("Fitting without privacy", best_without_privacy, name))
