import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpgp_core.accounting.ledger import Ledger
from dpgp_core.gp import inducing
from dpgp_core.kernels import EQ, Matern52
from dpgp_core.mechanisms import SparseVariational, sparse_variational
from dpgp_core.sparse import posterior
from tests.core.mechanisms.cases import X_TEST, with_record


def sparse(**changes):
    arguments = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3, "n_inducing": 6}
    return SparseVariational(**{**arguments, **changes})


def cost(mechanism, one, other):
    """Distance between two data sets' statistics in units of the noise: to be at most mu."""
    noise = mechanism.noise(one)
    (A, B), (other_A, other_B) = mechanism.exact_statistics(one), mechanism.exact_statistics(other)
    # noise on (B_ii, sqrt(2) B_ij): the Frobenius norm over sb
    return math.hypot(np.linalg.norm(A - other_A) / noise.sa, np.linalg.norm(B - other_B) / noise.sb)


@pytest.mark.parametrize("kernel", [EQ(lengthscale=2.0), EQ(variance=3.0), Matern52(lengthscale=9.0)], ids=str)
def test_optimised_neighbours_reach_the_guarantee(make_dataset, kernel):
    data = make_dataset()
    mechanism = sparse(kernel=kernel, n_inducing=9)

    def spent(p):
        return cost(mechanism, with_record(data, 0, p[0], 99.0), with_record(data, 0, p[1], -99.0))

    starts = np.random.default_rng(1).uniform(1, 9, (3, 2))
    found = max(-minimize(lambda p: -spent(p), start, method="Nelder-Mead").fun for start in starts)
    mu = mechanism.guarantee.loss.mu
    assert 0.99 * mu <= found <= mu * (1 + 1e-9)


def test_the_noise_of_a_budget_is_found_once(make_dataset, monkeypatch):
    found = []
    monkeypatch.setattr(sparse_variational, "noise_multiplier", lambda *budget: found.append(budget) or 2.0)
    mechanism, data = sparse(), make_dataset()
    mechanism.release(data, X_TEST, np.random.default_rng(0), draws=3)
    assert found == [(1.0, 0.01)]


def test_norms_are_clipped(make_dataset, monkeypatch):
    data, mechanism = make_dataset(), sparse(variant="paper")
    monkeypatch.setattr(SparseVariational, "feature_bound", lambda self, dataset: 0.1)
    assert np.linalg.norm(mechanism.features(data)(data.X), axis=1) == pytest.approx(0.1)
    assert np.trace(mechanism.exact_statistics(data)[1]) == pytest.approx(12 * 0.01, rel=1e-5)


@pytest.mark.parametrize("variant", ["whitened", "paper"])
def test_the_mean_is_the_sparse_posterior(make_dataset, variant):
    data, mechanism = make_dataset(), sparse(variant=variant)
    found = mechanism.release(data, X_TEST, np.random.default_rng(1))
    Z = mechanism.inducing_inputs(data)
    mean, _ = inducing.posterior(mechanism.kernel, data.X, data.standardised(), X_TEST, Z, 0.3)
    np.testing.assert_allclose(found.mean, data.in_data_units(mean), atol=1e-4)  # steps of 2^-20


def test_a_fit_costs_its_guarantee(make_dataset):
    mechanism, ledger = sparse(), Ledger()
    assert mechanism.guarantee.neighbours == "one record (input and output) replaced, n public"
    assert mechanism.guarantee.proven_epsilon == pytest.approx(1.0)
    ledger.spend([("fit", mechanism.fit(make_dataset(), np.random.default_rng(1)).guarantee)])
    assert ledger.epsilon(0.01) == pytest.approx(1.0)


def test_releases_at_all_budgets_share_the_simulation_of_their_intervals(make_dataset, monkeypatch):
    data, made = make_dataset(), []
    simulate = posterior.curve_predictive
    monkeypatch.setattr(posterior, "curve_predictive", lambda *given: made.append(given) or simulate(*given))
    plan = sparse().plan_for(data, X_TEST)
    assert not made  # simulated only for an interval

    def interval(mechanism, plan, dataset):
        return mechanism.measure(plan, dataset, X_TEST, np.random.default_rng(0)).interval(0.95)

    for mechanism in (sparse(), sparse(epsilon=5.0)):
        alone = interval(mechanism, mechanism.plan_for(data, X_TEST), data)
        np.testing.assert_array_equal(interval(mechanism, plan, data), alone)
    at_test_inputs = [X_test for _, _, X_test in made if len(X_test) == len(X_TEST)]
    assert len(at_test_inputs) == 3  # for the shared plan once
    assert len(made) == 6  # and as often at the points of the box
    low, high = data.y_bounds
    narrower = replace(data, outcome=replace(data.outcome, bounds=(low, low + 0.8 * (high - low))))
    alone = interval(sparse(), sparse().plan_for(narrower, X_TEST), narrower)
    np.testing.assert_array_equal(interval(sparse(), plan, narrower), alone)
