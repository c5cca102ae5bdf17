import numpy as np
import pytest

from dpgp_core import EQ, Cloaking, RefinedCloaking
from dpgp_core.mechanisms.recorded import EachDraw, SimulatedInterval

X_TEST = np.linspace(0, 10, 7)[:, None]
SETTINGS = {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3, "epsilon": 1.0, "delta": 0.01}


@pytest.fixture(params=[Cloaking, RefinedCloaking], ids=lambda kind: kind.__name__)
def release(request, make_dataset):
    return request.param(**SETTINGS).release(make_dataset(), X_TEST, draws=3)


def test_every_draw_follows_from_its_statistics(release):
    assert isinstance(release.statistics, EachDraw)
    assert len(release.statistics) == 3
    for draw in range(3):
        offset, factor, z = release.statistics.mapped(draw)
        np.testing.assert_allclose(offset + factor @ z, release.samples[draw], rtol=1e-9)


def test_statistics_hold_what_was_measured_and_the_promise(release):
    for found in (release.statistics[0], release.statistics[-1]):
        assert found.guarantee["epsilon"] == release.guarantee.budget.epsilon
        assert found.guarantee["releases"] == 3
        assert all(len(stage.z) == len(stage.measurement.B) for stage in found.stages)
    assert [len(found.stages) for found in release.statistics[:2]] == [len(release.statistics[0].stages)] * 2
    stages = release.statistics[0].stages
    assert release.statistics.size == sum(stage.measurement.B.size for stage in stages)


def test_simulated_intervals_widen_with_the_level_and_about_outputs(make_dataset):
    release = RefinedCloaking(**SETTINGS).release(make_dataset(), X_TEST)
    about = release.uncertainty
    assert isinstance(about, SimulatedInterval)
    narrow, wide, outputs = (
        about.half_width(0.5, "function"),
        about.half_width(0.95, "function"),
        about.half_width(0.95, "outputs"),
    )
    assert (narrow < wide).all()
    assert (wide < outputs).all()
