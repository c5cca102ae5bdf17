from dataclasses import replace

import numpy as np
import pytest

from benchmarks.groups import AGES, height, people
from dpgp_core.bayes.mixture import JointPosterior
from dpgp_core.bayes.refit import contrast, difference
from dpgp_core.kernels import EQ, AcrossGroups
from dpgp_core.levels import side_of
from dpgp_core.mechanisms import BayesCloaking
from tests.core.tables import table

LEVELS = ("a", "b", "c")
BOX = ((0.0, 1.0), side_of(LEVELS))
PLACES = np.linspace(0.05, 0.95, 7)
POINTS = np.array([[x, level] for level in (0.0, 1.0, 2.0) for x in PLACES])


def world(n, seed, shared=0.7, scatter=0.3):
    """Records of three curves in [-1, 1] that share a part, and the curves at ``POINTS``; the third group is small."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=[0.6, 0.3, 0.1]).astype(float)
    X = np.stack([rng.uniform(size=n), group], axis=1)
    kernel = AcrossGroups(inner=EQ(variance=0.16, lengthscale=0.2), columns=(1,), shared=shared)
    everywhere = np.vstack([X, POINTS])
    values, vectors = np.linalg.eigh(kernel(everywhere, everywhere))
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(everywhere)))
    public = {"x_names": ("x", "group"), "x_units": ("", ""), "x_box": ((0.0, 1.0),), "x_levels": (None, LEVELS)}
    data = table(X, f[:n] + scatter * rng.standard_normal(n), **public, y_bounds=(-2.0, 2.0))
    return data, f[n:].reshape(3, -1)


def of_the_rougher(n, worlds, **settings):
    """Shares of ages where 95 % intervals hold the curves of two groups (worlds, 2), the rougher one a tenth."""
    inside, places = [], np.array([[age, group] for group in (0.0, 1.0) for age in AGES])
    truth = height(places[:, 0], places[:, 1], "rougher")
    for seed in range(worlds):
        rng = np.random.default_rng(seed)
        data = people(n, 0.1, "rougher", rng)
        release = BayesCloaking(epsilon=1.0, delta=1e-5, **settings).release(data, places, rng)
        low, high = release.interval(0.95, of="function")
        inside.append(((low[0] <= truth) & (truth <= high[0])).reshape(2, -1).mean(axis=1))
    return np.array(inside)


def test_a_small_rough_group_is_not_oversmoothed():
    """In most draws: of sixty, two took it for smooth all the same, others on another processor.

    .14 of its curve was inside where all groups had one lengthscale.
    """
    _, small = np.median(of_the_rougher(3000, 3), axis=0)
    assert small >= 0.85


@pytest.mark.full
@pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])
def test_intervals_cover_rougher_groups(protects):
    """Some five of forty draws take it for smooth with inputs protected too: a mean of .88, standard error .03."""
    large, small = of_the_rougher(3000, 40, protects=protects).mean(axis=0)
    assert large >= 0.92
    assert small >= 0.85


@pytest.fixture(scope="module", params=["outputs", "inputs and outputs"])
def release(request):
    data, _ = world(150, 0)
    return BayesCloaking(epsilon=3.0, delta=1e-5, protects=request.param, stages=2, gap=0.1).release(data, POINTS)


@pytest.mark.full_for("inputs and outputs")
def test_the_difference_is_antisymmetric(release):
    """At places of any level, and as the library reads the statistic."""
    found, back = release.difference("a", "c", POINTS[:7]), release.difference("c", "a", POINTS[:7])
    np.testing.assert_array_equal(found.mean, release.difference("a", "c", POINTS[14:]).mean)
    read = difference(release.statistics[0], "a", "c", POINTS[:7])
    np.testing.assert_allclose(read.mean, found.mean, atol=1e-9)
    mean = release.uncertainty.prediction.mean[0].reshape(3, -1)
    np.testing.assert_allclose(found.mean, mean[0] - mean[2], atol=1e-6)
    (low, high), (other, far) = found.interval(0.9), back.interval(0.9)
    np.testing.assert_allclose([low, high], [-far, -other], atol=1e-6)
    assert (low < found.mean).all()
    assert (found.mean < high).all()


def test_the_variance_is_that_of_the_joint_posterior():
    rng = np.random.default_rng(0)
    kernel = AcrossGroups(inner=EQ(variance=2.0, lengthscale=0.3), columns=(1,), shared=0.5)
    from_models = BayesCloaking(epsilon=1.0, delta=1e-5).models(BOX, 1.0)[:1]
    joint = JointPosterior(
        models=(replace(from_models[0], kernel=kernel),),
        X_test=POINTS[:14],
        means=rng.standard_normal((1, 14)),
        cross_covariances=(0.3 * rng.standard_normal((3, 14)),),
        weights=np.ones(1),
    )
    H = np.hstack([np.eye(7), -np.eye(7)])
    found = contrast(joint)
    np.testing.assert_allclose(found.mean[0], H @ joint.means[0], atol=1e-12)
    np.testing.assert_allclose(found.variance[0], np.diag(H @ joint.covariance() @ H.T), atol=1e-12)
