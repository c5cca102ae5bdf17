"""The attack page: what the best known attacks achieve, against what the guarantee allows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

import datasets
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.tradeoff import budget_tradeoff
from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import draw_releases, linear_attack, output_neighbours
from dpgp_core.attack.lira import Inputs, Shadows, attack_posterior_sampling
from dpgp_core.attack.roc import Roc
from dpgp_core.data import Dataset
from dpgp_core.kernels import Matern12
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.mechanisms.base import TeachingRelease
from pages._ui.model import Design, Draw, Model, mechanism_of
from pages._ui.work import cached

Target = Literal["paths", "cloaking", "gp_prior"]
RATES = (0.01, 0.05, 0.10)
CONFIDENCE = 0.95
_N = 10
_LENGTHSCALE = 1.0


@dataclass(frozen=True)
class PathAttack:
    """LiRA against posterior sampling in the published setting: n = 10, exponential kernel, target at 1/2."""

    r: float
    sigma: float
    L: int
    delta: float
    inputs: Inputs
    shadows: int
    seed: int

    @property
    def guarantee(self) -> Guarantee:
        """The promise for the L paths together."""
        sampling = PosteriorSampling(
            kernel=Matern12(lengthscale=_LENGTHSCALE),
            r=self.r,
            sigma=self.sigma,
            delta=self.delta,
            n=_N,
            x_box=((0.0, 1.0),),
        )
        return sampling.guarantee.repeated(self.L)


@dataclass(frozen=True)
class OutputAttack:
    """The likelihood-ratio attack on one Gaussian release, between the two bounds of its most exposed record."""

    model: Model
    mechanism: Literal["cloaking", "gp_prior"]
    draw: Draw
    trials: int

    @property
    def guarantee(self) -> Guarantee:
        """The promise of the release that is attacked."""
        promise: Guarantee = mechanism_of(self.model, Design(self.mechanism), self.draw).guarantee
        return promise.for_unit(datasets.exhibit(self.model.dataset).load().privacy_unit)


@dataclass(frozen=True, eq=False)
class Attacked:
    """Scores of an attack and what was promised.

    Attributes:
        roc: of the simulated attack.
        guarantee: the promise it is held against.
        epsilon_lower: what the releases prove about epsilon, at 95 % confidence.
        seconds: wall time of the attack.
    """

    roc: Roc
    guarantee: Guarantee
    epsilon_lower: float
    seconds: float


def attack_paths(attack: PathAttack) -> Attacked:
    """Fit and evaluate LiRA."""
    start = time.perf_counter()
    shadows = Shadows(r=attack.r, sigma=attack.sigma, L=attack.L, n=_N, lengthscale=_LENGTHSCALE, inputs=attack.inputs)
    roc = attack_posterior_sampling(shadows, np.random.default_rng(attack.seed), attack.shadows)
    seconds = time.perf_counter() - start
    return Attacked(roc, attack.guarantee, _lower_bound(roc, attack.delta, attack.seed), seconds)


def attack_outputs(dataset: Dataset, attack: OutputAttack) -> Attacked:
    """Attack the record whose shift is largest, at the training inputs; the exact test for this noise."""
    start = time.perf_counter()
    mechanism = mechanism_of(attack.model, Design(attack.mechanism), attack.draw)
    plan = mechanism.plan(dataset.X, dataset.X)
    shifts = np.linalg.lstsq(plan.factor, dense_of(plan.weights), rcond=1e-13)[0]
    record = int((shifts**2).sum(axis=0).argmax())
    pair = output_neighbours(dataset, record)
    rng = np.random.default_rng(attack.draw.seed)
    inside, outside = (mechanism.measure(plan, data, dataset.X, rng) for data in pair)
    assert isinstance(inside, TeachingRelease)  # numbered draws
    assert isinstance(outside, TeachingRelease)
    linear = linear_attack(inside, outside)
    scores = [
        np.concatenate([linear.score(s) for s in draw_releases(mechanism, data, dataset.X, rng, attack.trials)])
        for data in pair
    ]
    roc = Roc.of(*scores)
    bound = epsilon_lower_bound(scores[0], scores[1], attack.draw.delta, CONFIDENCE)
    return Attacked(roc, attack.guarantee, bound, time.perf_counter() - start)


def _lower_bound(roc: Roc, delta: float, seed: int) -> float:
    """Audit bound from the sorted scores, put into random order first."""
    rng = np.random.default_rng([seed, 2])
    return epsilon_lower_bound(rng.permutation(roc.inside), rng.permutation(roc.outside), delta, CONFIDENCE)


def allowed(guarantee: Guarantee, rate: FloatArray) -> FloatArray:
    """Largest true positive rate that (epsilon, delta) allows at false positive rates."""
    return 1 - budget_tradeoff(rate, guarantee.budget.epsilon, guarantee.budget.delta)


def attacked(attack: PathAttack | OutputAttack) -> Attacked:
    """LiRA against posterior paths, or the best attack on a Gaussian release."""
    if isinstance(attack, PathAttack):
        return cached.value("Attacking with shadow data sets", attack_paths, attack)
    data = cached.dataset(attack.model.dataset)
    return cached.value("Attacking simulated releases", attack_outputs, attack, given=(data,))
