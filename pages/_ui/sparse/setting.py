"""The sparse DP-GP page: public settings, and the parts of the data that fits are judged on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from datasets import exhibit
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking, SparseVariational
from pages._ui.left_out import folds_of

LEVELS: FloatArray = np.linspace(0.05, 0.95, 19)
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
        methods: tuple[Method, ...] = ("ours", "paper")
        sparse = [((method, self), self.mechanism(method).guarantee.for_unit(unit)) for method in methods]
        return [*sparse, (("bayes", self), self.bayes().guarantee.for_unit(unit))]

    def bayes(self, epsilon: float | None = None) -> BayesCloaking:
        """The contender, which protects the same, at this or another epsilon; its models are automatic."""
        at = self.epsilon if epsilon is None else epsilon
        return BayesCloaking(epsilon=at, delta=self.delta, protects="inputs and outputs")


def load(name: str) -> Dataset:
    """The page's data: those of other pages, unless the dataset says otherwise."""
    shipped = exhibit(name)
    return ((shipped.sparse and shipped.sparse.load) or shipped.load)()


def parts(dataset: Dataset) -> list[tuple[Dataset, Dataset]]:
    """Those who are fitted and those who are left out, of each public fold."""
    everybody = np.arange(dataset.n)
    return [(dataset.subset(np.delete(everybody, test)), dataset.subset(test)) for test in folds_of(dataset)]
