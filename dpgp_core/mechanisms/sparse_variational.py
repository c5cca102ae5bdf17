"""Sparse variational DP-GP: Gaussian noise on two sums over records, which protects inputs as well as outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ..accounting.gaussian import noise_multiplier
from ..accounting.guarantee import OTHER_ROWS, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.grid import Grid, check_bins
from ..gp.inducing import Features, declared_inputs, inducing_root, row_blocks, whitened_features
from ..gp.uncertainty import NoInterval, Uncertainty
from ..kernels import Stationary
from ..sparse.posterior import (
    Covariance,
    CurveSimulation,
    PriorSimulation,
    SparseFit,
    SparseInterval,
    errors_in_variables,
    paper_posterior,
)
from ..sparse.statistics import (
    IntegerSums,
    NoiseScales,
    NoisyStatistics,
    clip_norms,
    integer_sums,
    kernel_norm_bound,
    noise_scales,
    noisy,
)
from ..table import Dataset
from .base import ANY_ROWS, Draws, Mechanism, NoiselessCurve, NotPrivate, Release

ONE_RECORD = "one record (input and output) replaced, n public"
ASSUMPTIONS = (
    "kernel, noise variance and inducing inputs are fixed in advance or chosen without the private records",
    "the number of records and the test points are public",
    "inputs are clipped to a box, and outputs to bounds, declared without looking at them",
)
NOT_COVERED = (
    "whether somebody is in the data: the number of records is public",
    OTHER_ROWS,
    "settings chosen after looking at results, unless by a private selection that the ledger counts",
    "further releases, unless the ledger adds them up",
)


@dataclass(frozen=True, kw_only=True)
class SparseVariational(Mechanism):
    """Release A = sum y phi and B = sum phi phi^T with Gaussian noise. The posterior is computed by post-processing.

    There are two variants. "whitened" has features phi = L^-1 k(Z, x), |phi|^2 <= v, and the errors-in-variables
    posterior. "paper" has features phi = k(Z, x), |phi| <= R_k, and the regularised posterior of the paper.

    Args:
        epsilon: budget of one release.
        delta: delta of this budget.
        kernel: stationary prior covariance of f.
        noise_variance: variance of an output about f, in squared model units.
        Z: public inducing inputs, m rows of D numbers, in input units. Give either these or ``n_inducing``.
        n_inducing: number of inducing inputs along each dimension (D,), or one number for all. They are the centres of
            as many equal cells of the public box.
        variant: "whitened" (default) or "paper".
        covariance: posterior covariance of the variant "paper", see ``paper_posterior``.

    Raises:
        ValueError: a parameter is out of range, or both or neither of Z and n_inducing are given.

    Source: Honkela & Melkas 2021; "whitened" is this project's.
    """

    epsilon: float
    delta: float
    kernel: Stationary
    noise_variance: float
    Z: Sequence[Sequence[float]] | None = None
    n_inducing: int | Sequence[int] | None = None
    variant: Literal["whitened", "paper"] = "whitened"
    covariance: Covariance = "full"

    label: ClassVar[str] = "Sparse DP-GP"
    reference: ClassVar[str] = "Honkela & Melkas 2021"
    uses_cells: ClassVar[bool] = True
    max_rows: ClassVar[int] = ANY_ROWS

    def __post_init__(self) -> None:
        _ = self.noise_multiplier
        check_positive("noise_variance", self.noise_variance)
        choices = {
            "variant": ("whitened", "paper"),
            "covariance": ("full", "paper", "naive") if self.variant == "paper" else ("full",),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                options = " or ".join(map(repr, allowed))
                raise ValueError(f"{name} must be {options} for variant={self.variant!r}, got {getattr(self, name)!r}")
        object.__setattr__(self, "Z", declared_inputs(self.Z, self.n_inducing, different=True))
        if self.n_inducing is not None:
            object.__setattr__(self, "n_inducing", check_bins(self.n_inducing))

    @cached_property
    def noise_multiplier(self) -> float:
        """Noise multiplier s of the analytic Gaussian mechanism for this budget."""
        return noise_multiplier(self.epsilon, self.delta)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release. It is known before any data are read."""
        return Guarantee(
            budget=Budget(epsilon=self.epsilon, delta=self.delta),
            loss=GaussianLoss(1 / self.noise_multiplier),
            protects="inputs and outputs",
            neighbours=ONE_RECORD,
            unit="one record",
            theorem="Honkela & Melkas 2021, theorem 2, with the sensitivity proven in sparse/statistics.py; "
            "analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            assumptions=ASSUMPTIONS,
            not_covered=NOT_COVERED,
        )

    @property
    def has_interval(self) -> bool:
        """Whether its releases have intervals."""
        return self.variant == "whitened"

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> CurveSimulation:
        """Return the public part of the intervals of the variant "whitened", which is computed when it is used.

        All plans of one mechanism for the same box and bounds share what does not depend on the test inputs.
        """
        key = dataset.x_box, dataset.half_range
        if key not in self._simulations:
            self._simulations[key] = PriorSimulation(
                kernel=self.kernel,
                Z=self.inducing_inputs(dataset),
                noise_variance=self.noise_variance,
                x_box=dataset.x_box,
                half_range=dataset.half_range,
            )
        return CurveSimulation(prior=self._simulations[key], X_test=X_test)

    @cached_property
    def _simulations(self) -> dict[Any, PriorSimulation]:
        """Simulations of the plans that were made, by box and bounds."""
        return {}

    def drawn(
        self, plan: CurveSimulation, dataset: Dataset, X_test: FloatArray, draws: Draws
    ) -> tuple[Release, NoiselessCurve]:
        """Release predictive means at X_test (P, D), in the unit of the output; see ``Mechanism``.

        Each row of ``samples`` is the predictive mean of one release of the statistics. ``mean`` of a simulated release
        is the prediction without noise.

        Raises:
            ValueError: X, X_test and Z differ in their number of columns.
        """
        sums, scales = self.integer_sums(dataset), self.noise(dataset)
        released = [noisy(sums, scales, draws.rng) for _ in range(draws.times)]
        fits = self.fits_of(released, dataset)
        psi, outcome = fits[0].posterior.features(X_test), dataset.outcome
        samples = np.stack([psi @ fit.posterior.weights for fit in fits]) * outcome.scale + outcome.midpoint
        uncertainty: Uncertainty = NoInterval(
            reason="the intervals of the published posterior cover less than their level; use variant='whitened'"
        )
        if self.has_interval:
            if plan.prior.half_range != dataset.half_range:  # bounds that are estimated are known only after the plan
                plan = self.plan_for(dataset, X_test)
            uncertainty = SparseInterval(fits=fits, simulation=plan, centre=samples)
        release = Release(
            X_test=X_test,
            samples=samples,
            guarantee=draws.guarantee,
            statistics=released,
            uncertainty=uncertainty,
        )

        def hidden() -> FloatArray:
            A, B = sums.values()
            silent = NoisyStatistics(A=A, B=B, noise=NoiseScales(sa=0.0, sb=0.0))
            return self.fit_statistics(silent, dataset).predict(X_test)[0]

        return release, hidden

    def fit(self, dataset: Dataset, rng: np.random.Generator | None = None) -> SparseFit:
        """Release the statistics once and return a fit. Predictions from the fit, at any inputs, spend nothing more.

        Raises:
            ValueError: X and Z differ in their number of columns.
        """
        sums, scales = self.integer_sums(dataset), self.noise(dataset)
        return self.fit_statistics(noisy(sums, scales, rng), dataset)

    def fit_statistics(self, released: NoisyStatistics, dataset: Dataset) -> SparseFit:
        """Return the fit for released statistics. It uses only the public part of ``dataset``."""
        [fit] = self.fits_of([released], dataset)
        return fit

    def fits_of(self, released: Sequence[NoisyStatistics], dataset: Dataset) -> list[SparseFit]:
        """Return the fits for the statistics of several releases; see ``fit_statistics``."""
        Z, guarantee = self.inducing_inputs(dataset), self.guarantee_for(dataset)
        root = inducing_root(self.kernel, Z)
        model = self.kernel, Z, root, self.noise_variance
        posteriors = [
            errors_in_variables(each, *model)
            if self.variant == "whitened"
            else paper_posterior(each, *model, self.covariance)
            for each in released
        ]
        return [
            SparseFit(statistics=each, posterior=posterior, outcome=dataset.outcome, guarantee=guarantee)
            for each, posterior in zip(released, posteriors, strict=True)
        ]

    def exact_statistics(self, dataset: Dataset) -> tuple[NotPrivate, NotPrivate]:
        """Return A (m,) and B (m, m) without noise, computed from clipped inputs, outputs and features. Not private."""
        A, B = self.integer_sums(dataset).values()
        return NotPrivate(A), NotPrivate(B)

    def integer_sums(self, dataset: Dataset) -> IntegerSums:
        """Return A and B without noise as integer sums, computed in one pass over the records. They are not private."""
        blocks, m = row_blocks(dataset.X, dataset.standardised()), len(self.inducing_inputs(dataset))
        return integer_sums(self.features(dataset), blocks, m, dataset.half_range, self.feature_bound(dataset))

    def features(self, dataset: Dataset) -> Features:
        """Return the function from inputs to features: inputs are clipped to the public box, features to their bound.

        Making this function uses no private value.
        """
        Z, R_phi = self.inducing_inputs(dataset), self.feature_bound(dataset)
        root = inducing_root(self.kernel, Z)
        low, high = np.array(dataset.x_box).T

        def features(X: FloatArray) -> FloatArray:
            x = np.clip(X, low, high)
            raw = whitened_features(self.kernel, Z, root, x) if self.variant == "whitened" else self.kernel(x, Z)
            return clip_norms(raw, R_phi)

        return features

    def noise(self, dataset: Dataset) -> NoiseScales:
        """Return the scales of the noise for the public bounds of a data set, in model units."""
        return noise_scales(self.noise_multiplier, dataset.half_range, self.feature_bound(dataset))

    def feature_bound(self, dataset: Dataset) -> float:
        """Return the bound to which |phi| is clipped: sqrt(v) for "whitened", R_k for "paper"."""
        if self.variant == "whitened":
            return float(np.sqrt(self.kernel.variance))
        return kernel_norm_bound(self.kernel, self.inducing_inputs(dataset))

    def inducing_inputs(self, dataset: Dataset) -> FloatArray:
        """Return the inducing inputs (m, D): those given, or the centres of the cells of the public box."""
        if self.n_inducing is None:
            return np.array(self.Z, dtype=float)
        return Grid(box=dataset.x_box, bins=self.n_inducing).centres
