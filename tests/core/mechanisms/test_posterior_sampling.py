"""Posterior sampling and Hall's release: whole posterior paths."""

from __future__ import annotations

import math
from typing import get_type_hints

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ, Matern12, Matern32
from dpgp_core.mechanisms import HallPosterior, PathRelease, PosteriorSampling
from dpgp_core.mechanisms.base import NotPrivate
from tests.core.mechanisms.cases import X_TEST, with_record

MODEL = {"kernel": Matern12(lengthscale=2.0), "r": 2.0, "sigma": 0.8, "delta": 0.01}
PUBLIC = {"n": 12, "x_box": ((0.0, 10.0),)}


def test_guarantee_is_the_accounting_at_the_public_numbers():
    mechanism = PosteriorSampling(**MODEL, **PUBLIC)
    kappa = math.exp(-10 / 2)
    expected = posterior_sampling_epsilon(12, 2.0, 0.8, kappa, 0.01, sensitivity="exponential_1d_min")
    assert mechanism.kappa == pytest.approx(kappa)
    assert mechanism.guarantee.budget.epsilon == pytest.approx(expected)
    assert mechanism.guarantee.proven_epsilon == pytest.approx(expected)
    assert "one record (input and output) replaced" in mechanism.guarantee.neighbours


@pytest.mark.parametrize(
    ("kernel", "box", "sensitivity"),
    [
        (Matern12(), ((0.0, 10.0),), "exponential_1d_min"),
        (Matern12(), ((0.0, 10.0), (0.0, 1.0)), "generic"),
        (Matern32(), ((0.0, 10.0),), "generic"),
    ],
)
def test_the_special_constant_needs_its_proof(kernel, box, sensitivity):
    mechanism = PosteriorSampling(**{**MODEL, "kernel": kernel}, n=12, x_box=box)
    assert mechanism.loss.sensitivity == sensitivity


def test_kappa_is_the_least_kernel_value():
    kernel = EQ(variance=0.8, lengthscale=[2.0, 0.5])
    mechanism = PosteriorSampling(**{**MODEL, "kernel": kernel}, n=5, x_box=((0.0, 3.0), (-1.0, 1.0)))
    grid = np.stack(np.meshgrid(np.linspace(0, 3, 9), np.linspace(-1, 1, 9)), axis=-1).reshape(-1, 2)
    assert mechanism.kappa == pytest.approx(kernel(grid, grid).min())


def test_for_dataset_reads_only_what_is_public(make_dataset):
    data = make_dataset()
    mechanism = PosteriorSampling.for_dataset(data, **MODEL)
    assert mechanism == PosteriorSampling(**MODEL, **PUBLIC)
    assert mechanism == PosteriorSampling.for_dataset(make_dataset(X=data.X / 2, y=-data.y), **MODEL)


def test_paths_compose_as_renyi_curves(make_dataset):
    mechanism = PosteriorSampling(**MODEL, **PUBLIC)
    guarantee = mechanism.release(make_dataset(), X_TEST, np.random.default_rng(1), draws=5).guarantee
    assert guarantee.releases == guarantee.loss.L == 5
    expected = posterior_sampling_epsilon(12, 2.0, 0.8, math.exp(-5), 0.01, L=5, sensitivity="exponential_1d_min")
    assert guarantee.budget.epsilon == pytest.approx(expected)
    assert guarantee.budget.epsilon < 5 * mechanism.guarantee.budget.epsilon


def test_paths_come_from_the_scaled_posterior(make_dataset):
    data = make_dataset()  # bounds (-1, 3): midpoint 1, half-range 2; y_scale plays no part
    mechanism = PosteriorSampling(**MODEL, **PUBLIC, eta=0.3)
    released = mechanism.release(make_dataset(y_scale=17.0), X_TEST, np.random.default_rng(1))
    mean, covariance = posterior(MODEL["kernel"], data.X, (data.clipped_y - 1) / 2, X_TEST, 4.0)
    covariance = 0.8**2 * covariance + 0.3**2 * MODEL["kernel"](X_TEST, X_TEST)
    np.testing.assert_allclose(released.mean, 1 + 2 * mean, rtol=1e-10)
    np.testing.assert_allclose(released.noise_covariance(), 4 * covariance, atol=1e-8)


def test_the_spread_depends_on_private_inputs(make_dataset):
    data, mechanism = make_dataset(), PosteriorSampling(**MODEL, **PUBLIC)
    one, other = (mechanism.release(make_dataset(X=X), X_TEST, np.random.default_rng(1)) for X in (data.X, data.X / 3))
    assert not np.allclose(one.noise_factor, other.noise_factor)
    assert not np.allclose(one.noise_sd, other.noise_sd)
    for spread in (PathRelease.noise_sd.fget, PathRelease.noise_covariance):
        assert get_type_hints(spread)["return"] is NotPrivate


def test_an_empty_budget_is_the_least_one():
    assert PosteriorSampling(**{**MODEL, "r": 1e4}, **PUBLIC).guarantee.budget.epsilon == 1e-4


HALL = {"epsilon": 1.0, "delta": 0.01, "kernel": Matern12(lengthscale=2.0), "r": 1.5}
AGES = np.linspace(0, 10, 25)[:, None]


def test_sum_and_noise_are_those_of_the_formula(make_dataset):
    data = make_dataset()  # bounds (-1, 3): midpoint 1, half-range 2
    released = HallPosterior(**HALL).release(make_dataset(y_scale=17.0), AGES, np.random.default_rng(1))
    k = HALL["kernel"]
    c = 2 * noise_multiplier(1.0, 0.01)  # mu = 2 M / c with M = 1
    np.testing.assert_allclose(released.mean, 1 + 2 * k(AGES, data.X) @ ((data.clipped_y - 1) / 2) / 2.25)
    np.testing.assert_allclose(released.noise_covariance(), (2 * c / 2.25) ** 2 * k(AGES, AGES), rtol=1e-7, atol=1e-9)


def test_replaced_records_move_the_release_within_mu(make_dataset, squared_shift):
    data, mechanism, rng = make_dataset(), HallPosterior(**HALL), np.random.default_rng(1)
    mu, worst = mechanism.guarantee.loss.mu, 0.0
    for trial in range(300):
        j = rng.integers(data.n)
        means = []
        x = rng.uniform(-5, 15, 2) if trial % 3 else np.full(2, 4.9)  # a third keep the input
        for value, place in zip(rng.permutation(data.y_bounds), x, strict=True):
            test = np.vstack([AGES, x[:1, None], x[1:, None]]) if trial % 3 else np.vstack([AGES, x[:1, None]])
            released = mechanism.release(with_record(data, j, place, value), test, np.random.default_rng(1))
            means.append(released.mean)
        worst = max(worst, squared_shift(released.noise_factor, means[1] - means[0]))
    assert 0.99 * mu**2 < worst <= mu**2 * (1 + 1e-6)


def test_guarantee_covers_inputs():
    guarantee = HallPosterior(**HALL).guarantee
    assert "one record (input and output) replaced" in guarantee.neighbours
    assert not any("inputs" in sentence for sentence in (*guarantee.assumptions, *guarantee.not_covered))
