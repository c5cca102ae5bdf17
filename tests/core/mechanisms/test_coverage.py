"""Intervals hold what they promise on data drawn from the declared model, privacy noise and clipping included."""

from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.gaussian import GaussianMechanism
from dpgp_core.sparse.posterior import SparseInterval
from tests.core.mechanisms import cases

PARAMETERS = replace(cases.PARAMETERS, x_box=((0.0, 10.0),), n=60, cells=6)
KERNEL, NOISE_VARIANCE = PARAMETERS.kernel, PARAMETERS.noise_variance
LEVELS = (0.5, 0.9, 0.95, 0.99)
WORLDS, FEWER = 300, 150  # fewer where an interval is not one for all worlds
X_TEST = np.linspace(0, 10, 8)[:, None]
WITHOUT = ("laplace_bins", "kernel_sum", "paths")
# Bayes cloaking makes its models itself: test_coverage.py and test_cell_coverage.py in tests/core/bayes draw from those
MODELLED = [name for name in CATALOGUE if name not in WITHOUT and not CATALOGUE[name].kind.automatic]


@pytest.fixture(scope="module")
def worlds():
    """Inputs, and outputs at them, latent values and one more output at the test points of many worlds."""
    rng = np.random.default_rng(8)
    X = np.sort(rng.uniform(0, 10, 60))[:, None]
    everywhere = np.vstack([X, X_TEST])
    root = np.linalg.cholesky(KERNEL(everywhere, everywhere) + 1e-10 * np.eye(68))
    f = rng.standard_normal((WORLDS, 68)) @ root.T
    y = f + np.sqrt(NOISE_VARIANCE) * rng.standard_normal(f.shape)
    return X, y[:, :60], {"function": f[:, 60:], "outputs": y[:, 60:]}


def covered(mechanism, data, outputs, truths):
    """Share of truths in each interval, by level and kind: mean over worlds and its standard error."""
    plan = mechanism.plan_for(data, X_TEST) if isinstance(mechanism, GaussianMechanism) else None
    inside = {(level, of): [] for level in LEVELS for of in truths}
    half = {}
    for i, y in enumerate(outputs[: WORLDS if plan else FEWER]):
        world, rng = replace(data, y=data.midpoint + data.y_scale * y), np.random.default_rng([4, i])
        found = mechanism.release(world, X_TEST, rng) if plan is None else mechanism.measure(plan, world, X_TEST, rng)
        for level, of in inside:
            if isinstance(found.uncertainty, SparseInterval):  # its width depends on what was released
                low, high = found.interval(level, of)
            else:
                if (level, of) not in half:
                    ends = found.interval(level, of)
                    half[level, of] = ends[1][0] - found.uncertainty.centre[0]
                centre = found.uncertainty.centre
                low, high = centre - half[level, of], centre + half[level, of]
            truth = data.midpoint + data.y_scale * truths[of][i]
            inside[level, of].append(((low[0] <= truth) & (truth <= high[0])).mean())
    return {key: (np.mean(values), np.std(values) / np.sqrt(len(values))) for key, values in inside.items()}


def check(found):
    for (level, of), (share, error) in found.items():
        # three points, and four standard errors: false alarm below 1e-4 a number, and the draws are fixed
        assert abs(share - level) <= 0.03 + 4 * error, (level, of, share)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
@pytest.mark.parametrize("name", MODELLED)
def test_intervals_cover_data_from_the_model(name, epsilon, worlds, make_dataset):
    X, outputs, truths = worlds
    # at the published method's epsilon no promise is needed: its noise is what it is
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, epsilon=epsilon))
    data = make_dataset(X=X, y=np.zeros(60), y_bounds=(-5.0, 7.0), y_scale=2.0)  # three prior standard deviations
    check(covered(mechanism, data, outputs, truths))


@pytest.mark.parametrize(
    "name", ["refined", "cloaking", "gp_prior", "integral_bins", pytest.param("sparse", marks=pytest.mark.full)]
)
def test_intervals_know_what_clipping_does(name, worlds, make_dataset):
    X, outputs, truths = worlds
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, epsilon=5.0))
    data = make_dataset(X=X, y=np.zeros(60), y_bounds=(-1.0, 3.0), y_scale=2.0)  # one: 38 % of outputs are clipped
    check(covered(mechanism, data, outputs, truths))


@pytest.mark.parametrize("name", ["refined", "cloaking", "gp_prior"])
@pytest.mark.parametrize("bounds", [(-5.0, 7.0), (-1.0, 3.0)])
def test_the_noise_stays_as_near_as_said(name, bounds, worlds, make_dataset):
    X, outputs, _ = worlds
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, epsilon=1.0))
    data = make_dataset(X=X, y=np.zeros(60), y_bounds=bounds, y_scale=2.0)
    plan, C = mechanism.plan(X, X_TEST), cloaking_matrix(KERNEL, X, X_TEST, NOISE_VARIANCE)
    moved = []
    for i, y in enumerate(outputs):
        world = replace(data, y=data.midpoint + data.y_scale * y)
        found = mechanism.measure(plan, world, X_TEST, np.random.default_rng([4, i]))
        moved.append(np.abs(found.samples[0] - world.in_data_units(C @ world.standardised())))
    inside = {level: np.array(moved) <= found.uncertainty.noise_half_width(level) for level in LEVELS}
    check({(level, "noise"): (i.mean(), i.mean(axis=1).std() / np.sqrt(WORLDS)) for level, i in inside.items()})
    if name != "refined":
        half = found.uncertainty.noise_half_width(0.95)
        np.testing.assert_allclose(half, 1.959964 * found.noise_sd, rtol=2e-3)


@pytest.mark.parametrize("name", WITHOUT)
def test_mechanisms_without_intervals_say_why(name, make_dataset):
    mechanism = CATALOGUE[name].build(replace(PARAMETERS, n=12))
    found = mechanism.release(make_dataset(), X_TEST, np.random.default_rng(1))
    assert isinstance(found.uncertainty, NoInterval)
    assert not mechanism.has_interval
    with pytest.raises(ValueError, match=r"there is no interval: .*(model|private inputs)"):
        found.interval(0.95)
