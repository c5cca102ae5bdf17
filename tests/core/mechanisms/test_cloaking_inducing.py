from functools import cache

import numpy as np
import pytest

from datasets import kung
from dpgp_core.gp.inducing import choose_inducing, inducing_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking, CloakingInducing
from dpgp_core.strategies.noise_design import design_noise
from tests.core.evaluation.simulated import draw_errors, expected_rmse

MODEL = {"epsilon": 1.0, "delta": 0.01, "kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
X_TEST = np.linspace(-2, 12, 9)[:, None]


def test_release_is_designed_for_the_sparse_matrix(make_dataset):
    data, Z = make_dataset(), [[1.0], [4.0], [8.0]]
    C = inducing_matrix(MODEL["kernel"], data.X, X_TEST, np.array(Z), 0.3)
    design = design_noise(C, "trace")
    found = CloakingInducing(**MODEL, Z=Z).release(data, X_TEST, np.random.default_rng(1))
    np.testing.assert_allclose(found.mean, data.in_data_units(C @ data.standardised()), rtol=1e-9)
    # 1.8779 = s'(1, 0.01), bounds 4 apart
    np.testing.assert_allclose(found.noise_covariance(), (4 * 1.87787556) ** 2 * design.covariance(), rtol=1e-6)
    assert design.rank == 3


def test_inducing_inputs_are_k_means_of_the_public_inputs(make_dataset):
    X = make_dataset().X
    mechanism = CloakingInducing(**MODEL, n_inducing=4, seed=7)
    np.testing.assert_array_equal(mechanism.inducing_inputs(X), choose_inducing(X, 4, np.random.default_rng(7)))
    assert mechanism.plan(X, X_TEST).design.rank <= 4


def test_plan_depends_on_the_seed_not_on_the_noise(make_dataset):
    data, mechanism = make_dataset(), CloakingInducing(**MODEL, n_inducing=4)
    one, other = (mechanism.release(data, X_TEST, np.random.default_rng(seed)) for seed in (1, 2))
    np.testing.assert_array_equal(one.mean, other.mean)
    assert not np.array_equal(one.samples, other.samples)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "give either Z, the inducing inputs, or n_inducing, their number"),
        ({"Z": [[1.0]], "n_inducing": 1}, "give either Z, the inducing inputs, or n_inducing, their number"),
        ({"n_inducing": 0}, "n_inducing must be at least 1, got 0"),
        ({"Z": []}, r"Z must be one or more rows of equally many finite numbers, got \[\]"),
        ({"Z": [[1.0], [2.0, 3.0]]}, "Z must be one or more rows of equally many finite numbers"),
        ({"Z": [[np.inf]]}, "Z must be one or more rows of equally many finite numbers"),
    ],
)
def test_bad_inducing_inputs_are_refused_at_construction(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        CloakingInducing(**MODEL, **options)


def test_inducing_inputs_of_another_width_are_named(make_dataset):
    with pytest.raises(ValueError, match=r"Z must be one or more rows of 1 columns, like X, got shape \(1, 2\)"):
        CloakingInducing(**MODEL, Z=[[1.0, 2.0]]).plan(make_dataset().X, X_TEST)


# ---- 07, "inducing inputs": kernel variance 1, noise 1.0, 10 unshuffled folds, epsilon 1, delta 0.01

PUBLISHED = {"objective": "logdet", "calibration": "hall", "rank_tolerance": 1e-10}


@pytest.fixture(scope="module")
def cross_validated():
    """Mean over 10 unshuffled folds of the RMSE [cm] at the held-out records: of 100 draws, and expected."""

    @cache
    def error(dims, n_inducing, **options):
        data, found = kung.load(dims=dims), []
        kind = Cloaking if n_inducing is None else CloakingInducing
        sparse = {} if n_inducing is None else {"n_inducing": n_inducing}
        # EQ of 25 years (and, in two dimensions, 25 kg: 07 and the keynote give none, this one reproduces both)
        mechanism = kind(epsilon=1.0, delta=0.01, kernel=EQ(lengthscale=25.0), noise_variance=1.0, **sparse, **options)
        for number, test in enumerate(np.array_split(np.arange(data.n), 10)):
            X, y = np.delete(data.X, test, axis=0), np.delete(data.y, test)
            train = type(data)(**{**vars(data), "X": X, "y": y, "labels": {}})
            released = mechanism.release(train, data.X[test], np.random.default_rng(0))
            rng = np.random.default_rng([1, number])
            draws = draw_errors(released.mean, released.noise_factor, data.clipped_y[test], rng, 100)
            found.append([draws.mean(), expected_rmse(released.mean - data.clipped_y[test], released.noise_sd)])
        return np.mean(found, axis=0)

    return error


@pytest.mark.parametrize(
    ("dims", "n_inducing", "expected", "spread"),
    [(1, None, 13.5, 1.4), (1, 4, 11.7, 1.0), (2, None, 19.3, 2.2), (2, 5, 10.2, 0.8)],
)
def test_kung_published_method(cross_validated, dims, n_inducing, expected, spread):
    # ours 13.9, 10.5, 20.1, 10.0; the target's k-means and rank are not stated: 1.5 of its own spreads
    assert cross_validated(dims, n_inducing, **PUBLISHED)[0] == pytest.approx(expected, abs=1.5 * spread)


def test_kung_inducing_inputs_tame_the_published_method(cross_validated):
    # targets: 13.5 -> 11.7 with age, 19.3 -> 10.2 with age and weight; ours, expected: 15.2 -> 11.0, 22.0 -> 10.5
    assert cross_validated(1, 4, **PUBLISHED)[1] < cross_validated(1, None, **PUBLISHED)[1] - 3
    assert cross_validated(2, 5, **PUBLISHED)[1] < cross_validated(2, None, **PUBLISHED)[1] - 8


def test_kung_better_noise_needs_them_less(cross_validated):
    # with age alone they only cost bias; with weight too they still help
    assert cross_validated(1, None)[1] < cross_validated(1, 4)[1] < cross_validated(1, 4, **PUBLISHED)[1]
    assert cross_validated(2, 6)[1] < cross_validated(2, 5)[1] < cross_validated(2, None)[1]
