import numpy as np
import pytest

from dpgp_core.bayes.models import auto_models, weights_of
from dpgp_core.bayes.waves import on_dates, waving, with_waves
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.seasons import YEAR, Seasonal

DAYS = 5000
BOX = ((0.0, DAYS - 1.0),)


@pytest.fixture(scope="module")
def visits():
    """5,000 daily counts with a yearly wave, and their rate."""
    t, rng = np.arange(float(DAYS)), np.random.default_rng(4)
    rate = 20 + 3 * np.sin(t / 900) + 8 * np.sin(2 * np.pi * (t - 80) / YEAR)
    data = Dataset(
        name="visits", X=t[:, None], y=rng.poisson(rate).astype(float), x_names=("day",), x_units=("days",),
        y_name="visits", y_unit="", y_bounds=(0.0, 60.0), x_box=BOX, privacy_unit="one day", source="", licence="",
        bounds_reason="", y_scale=15.0, y_kind="count",
    )  # fmt: skip
    return data, rate


def test_half_of_the_weight_stays_with_models_without_a_wave():
    plain = auto_models(BOX, 2.0)
    found = with_waves(plain, BOX, 2.0, (YEAR,))
    waves = np.array([model.kernel.wave > 0 for model in found])
    assert weights_of(found)[waves].sum() == pytest.approx(0.5)
    np.testing.assert_allclose([model.kernel.variance for model in found], 4 / 3)
    assert [model.kernel.trend for model in found[: len(plain)]] == [model.kernel for model in plain]


def test_without_a_period_nothing_changes():
    plain = auto_models(BOX, 2.0)
    assert with_waves(plain, BOX, 2.0, ()) == plain
    assert on_dates(plain, ()) == plain


def test_models_are_taken_to_dates_once():
    once = on_dates(auto_models(BOX, 2.0), (YEAR,))
    assert on_dates(once, (YEAR,)) == once
    assert all(isinstance(model.kernel, Seasonal) for model in once)


def test_a_wave_may_stand_beside_every_model():
    plain = auto_models(BOX, 2.0)
    assert waving(plain, BOX, ()) == plain
    found = waving(plain, BOX, (YEAR,))
    assert [model.kernel.trend for model in found] == [model.kernel for model in plain]
    np.testing.assert_allclose([model.kernel.variance for model in found], 8 / 3)
    assert {model.kernel.slow for model in found} == {(DAYS - 1.0,)}


def test_periods_that_do_not_fit_the_box_are_refused():
    with pytest.raises(ValueError, match="periods must have 1 entries"):
        with_waves(auto_models(BOX, 2.0), BOX, 2.0, (None, 7.0))
    with pytest.raises(ValueError, match=r"the period of input 1 is 365\.243, which comes less than 2 times"):
        BayesCloaking(epsilon=1.0, delta=1e-5, periods=[YEAR]).models(((0.0, 500.0),), 2.0)


def test_a_declared_kernel_is_one_of_the_trends():
    declared = EQ(lengthscale=[900.0])
    found = BayesCloaking(epsilon=1.0, delta=1e-5, kernels=[declared], periods=[YEAR]).models(BOX, 2.0)
    assert declared in {model.kernel.trend for model in found}


@pytest.mark.full
def test_a_years_wave_over_14_years_is_seen_over_private_cells_and_not_without_its_period(visits):
    data, rate = visits
    X_test = data.X[::20]
    errors = {}
    for periods in (None, [YEAR]):
        mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="inputs and outputs", periods=periods)
        plan = mechanism.plan_for(data, X_test)
        release = mechanism.measure(plan, data, X_test, np.random.default_rng(1), mean=False)
        errors[periods is None] = np.sqrt(np.mean((release.samples[0] - rate[::20]) ** 2))
    # measured: 5.8 and .7
    assert errors[False] < 1.5 < 4 < errors[True]


@pytest.mark.full
def test_the_same_where_dates_are_public(visits):
    data, rate = visits
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, periods=[YEAR])
    release = mechanism.measure(
        mechanism.plan_for(data, data.X[::20]), data, data.X[::20], np.random.default_rng(1), mean=False
    )
    low, high = release.interval(0.95, "function")
    assert np.sqrt(np.mean((release.samples[0] - rate[::20]) ** 2)) < 1.5
    assert np.mean((low[0] <= rate[::20]) & (rate[::20] <= high[0])) > 0.8
