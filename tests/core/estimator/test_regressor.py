import pickle
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import numpy as np
import pytest

from dpgp_core import DPGaussianProcessRegressor, refit
from dpgp_core.accounting.guarantee import TEACHING
from dpgp_core.estimator import SpentAgain, regressor
from dpgp_core.estimator.spending import composed
from dpgp_core.kernels import EQ
from dpgp_core.measurement import noise
from dpgp_core.measurement.discrete import discrete_gaussian
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests import killing
from tests.core.estimator.worlds import RECORDS, make
from tests.core.tables import read_again

X_TEST = np.linspace(-2, 12, 5)[:, None]
BOTH = pytest.mark.parametrize("protects", ["outputs", "inputs and outputs"])


@BOTH
def test_fit_measures_and_predicts_like_the_mechanism(protects):
    """The file that may be published says the same, and goes into a refit."""
    model = make(protects=protects).fit(*RECORDS)
    mechanism = BayesCloaking(epsilon=1.0, delta=0.01, stages=2, gap=0.5, protects=protects)
    assert model.guarantee_ == mechanism.guarantee
    spent = sum(1 / each.noise_multiplier**2 for each in model.statistics_.measurements)
    assert spent <= mechanism.guarantee.loss.mu**2 * (1 + 1e-12)
    if protects == "outputs":  # where inputs are private, their counts take the rest
        assert spent == pytest.approx(mechanism.guarantee.loss.mu**2, rel=1e-12)
    np.testing.assert_allclose(model.predict(X_TEST), read_again(mechanism, model.statistics_, X_TEST), atol=1e-12)
    again = refit(model.statistics_, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.1], X_test=X_TEST)
    assert np.isfinite(again.mean).all()
    assert again.mean.shape == (5,)


def test_the_first_stage_is_planned_without_outcomes():
    """Later stages depend on the numbers that earlier ones released."""
    X, y = RECORDS
    first, second = (make().fit(X, values).statistics_.stages[0] for values in (y, -3 * y[::-1]))
    for name in ("B", "low", "high", "noise_multiplier"):
        np.testing.assert_array_equal(getattr(first.measurement, name), getattr(second.measurement, name))
    np.testing.assert_array_equal(first.g, second.g)


def test_predicting_needs_no_output_and_spends_nothing():
    """Outputs are gone, the estimator has been through a file, and nothing of it changes."""
    X, y = RECORDS[0].copy(), RECORDS[1].copy()
    model = make(random_state=3).fit(X, y)
    expected = model.predict(X_TEST)
    y[:], X[:] = np.nan, np.nan
    before = pickle.dumps(model)
    again = pickle.loads(before)
    np.testing.assert_allclose(again.predict(X_TEST), expected, rtol=1e-9)
    again.predict(X_TEST, return_std=True)
    again.predict(X_TEST, return_cov=True)
    again.interval(X_TEST)
    again.sample_y(X_TEST, 3)
    again.log_evidence()
    assert again.guarantee_ == model.guarantee_
    assert pickle.dumps(model) == before


@BOTH
def test_nothing_private_is_kept(protects):
    X, y = RECORDS[0], np.random.default_rng(8).uniform(-1, 3, 30)
    kept = pickle.dumps(make(protects=protects).fit(X, y))
    found = [[np.float64(value).tobytes() in kept for value in values] for values in (y, X[:, 0])]
    assert not any(found[0])
    assert any(found[1]) == (protects == "outputs")  # they would be found


def test_a_further_fit_composes_and_says_so():
    model = make().fit(*RECORDS)
    with pytest.warns(SpentAgain, match=r"2 fits together spend epsilon = 1\.\d+ at delta = 0\.01"):
        model.fit(*RECORDS)
    one, half = (BayesCloaking(epsilon=epsilon, delta=0.01).guarantee for epsilon in (1.0, 0.5))
    assert model.guarantee_ == composed(one, one)
    with pytest.warns(SpentAgain, match="3 fits"):
        model.set_params(epsilon=0.5).fit(*RECORDS)
    assert model.guarantee_ == composed(composed(one, one), half)


def test_a_warning_turned_into_an_error_stops_spending():
    model = make().fit(*RECORDS)
    before = pickle.dumps(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SpentAgain):
            model.fit(*RECORDS)
    assert pickle.dumps(model) == before


def test_concurrent_fits_are_all_counted(monkeypatch):
    """All three have planned before any is counted, and each takes its time to add up."""
    model, met, adding_up = make(random_state=0), threading.Barrier(3), regressor.composed
    plan_for = BayesCloaking.plan_for

    def planned(*given):
        plan = plan_for(*given)
        met.wait(60)
        return plan

    def slowly(*given):
        time.sleep(0.05)
        return adding_up(*given)

    monkeypatch.setattr(BayesCloaking, "plan_for", planned)
    monkeypatch.setattr(regressor, "composed", slowly)
    with ThreadPoolExecutor(3) as pool, pytest.warns(SpentAgain) as warned:
        list(pool.map(lambda _: model.fit(*RECORDS), range(3)))
    assert model.guarantee_.releases == 3
    assert len(warned) == 2


@pytest.mark.filterwarnings("ignore::dpgp_core.estimator.SpentAgain")
@pytest.mark.parametrize("fits", [0, 1])
def test_no_interruption_hides_a_measurement(tmp_path, monkeypatch, fits):
    """A fit interrupted at any line is counted if anything was drawn, and the fit before it stays."""
    (X, y), drawn, modules, start = RECORDS, [], [regressor], make(stages=1)
    if fits:
        expected = start.fit(X, y).predict(X_TEST)
        start.set_params(x_box=[(0, 10), (0, 10)])
        X = np.hstack([X, X])
    kept, counts = pickle.dumps(start), set()
    # a tracer may interrupt between the last line of a ``with`` and its exit: the lock is then held for good
    monkeypatch.setattr(regressor, "COUNTING", nullcontext())
    monkeypatch.setattr(noise, "discrete_gaussian", lambda *given: drawn.append(given) or discrete_gaussian(*given))

    def fit(model):
        return lambda _: model.fit(X[:3], y[:3])

    def interrupting(number):
        def reached(at):
            if at == number:
                raise KeyboardInterrupt

        return reached

    # all lines but the last two, which leave `fit`
    for number in range(1, killing.lines(fit(start), tmp_path / "whole", modules) - 1):
        model = pickle.loads(kept)
        drawn.clear()
        with pytest.raises(KeyboardInterrupt):
            killing.traced(fit(model), tmp_path, modules, interrupting(number))
        counted = model.guarantee_.releases - fits if hasattr(model, "guarantee_") else 0
        assert bool(drawn) <= counted <= 1
        counts.add((bool(drawn), counted))
        if fits:
            np.testing.assert_array_equal(model.predict(X_TEST), expected)
        else:
            with pytest.raises(ValueError, match="not fitted"):
                model.predict(X_TEST)
    model.fit(X[:3], y[:3])
    assert counts == {(False, 0), (False, 1), (True, 1)}
    assert model.guarantee_.releases == fits + 2


def test_real_fits_differ_and_numbered_ones_are_marked():
    assert (make().fit(*RECORDS).predict(X_TEST) != make().fit(*RECORDS).predict(X_TEST)).any()
    numbered = [make(random_state=seed).fit(*RECORDS) for seed in (4, 4, np.random.default_rng(4))]
    for model in numbered:
        np.testing.assert_allclose(model.predict(X_TEST), numbered[0].predict(X_TEST), rtol=1e-6)
        assert model.guarantee_.not_covered[0] == TEACHING
        assert model.statistics_ is None


def test_simulated_fits_mark_the_guarantee():
    model = make(random_state=0).fit(*RECORDS)
    with pytest.warns(SpentAgain):
        model.set_params(random_state=None).fit(*RECORDS)
    assert TEACHING in model.guarantee_.not_covered


@pytest.mark.parametrize("missing", ["epsilon", "delta", "y_bounds", "x_box"])
def test_nothing_is_inferred(missing):
    with pytest.raises(ValueError, match=f"declare {missing}: .* never inferred from the data"):
        make(**{missing: None}).fit(*RECORDS)


def test_what_is_refused_is_refused_before_it_spends():
    X, y = RECORDS
    for changes, words in (
        ({"x_box": (0, 5)}, "rows of X lie outside x_box"),
        ({"x_box": (5, 10)}, "rows of X lie outside x_box"),
        ({"x_box": [(0, 1), (0, 1)]}, r"x_box must be one \(low, high\) pair"),
        ({"y_bounds": (3, -1)}, "swap or widen"),
        ({"random_state": "now"}, "random_state must be None"),
        ({"random_state": True}, "random_state must be None"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"stages": 99}, "stages must be"),
    ):
        model = make(**changes)
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)
        assert not hasattr(model, "guarantee_")


@BOTH
def test_a_rate_from_yes_and_no(protects):
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, 3000)
    y = (rng.uniform(size=3000) < 0.1 + 0.4 * x).astype(float)
    model = DPGaussianProcessRegressor(
        3.0, 1e-5, x_box=(0, 1), protects=protects, outcome="yes/no", random_state=1
    ).fit(x[:, None], y)
    at = np.linspace(0.05, 0.95, 10)
    low, high = model.interval(at[:, None], of="function")
    assert abs(model.predict(at[:, None]) - 0.1 - 0.4 * at).max() < 0.06
    assert ((low < 0.1 + 0.4 * at) & (0.1 + 0.4 * at < high)).mean() >= 0.8
    np.testing.assert_allclose(
        model.residual_sd(at[:, None]), np.sqrt(model.predict(at[:, None]) * (1 - model.predict(at[:, None])))
    )
    assert set(np.unique(model.predict_quantiles(at[:, None], [0.01, 0.99]))) == {0.0, 1.0}


def repeated(people=80, rows=3):
    rng = np.random.default_rng(6)
    groups = np.repeat([f"p{i}" for i in range(people)], rows)
    x = rng.uniform(0, 1, len(groups))
    return x[:, None], x + np.repeat(rng.normal(0, 0.05, people), rows), groups


@BOTH
def test_groups_protect_people(protects):
    X, y, groups = repeated()
    model = DPGaussianProcessRegressor(20.0, 1e-3, (0, 1), (0, 1), protects=protects, random_state=0)
    model.fit(X, y, groups)
    assert "all rows of one person" in model.guarantee_.neighbours
    assert model.guarantee_.unit.startswith("one person")
    assert abs(model.predict([[0.2], [0.8]]) - [0.2, 0.8]).max() < 0.1


def test_one_estimator_has_one_kind_of_guarantee():
    model = make(stages=1).fit(*RECORDS)
    with pytest.raises(ValueError, match="cannot be covered by the same guarantee"):
        model.set_params(protects="inputs and outputs").fit(*RECORDS)
    X, y, groups = repeated()
    model = make(stages=1).fit(X, y, groups)
    with pytest.raises(ValueError, match="all rows of a person"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        model.fit(X, y, groups[:-1])
    assert model.guarantee_.releases == 1


def test_private_inputs_outside_the_box_are_not_mentioned():
    X = np.where(np.arange(30)[:, None] == 4, 777.0, RECORDS[0])
    make(protects="inputs and outputs", stages=1).fit(X, RECORDS[1])
    with pytest.raises(ValueError, match="1 of 30 rows of X lie outside"):
        make().fit(X, RECORDS[1])


@pytest.mark.full_for("outputs")
@BOTH
def test_a_column_may_contain_categories(protects):
    rng = np.random.default_rng(0)
    X = np.stack([rng.uniform(0, 10, 400), rng.integers(0, 2, 400).astype(float)], axis=1)
    y = 50 + 3 * X[:, 0] + 20 * X[:, 1] + rng.normal(0, 3, 400)
    declared = {"y_bounds": (0.0, 140.0), "x_box": (0.0, 10.0), "x_levels": [None, ["women", "men"]], "y_scale": 30.0}
    model = DPGaussianProcessRegressor(20.0, 1e-5, **declared, protects=protects, stages=3, gap=0.01, random_state=0)
    with pytest.raises(ValueError, match="2 levels"):
        model.fit(X + 0.5, y)
    assert not hasattr(model, "guarantee_")
    model.fit(X, y)
    at = np.array([[2.0, 0.0], [2.0, 1.0], [8.0, 0.0], [8.0, 1.0]])
    np.testing.assert_allclose(model.predict(at), [56, 76, 74, 94], atol=5)
    with pytest.raises(ValueError, match="2 levels"):
        model.predict(np.array([[2.0, 0.5]]))
