import numpy as np
import pytest
from scipy.stats import kstest, laplace

from dpgp_core.accounting.guarantee import ONE_OUTPUT
from dpgp_core.accounting.losses import PureLoss
from dpgp_core.mechanisms import LaplaceBinning

X_TEST = np.linspace(0, 10, 21)[:, None]  # the data lie in 0 ... 10


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 7.3])
@pytest.mark.parametrize("bins", [1, 3, 10, 200])
def test_no_neighbour_spends_more_than_epsilon(kung_data, epsilon, bins):
    plan = LaplaceBinning(epsilon=epsilon, bins=bins).plan(kung_data.X, kung_data.x_box)
    # record j moves bin b by w_bj d, against Laplace noise of scale_b d: loss sum_b |w_bj| d / (scale_b d)
    losses = (np.abs(plan.weights) * plan.counts[:, None] * epsilon).sum(axis=0)
    np.testing.assert_allclose(losses, epsilon, rtol=1e-12)  # every record spends exactly epsilon


def test_guarantee():
    guarantee = LaplaceBinning(epsilon=0.7, bins=5).guarantee
    assert (guarantee.budget.epsilon, guarantee.budget.delta) == (0.7, 0)
    assert guarantee.loss == PureLoss(0.7)
    assert (guarantee.protects, guarantee.neighbours) == ("outputs", ONE_OUTPUT)
    assert "parallel composition" in guarantee.theorem
    assert guarantee.established
    assert guarantee.proven_epsilon == 0.7


def test_value_of_the_bin_and_equal_noise_within_it(make_dataset):
    data = make_dataset()
    released = LaplaceBinning(epsilon=1.0, bins=5).release(data, X_TEST, np.random.default_rng(1))
    for x, mean, sd in zip(X_TEST[:, 0], released.mean, released.noise_sd, strict=True):
        member = np.minimum(data.X[:, 0] // 2, 4) == min(x // 2, 4)
        assert mean == pytest.approx(
            data.clipped_y[member].mean() if member.any() else 1.0, abs=data.output_range * 2.0**-20
        )
        assert sd == pytest.approx(np.sqrt(2) * data.output_range / member.sum() if member.any() else 0.0)
    same = (X_TEST[:, 0] >= 2) & (X_TEST[:, 0] < 4)
    assert len(set(released.samples[0, same])) == 1


def test_noise_is_laplace_of_the_stated_scale(make_dataset):
    data, mechanism = make_dataset(), LaplaceBinning(epsilon=0.5, bins=3)
    plan = mechanism.plan(data.X, data.x_box)
    released = mechanism.release(data, plan.boxes.mean(axis=2), np.random.default_rng(1), draws=20_000)
    noise = (released.samples - released.mean) / (data.output_range / plan.counts / 0.5)
    for column in noise.T:
        assert kstest(column, laplace.cdf).pvalue > 1e-6
    # and independent between bins: 6 standard errors
    assert np.abs(np.corrcoef(noise.T) - np.eye(len(plan.counts))).max() < 6 / np.sqrt(20_000)
    np.testing.assert_allclose(noise.var(axis=0), 2, rtol=6 * np.sqrt(5 / 20_000))  # kurtosis 6


def test_empty_bins_have_the_public_midpoint(make_dataset):
    for y in (make_dataset().y, np.full(12, 3.0)):
        data = make_dataset(X=np.linspace(0, 4, 12)[:, None], y=y)
        released = LaplaceBinning(epsilon=1.0, bins=10).release(data, np.array([[9.0]]), np.random.default_rng(1), 2)
        np.testing.assert_array_equal(released.samples, [[1.0], [1.0]])
        np.testing.assert_array_equal(released.noise_sd, [0.0])


def test_four_dimensions_and_bins_of_each(make_dataset):
    X = np.random.default_rng(1).uniform(0, 1, (12, 4))
    public = {"x_names": ("a",) * 4, "x_units": ("m",) * 4, "x_box": ((0.0, 1.0),) * 4}
    data = make_dataset(X=X, **public)
    released = LaplaceBinning(epsilon=1e3, bins=[30, 20, 20, 10]).release(data, X, np.random.default_rng(1))
    np.testing.assert_allclose(released.mean, data.clipped_y, atol=data.output_range * 2.0**-20)
    assert (released.noise_sd > 0).all()


@pytest.mark.parametrize(("outside", "bad"), [("X_test", [[5.0], [10.5]]), ("X_test", [[-0.1], [3.0]])])
def test_test_points_outside_the_box_are_refused(make_dataset, outside, bad):
    with pytest.raises(ValueError, match=r"1 of 2 points lie outside the box \(\(0.0, 10.0\),\), where there are no"):
        LaplaceBinning(epsilon=1.0, bins=5).release(make_dataset(), np.array(bad), np.random.default_rng(1))


def test_inputs_outside_the_box_are_refused(make_dataset):
    data = make_dataset(x_box=((0.0, 5.0),))
    with pytest.raises(ValueError, match="of 12 points lie outside the box"):
        LaplaceBinning(epsilon=1.0, bins=5).release(data, X_TEST[:3], np.random.default_rng(1))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epsilon": float("inf")}, "epsilon must be a finite number above 0, got inf"),
        ({"bins": 0}, "bins must be a whole number of at least 1"),
        ({"bins": 2.5}, "bins must be a whole number of at least 1"),
    ],
)
def test_bad_parameters_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        LaplaceBinning(**{"epsilon": 1.0, "bins": 5, **changes})


def test_too_many_numbers_of_bins_are_refused(make_dataset):
    with pytest.raises(ValueError, match="2 numbers of bins for 1 input columns"):
        LaplaceBinning(epsilon=1.0, bins=(5, 5)).release(make_dataset(), X_TEST, np.random.default_rng(1))
