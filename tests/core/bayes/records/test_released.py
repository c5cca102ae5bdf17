import numpy as np
import pytest

from dpgp_core.bayes.records.released import clipped_observation, observed_of, stacked
from dpgp_core.gp.clipping import clipped
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking


@pytest.fixture
def release(make_dataset):
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.1)
    return mechanism.release(make_dataset(), np.array([[2.0], [7.0]]), draws=2)


def test_an_observation_expects_what_a_clipped_output_is_expected_to_be(release):
    """Z - A m = z - B ((k - o) / u), and N adds what clipping leaves to the noise."""
    statistics = release.statistics[0]
    stage, rng = statistics.stages[1], np.random.default_rng(0)
    mean, variance = 0.5 * rng.standard_normal(12), rng.uniform(0.1, 1, 12)
    found = clipped_observation(statistics, stage, lambda: (mean, variance))
    m = stage.measurement
    low, high = ((end - statistics.midpoint) / statistics.y_scale for end in (m.low, m.high))
    k, gain, extra = clipped(mean, variance, low, high)
    u = high - low
    np.testing.assert_allclose(found.Z - found.A @ mean, stage.z - m.B @ ((k - (low + high) / 2) / u), atol=1e-12)
    np.testing.assert_allclose(found.A, m.B * gain / u, atol=1e-15)
    own = m.B @ np.diag(extra / u**2) @ m.B.T + m.noise_sd**2 * np.eye(len(m.B))
    np.testing.assert_allclose(found.N, own, atol=1e-12)


def test_stacked_releases_are_draws_side_by_side(release):
    both = stacked([observed_of(statistics) for statistics in release.statistics])
    assert [stage.z.shape[0] for stage in both] == [2, 2]
    for draw, statistics in enumerate(release.statistics):
        for stage, alone in zip(both, observed_of(statistics), strict=True):
            for together, single in zip(
                (stage.low, stage.high, stage.z), (alone.low, alone.high, alone.z), strict=True
            ):
                np.testing.assert_array_equal(together[draw], single[0])
