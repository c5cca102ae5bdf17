"""The sparse DP-GP page: fits, calibration, errors against epsilon, and the choice of hyperparameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from datasets import exhibit
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.errors import coverage, nlpd, rmse
from dpgp_core.gp.uncertainty import Of
from dpgp_core.gp.variational import posterior
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, SparseVariational
from dpgp_core.selection.hyperparameters import Candidate, HyperparameterChoice, choose_by_evidence, choose_jointly
from dpgp_core.selection.repeated import choose_liu_talwar
from dpgp_core.sparse.interval import SparseInterval
from dpgp_core.sparse.statistics import add_noise
from pages._ui.sparse import contender
from pages._ui.sparse.contender import Shown

SPLIT_SEED = 0  # public
REPEATS = 20
CURVE_EPSILONS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
CHOICE_EPSILONS = (1.0, 3.0, 10.0, 30.0)
CHOICE_REPEATS = 6
LEVELS: FloatArray = np.linspace(0.05, 0.95, 19)
GRID_POINTS = 161
FACTORS = (0.5, 1.0, 2.0)  # of the lengthscale and of the noise variance: the candidates of a private choice
LEVEL = 0.95
KINDS: tuple[Of, ...] = ("outputs", "function")
Method = Literal["ours", "paper", "naive"]
METHODS: tuple[Method, ...] = ("ours", "paper", "naive")
Contender = Literal["ours", "paper", "naive", "bayes"]
"""The sparse DP-GP's variants, and Bayes cloaking, which protects the same."""


@dataclass(frozen=True)
class SparseSetting:
    """Public settings: data, model, inducing inputs along each dimension, budget and seed.

    Attributes:
        dataset: name in ``datasets.EXHIBITS``.
        lengthscale: of the EQ kernel, of the first input; others in public proportion.
        noise: noise variance over kernel variance.
        inducing: inducing inputs along each dimension of the public box.
        epsilon, delta: of one release.
        seed: of the noise.
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
        """EQ kernel, unit variance in model units."""
        return EQ(lengthscale=tuple(self.lengthscale * ratio for ratio in exhibit(self.dataset).ratios))

    def mechanism(self, method: Method = "ours", epsilon: float | None = None) -> SparseVariational:
        """The release of a method at this or another epsilon."""
        ours = SparseVariational(
            epsilon=self.epsilon if epsilon is None else epsilon,
            delta=self.delta,
            kernel=self.kernel,
            noise_variance=self.noise,
            n_inducing=self.inducing,
        )
        if method == "ours":
            return ours
        return replace(ours, variant="paper", covariance="paper" if method == "paper" else "naive")

    def released(self, unit: str) -> list[tuple[object, Guarantee]]:
        """What the page's picture and table publish: a release of ours, one of the paper's, one of Bayes cloaking."""
        shown: tuple[Method, ...] = ("ours", "paper")
        sparse = [((method, self), self.mechanism(method).guarantee.for_unit(unit)) for method in shown]
        return [*sparse, (("bayes", self), self.bayes().guarantee.for_unit(unit))]

    def bayes(self, epsilon: float | None = None) -> BayesCloaking:
        """The contender at this or another epsilon."""
        return contender.mechanism(self.epsilon if epsilon is None else epsilon, self.delta)


def load(name: str) -> Dataset:
    """The page's data: those of other pages, unless the dataset says otherwise."""
    shown = exhibit(name)
    return ((shown.sparse and shown.sparse.load) or shown.load)()


def split(dataset: Dataset) -> tuple[Dataset, Dataset]:
    """Public halves: fitted, and held out."""
    order = np.random.default_rng(SPLIT_SEED).permutation(dataset.n)
    return dataset.subset(order[::2]), dataset.subset(order[1::2])


@dataclass(frozen=True, eq=False)
class Fits:
    """Private fits along the first input, and the non-private one.

    Attributes:
        dataset: all records.
        x: grid (P,), first input; other inputs stand at the middle of their box.
        means: private prediction of each method (P,); may be published.
        halves: of ours, halves of the intervals of ``LEVEL`` for the curve and for one more output (P,); the paper's
            posterior does not hold at its level, so it has none.
        plain: non-private sparse mean (P,).
        inducing: first coordinates of the inducing inputs.
        rmse: held-out RMSE of each method's fit on half the records, and ``plain`` without privacy. Not private.
        coverage: share of held-out outputs inside each central interval, per method (19,). Not private.
        bayes: the release of Bayes cloaking; may be published.
    """

    dataset: Dataset
    x: FloatArray
    means: dict[Method, FloatArray]
    halves: dict[Of, FloatArray]
    plain: FloatArray
    inducing: FloatArray
    rmse: dict[str, float]
    coverage: dict[Contender, FloatArray]
    bayes: Shown


def grid_of(dataset: Dataset) -> FloatArray:
    """Points (P, D) along the first input, the others at the middle of the public box."""
    low, high = np.array(dataset.x_box).T
    points = np.tile((low + high) / 2, (GRID_POINTS, 1))
    points[:, 0] = np.linspace(low[0], high[0], GRID_POINTS)
    return points


def fits(setting: SparseSetting) -> Fits:
    """One release of every method on all records; calibration on held-out halves, averaged over releases."""
    data = load(setting.dataset)
    points = grid_of(data)
    made = {
        method: setting.mechanism(method).release(data, points, np.random.default_rng(setting.seed))
        for method in METHODS
    }
    ends = {of: made["ours"].interval(LEVEL, of) for of in KINDS}
    Z = setting.mechanism().inducing_inputs(data)
    plain, _ = posterior(setting.kernel, data.X, data.standardised(), points, Z, setting.noise)
    train, test = split(data)
    held, _ = posterior(setting.kernel, train.X, train.standardised(), test.X, Z, setting.noise)
    errors: dict[str, float] = {"plain": float(rmse(train.in_data_units(held), test.clipped_y))}
    inside: dict[Contender, FloatArray] = {}
    for method in METHODS:
        errors[method], _, inside[method] = held_out(setting, method, setting.epsilon, train, test)
    inside["ours"] = coverage_of_intervals(setting, train, test)
    other = contender.held_out(setting.bayes(), train, test, LEVELS.tolist(), setting.seed)
    errors["bayes"], inside["bayes"] = other.rmse, other.inside
    return Fits(
        dataset=data,
        x=points[:, 0],
        means={method: release.samples[0] for method, release in made.items()},
        halves={of: (high - low)[0] / 2 for of, (low, high) in ends.items()},
        plain=data.in_data_units(plain),
        inducing=np.unique(Z[:, 0]),
        rmse=errors,
        coverage=inside,
        bayes=contender.shown(setting.bayes(), data, points, setting.seed),
    )


def held_out(
    setting: SparseSetting, method: Method, epsilon: float, train: Dataset, test: Dataset
) -> tuple[float, float, FloatArray]:
    """Mean held-out RMSE, log-likelihood per record, and coverage (19,) over ``REPEATS`` simulated releases."""
    mechanism = setting.mechanism(method, epsilon)
    sums = mechanism.exact_statistics(train)
    errors, likelihoods, inside = [], [], []
    for repeat in range(REPEATS):
        rng = np.random.default_rng([setting.seed, repeat, 7])
        fit = mechanism.fit_statistics(add_noise(*sums, mechanism.noise(train), rng), train)
        mean, variance = fit.predict(test.X)
        total = variance + setting.noise * train.y_scale**2
        errors.append(float(rmse(mean, test.clipped_y)))
        likelihoods.append(-nlpd(mean, total, test.clipped_y))
        inside.append([coverage(mean, total, test.clipped_y, float(level)) for level in LEVELS])
    return float(np.mean(errors)), float(np.mean(likelihoods)), np.mean(inside, axis=0)


def coverage_of_intervals(setting: SparseSetting, train: Dataset, test: Dataset) -> FloatArray:
    """Share of held-out outputs inside our intervals of each level (19,) over ``REPEATS`` releases. Not private."""
    release = setting.mechanism().release(train, test.X, np.random.default_rng([setting.seed, 8]), REPEATS)
    assert isinstance(release.uncertainty, SparseInterval)
    reached = release.uncertainty.level_of(test.clipped_y, "outputs")
    return np.asarray((reached.ravel() <= LEVELS[:, None]).mean(axis=1))


@dataclass(frozen=True, eq=False)
class Curves:
    """Held-out error and log-likelihood over ``CURVE_EPSILONS`` for each method. Not private."""

    dataset: Dataset
    rmse: dict[Contender, FloatArray]
    likelihood: dict[Contender, FloatArray]
    plain: float


def curves(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Curves:
    """Errors at every epsilon: our variant, the paper's, and Bayes cloaking."""
    data = load(setting.dataset)
    train, test = split(data)
    Z = setting.mechanism().inducing_inputs(data)
    held, _ = posterior(setting.kernel, train.X, train.standardised(), test.X, Z, setting.noise)
    errors: dict[Contender, FloatArray] = {}
    likelihood: dict[Contender, FloatArray] = {}
    compared: tuple[Contender, ...] = ("ours", "paper", "bayes")
    for method in compared:
        found: list[tuple[float, float]] = []
        for epsilon in CURVE_EPSILONS:
            found.append(_judged(setting, method, epsilon, train, test))
            progress((len(errors) + len(found) / len(CURVE_EPSILONS)) / len(compared))
        errors[method] = np.array([each[0] for each in found])
        likelihood[method] = np.array([each[1] for each in found])
    return Curves(data, errors, likelihood, float(rmse(train.in_data_units(held), test.clipped_y)))


def _judged(
    setting: SparseSetting, method: Contender, epsilon: float, train: Dataset, test: Dataset
) -> tuple[float, float]:
    if method == "bayes":
        found = contender.held_out(setting.bayes(epsilon), train, test, (), setting.seed)
        return found.rmse, found.likelihood
    return held_out(setting, method, epsilon, train, test)[:2]


@dataclass(frozen=True, eq=False)
class Choices:
    """What private choices of hyperparameters lead to, over ``CHOICE_EPSILONS``. Not private.

    Attributes:
        rmse: mean held-out RMSE after each choice (E,), by name.
        lengthscales: share of choices for each candidate lengthscale (E, 3), by name; refusals count for none.
        candidates: lengthscales of the first input.
    """

    dataset: Dataset
    rmse: dict[str, FloatArray]
    lengthscales: dict[str, FloatArray]
    candidates: tuple[float, ...]


CHOOSERS: dict[
    str, Callable[[SparseVariational, list[Candidate], Dataset, np.random.Generator], HyperparameterChoice]
] = {
    "Evidence: free (ours)": choose_by_evidence,
    "All kernels together, exponential mechanism": choose_jointly,
    "Liu-Talwar (the paper)": lambda mechanism, candidates, data, rng: choose_liu_talwar(
        replace(mechanism, variant="paper"), candidates, data, rng
    ),
}


def choices(setting: SparseSetting, progress: Callable[[float], None] = lambda _: None) -> Choices:
    """Choose lengthscale and noise variance privately, several times at every epsilon."""
    data = load(setting.dataset)
    train, test = split(data)
    ratios = exhibit(setting.dataset).ratios
    lengthscales = tuple(setting.lengthscale * factor for factor in FACTORS)
    grid = [
        Candidate(
            kernel=EQ(lengthscale=tuple(length * ratio for ratio in ratios)), noise_variance=setting.noise * factor
        )
        for length in lengthscales
        for factor in FACTORS
    ]
    errors: dict[str, FloatArray] = {}
    shares: dict[str, FloatArray] = {}
    for name, choose in CHOOSERS.items():
        errors[name] = np.zeros(len(CHOICE_EPSILONS))
        shares[name] = np.zeros((len(CHOICE_EPSILONS), len(FACTORS)))
        for i, epsilon in enumerate(CHOICE_EPSILONS):
            base = replace(setting.mechanism(epsilon=epsilon), kernel=grid[0].kernel)
            found = []
            for repeat in range(CHOICE_REPEATS):
                choice = choose(base, grid, train, np.random.default_rng([setting.seed, repeat, i]))
                mean = np.full(test.n, test.midpoint) if choice.fit is None else choice.fit.predict(test.X)[0]
                found.append(float(rmse(mean, test.clipped_y)))
                if choice.index is not None:
                    shares[name][i, choice.index // len(FACTORS)] += 1 / CHOICE_REPEATS
            errors[name][i] = np.mean(found)
            progress((len(errors) - 1 + (i + 1) / len(CHOICE_EPSILONS)) / len(CHOOSERS))
    return Choices(data, errors, shares, lengthscales)
