import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.gp import inducing
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.mechanisms import SparseVariational

X_TEST = np.linspace(-2, 12, 9)[:, None]


def sparse(**changes):
    arguments = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3, "n_inducing": 6}
    return SparseVariational(**{**arguments, **changes})


def with_record(data, j, x, y):
    X, outputs = data.X.copy(), data.y.copy()
    X[j], outputs[j] = x, y
    return replace(data, X=X, y=outputs)


def cost(mechanism, one, other):
    """Distance between two data sets' statistics in units of the noise: to be at most mu."""
    noise = mechanism.noise(one)
    (A, B), (other_A, other_B) = mechanism.exact_statistics(one), mechanism.exact_statistics(other)
    # noise on (B_ii, sqrt(2) B_ij): the Frobenius norm over sb
    return math.hypot(np.linalg.norm(A - other_A) / noise.sa, np.linalg.norm(B - other_B) / noise.sb)


@pytest.mark.full
@pytest.mark.parametrize("kernel", [EQ(lengthscale=2.0), EQ(variance=3.0), Matern52(lengthscale=9.0)], ids=str)
@pytest.mark.parametrize("variant", ["whitened", "paper"])
def test_no_neighbour_costs_more_than_the_guarantee(make_dataset, kernel, variant):
    data, rng = make_dataset(), np.random.default_rng(3)
    mechanism = sparse(kernel=kernel, variant=variant)
    worst = 0.0
    for j, x, y in zip(rng.integers(0, 12, 300), rng.uniform(-5, 15, 300), rng.uniform(-9, 9, 300), strict=True):
        one = with_record(data, j, x, y)
        worst = max(worst, cost(mechanism, one, with_record(data, j, rng.uniform(-5, 15), -math.copysign(9, y))))
    assert 0 < worst <= mechanism.guarantee.loss.mu * (1 + 1e-9)


def test_optimised_neighbours_reach_the_guarantee(make_dataset):
    data = make_dataset()
    mechanism = sparse(n_inducing=9)

    def spent(p):
        return cost(mechanism, with_record(data, 0, p[0], 99.0), with_record(data, 0, p[1], -99.0))

    starts = np.random.default_rng(1).uniform(1, 9, (3, 2))
    found = max(-minimize(lambda p: -spent(p), start, method="Nelder-Mead").fun for start in starts)
    mu = mechanism.guarantee.loss.mu
    assert 0.99 * mu <= found <= mu * (1 + 1e-9)


def test_no_neighbour_in_the_census_costs_more(kung_data):
    mechanism = sparse(kernel=EQ(lengthscale=25.0), n_inducing=9)
    low, high = kung_data.y_bounds
    for j in (0, 100, 286):
        for x in (-1e3, 0.0, 30.0, 1e3):
            pair = with_record(kung_data, j, x, high), with_record(kung_data, j, 40.0, low)
            assert cost(mechanism, *pair) <= mechanism.guarantee.loss.mu * (1 + 1e-9)


@pytest.mark.parametrize("variant", ["whitened", "paper"])
def test_inputs_outside_the_box_are_clipped(make_dataset, variant):
    data, mechanism = make_dataset(), sparse(variant=variant)
    far, edge = with_record(data, 2, 1e6, 1.0), with_record(data, 2, 10.0, 1.0)
    one, other = (mechanism.release(d, X_TEST, np.random.default_rng(1)).samples for d in (far, edge))
    np.testing.assert_array_equal(one, other)


def test_norms_are_clipped(make_dataset, monkeypatch):
    data, mechanism = make_dataset(), sparse(variant="paper")
    monkeypatch.setattr(SparseVariational, "feature_bound", lambda self, dataset: 0.1)
    assert np.linalg.norm(mechanism.features(data)(data.X), axis=1) == pytest.approx(0.1)
    assert np.trace(mechanism.exact_statistics(data)[1]) == pytest.approx(12 * 0.01, rel=1e-5)


@pytest.mark.parametrize("variant", ["whitened", "paper"])
def test_the_mean_is_the_sparse_posterior_in_the_outputs_unit(make_dataset, variant):
    data, mechanism = make_dataset(), sparse(variant=variant)
    found = mechanism.release(data, X_TEST, np.random.default_rng(1))
    Z = mechanism.inducing_inputs(data)
    mean, _ = inducing.posterior(mechanism.kernel, data.X, data.standardised(), X_TEST, Z, 0.3)
    np.testing.assert_allclose(found.mean, data.in_data_units(mean), atol=1e-4)  # steps of 2^-20


def test_guarantee(make_dataset):
    mechanism, ledger = sparse(), Ledger()
    guarantee = mechanism.guarantee
    assert guarantee.protects == "inputs and outputs"
    assert guarantee.neighbours == "one record (input and output) replaced, n public"
    assert isinstance(guarantee.loss, GaussianLoss)
    assert guarantee.proven_epsilon == pytest.approx(1.0)
    ledger.spend([("fit", mechanism.fit(make_dataset(), np.random.default_rng(1)).guarantee)])
    assert ledger.epsilon(0.01) == pytest.approx(1.0)


def test_less_noise_with_more_budget(make_dataset):
    noises = [sparse(epsilon=e).noise(make_dataset()).sa for e in (0.1, 1.0, 10.0)]
    assert noises == sorted(noises, reverse=True)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"variant": "other"}, "variant must be 'whitened' or 'paper' for variant='other', got 'other'"),
        ({"covariance": "naive"}, "covariance must be 'full' for variant='whitened', got 'naive'"),
        ({"variant": "paper", "covariance": "none"}, "covariance must be 'full' or 'paper' or 'naive'"),
        ({"kernel_norm": "loose"}, "kernel_norm must be 'tight' or 'generic' or 'trivial'"),
        ({"Z": [[1.0]]}, "give either Z, the inducing inputs, or n_inducing"),
        ({"n_inducing": None}, "give either Z, the inducing inputs, or n_inducing"),
        ({"n_inducing": 0}, "bins must be a whole number of at least 1"),
        ({"n_inducing": None, "Z": [[1.0], [1.0]]}, "Z must be one or more different rows"),
        ({"n_inducing": None, "Z": [[1.0], [float("nan")]]}, "equally many finite numbers"),
    ],
)
def test_bad_parameters_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        sparse(**changes)
