"""What is published, also where logarithms are measured."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import CHOICES, plan_release, publish, read_table
from dpgp_core.release.publishing import about, known_share, unseen_outliers, useful, values_in_unit, within_tolerance
from dpgp_core.table import Outcome
from tests.core.release.worlds import make_published, make_spec, read, released
from tests.core.tables import changed


@pytest.mark.parametrize("mechanism", CHOICES)
def test_a_release_is_the_mechanisms_rounded_result(mechanism, same_bits):
    spec = make_spec(mechanism=mechanism)
    data = read(spec)
    plan = plan_release(spec, data.X)
    # noise of the operating system: equal with probability far below 1e-6
    assert (publish(plan, data).values != publish(plan, data).values).any()
    same_bits()
    found = publish(plan, data)
    same_bits()
    own = spec.built.release(data, spec.points())
    within = np.clip(own.samples[0], *spec.y_bounds)  # what noise drives beyond the bounds is impossible
    assert np.abs(found.values - within).max() <= found.step / 2 * (1 + 1e-6)
    multiples = found.values / found.step
    np.testing.assert_allclose(multiples, np.round(multiples), rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found.X_test, spec.points())
    assert (found.n, found.guarantee, found.centiles) == (40, own.guarantee, ())
    assert own.guarantee == spec.guarantee
    # an output lies within the bounds, so Bayes cloaking cuts its interval there; the curve may leave them
    cut = spec.y_bounds if spec.choice.kind.automatic else (-np.inf, np.inf)
    assert (found.outputs[0] <= np.clip(found.curve[0], *cut)).all()
    assert (np.clip(found.curve[1], *cut) <= found.outputs[1]).all()
    assert (found.curve[0] < found.curve[1]).all()


def test_values_are_clipped_to_the_bounds():
    far = np.array([-1e5, 49.0, 100.0, 1e5])
    np.testing.assert_array_equal(values_in_unit(make_spec().outcome, far, 1.0), [50, 50, 100, 200])
    logs = make_spec(log=True).outcome
    np.testing.assert_array_equal(values_in_unit(logs, np.log([1.0, 100.0, 1e5]), 1.0), [50, 100, 200])


def test_numerical_failures_publish_only_the_bounds(monkeypatch):
    spec = make_spec()
    data, measure = read(spec), type(spec.built).measure
    plan = plan_release(spec, data.X)

    def overflowing(*given):
        release = measure(*given)
        return replace(release, samples=np.where(np.arange(9) == 2, np.nan, release.samples))

    monkeypatch.setattr(type(spec.built), "measure", overflowing)
    published = publish(plan, data)
    low, high = spec.y_bounds
    assert (published.values[2], published.curve[0][2], published.curve[1][2]) == ((low + high) / 2, low, high)
    assert np.isfinite([published.values, *published.curve, *published.outputs]).all()


def test_negative_zero_is_not_published():
    spec = make_spec(y_bounds=(-75, 75), mechanism="integral_bins", epsilon=1e2, total_epsilon=1e3, x_box=((0, 1000),))
    found = released(spec, replace(read(spec), y=np.zeros(40)))
    assert not np.signbit(found.values[found.values == 0]).any()


def test_a_plan_for_something_else_is_refused():
    spec = make_spec()
    data = read(spec)
    plan = plan_release(spec, data.X)
    other = replace(plan, X=data.X + 1e-9)
    for use in (lambda: plan.with_spec(make_spec(epsilon=0.5)), lambda: publish(other, data)):
        with pytest.raises(ValueError, match="plan was made for another specification or other inputs"):
            use()


CHANGES = {
    "y_bounds": (0.0, 300.0),
    "x_box": ((0.0, 99.0),),
    "privacy_unit": "one child",
    "y_scale": 1.0,
    "y_name": "size",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_table_read_for_something_else_is_refused(name):
    spec = make_spec()
    data = changed(read(spec), **{name: CHANGES[name]})
    plan = plan_release(spec, data.X)
    with pytest.raises(ValueError, match=f"the specification differ in {name}; read it with read_table"):
        publish(plan, data)


def test_too_many_rows_are_refused_twice():
    sparse, inducing = make_spec(mechanism="sparse"), make_spec(mechanism="inducing")
    assert (make_spec().choice.kind.max_rows, sparse.choice.kind.max_rows) == (200_000, 2_000_000)
    with pytest.raises(ValueError, match="more than 5000 rows, the limit"):
        read(inducing, n=5001)
    X = read(sparse, n=5001).X
    with pytest.raises(ValueError, match="'inducing' takes at most 5000 rows of 1 inputs, got 5001; use 'sparse'"):
        plan_release(inducing, X)


def test_private_inputs_are_never_refused():
    spec = make_spec(mechanism="sparse")
    for ages in ([20.0] * 30, [-1e9, 1e9] * 15):  # one age for all; outside the box
        table = "age,height\n" + "".join(f"{age},150\n" for age in ages)
        data = read_table(io.BytesIO(table.encode()), spec)
        assert ((data.X >= 0) & (data.X <= 100)).all()
        assert np.isfinite(released(spec, data).values).all()


@pytest.mark.parametrize(
    ("tolerance", "within", "said"),
    [
        (10.0, [1, 1, 1, 0, 0], "At 2 of 5 points the curve is not known to within ± 10 cm with 95 % probability"),
        (200.0, [1, 1, 1, 1, 1], "All 5 values are known to within ± 200 cm with 95 % probability"),
        (0.1, [0, 0, 0, 0, 0], "At 5 of 5 points the curve is not known to within ± 0.1 cm"),
        (75.0, [1, 1, 1, 1, 1], "All 5 values are known to within ± 75 cm"),
        (None, [1, 1, 1, 1, 0], "At 1 of 5 points the interval is at least as wide as the bounds"),
    ],
)
def test_useful_values_are_within_tolerance_or_bounds(tolerance, within, said):
    published = make_published(make_spec(grid=(5,), tolerance=tolerance), (1.0, 19.9, 20.0, 20.1, 150.0))
    assert within_tolerance(published).tolist() == [bool(each) for each in within]
    assert useful(published).startswith(said)


def test_the_tolerance_changes_no_measurement(same_bits):
    one, other = make_spec(tolerance=1.0), make_spec(tolerance=99.0)
    assert one == other  # a plan for the one is a plan for the other
    assert one.guarantee == other.guarantee
    data = read(one)
    plan = plan_release(one, data.X)
    found = []
    for spec in (one, other):
        same_bits()
        found.append(publish(plan.with_spec(spec), data))
    np.testing.assert_array_equal(found[0].values, found[1].values)
    np.testing.assert_array_equal(found[0].curve, found[1].curve)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
@pytest.mark.parametrize("log", [False, True])
def test_centiles_are_in_order_within_the_bounds(mechanism, log):
    spec = make_spec(mechanism=mechanism, centiles=True, log=log, epsilon=3.0)
    found = released(spec, read(spec))
    assert len(found.centiles) == 5
    assert (np.diff(found.centiles, axis=0) >= 0).all()
    assert spec.y_bounds[0] <= np.min(found.centiles)
    assert np.max(found.centiles) <= spec.y_bounds[1]


@pytest.mark.parametrize(
    ("kind", "bounds", "log", "height", "nearest"),
    [
        ("yes/no", (0.0, 1.0), False, 2, 1),
        ("yes/no", (0.0, 1.0), False, 0.3, 0),
        ("yes/no", (0.0, 1.0), False, -7, 0),
        ("count", (0.0, 10.0), False, -3, 0),
        ("count", (0.0, 10.0), False, 2.5, 2),
        ("count", (0.0, 10.0), False, 1e300, 1e300),
        ("amount", (0.0, 10.0), False, -0.7316, 0),
        ("amount", (1.0, 10.0), True, -0.7316, 1),
    ],
)
def test_invalid_outcomes_move_to_the_nearest_valid(kind, bounds, log, height, nearest):
    spec = make_spec(mechanism="bayes_cells", y_kind=kind, y_bounds=bounds, log=log)
    read, expected = (read_table(io.BytesIO(f"age,height\n1,1\n2,{y!r}\n".encode()), spec) for y in (height, nearest))
    np.testing.assert_array_equal(read.y, expected.y)
    assert not np.signbit(read.y[1])


def test_a_rate_is_published_from_yes_and_no():
    spec = make_spec(mechanism="bayes_cells", y_kind="yes/no", y_bounds=(0.0, 1.0), epsilon=3.0)
    rng = np.random.default_rng(2)
    rows = "".join(f"{age:.1f},{int(rng.uniform() < 0.3)}\n" for age in rng.uniform(0, 100, 2000))
    found = released(spec, read_table(io.BytesIO(f"age,height\n{rows}".encode()), spec))
    assert found.statistics[0].outcome_model == "yes/no"
    assert len(found.statistics[0].stages) == 1
    assert abs(found.values.mean() - 0.3) < 0.1


def test_known_share_falls_with_the_interval_width():
    spec = make_spec(y_bounds=(0.0, 100.0), grid=(5,))
    found = known_share(make_published(spec, [1.0, 25.0, 62.5, 100.0, 300.0]))
    np.testing.assert_allclose(found, [1, 1, 0.5, 0, 0])
    narrow = make_published(spec, [1.0] * 5)
    assert useful(narrow) == "All 5 values are useful: at every point the interval is narrower than the bounds."


# ---- Measuring logarithms: what is measured is the logarithm of the clipped output, what is published its exponential.


PRICES = Outcome(name="price", bounds=(1e4, 1e7), unit="GBP", log=True)


def test_outputs_and_bounds_become_logarithms():
    y = np.array([1e4, 5e5, 1e7, 0.0, -3.0, 1e12])  # a price of 0 is clipped like any other below
    np.testing.assert_allclose(PRICES.to_measured(y), np.log([1e4, 5e5, 1e7, 1e4, 1e4, 1e7]), rtol=1e-14)
    np.testing.assert_allclose(PRICES.measured.bounds, (math.log(1e4), math.log(1e7)))
    np.testing.assert_allclose(PRICES.from_measured(PRICES.to_measured(y[:3])), y[:3], rtol=1e-12)
    assert (PRICES.measured.unit, replace(PRICES, unit="").measured.unit) == ("ln GBP", "ln")


def test_extreme_noise_gives_finite_values():
    np.testing.assert_allclose(PRICES.from_measured(np.array([-1e6, 1e6])), [10.0, 1e10], rtol=1e-9)


def both(mechanism):
    """Logarithms measured; and the same of a table whose outputs are logarithms already."""
    log = make_spec(mechanism=mechanism, log=True)
    taken = log.outcome.measured
    return log, replace(log, log=False, y_bounds=taken.bounds, y_unit=taken.unit)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_logarithmic_releases_are_mapped_back(mechanism, same_bits):
    log, plain = both(mechanism)
    assert log.guarantee == plain.guarantee
    data = read(log)
    taken = replace(plain.public_table(data.X), y=data.y)
    found = []
    for spec, table in ((log, data), (plain, taken)):
        same_bits()
        found.append(released(spec, table))
    one, other = found
    low, high = plain.y_bounds
    for mapped, logarithm in zip(
        (one.values, *one.curve, *one.outputs), (other.values, *other.curve, *other.outputs), strict=True
    ):
        expected = np.exp(np.clip(logarithm, 2 * low - high, 2 * high - low))
        np.testing.assert_allclose(mapped, expected, rtol=other.step, atol=2 * one.step)
    assert 0.099 < one.step / (other.step * log.y_bounds[0]) < 10.1  # as fine, at the lower bound; a power of ten
    assert (one.curve[0] <= one.values).all()
    assert (one.values <= one.curve[1]).all()


def test_what_is_of_use_is_a_factor():
    spec = make_spec(grid=(3,), log=True, tolerance=2.0)
    low, high = np.array([1.0, 1.0, 0.0]), np.array([4.0, 4.1, 1.0])
    found = replace(make_published(spec, (1, 1, 1)), curve=(low, high))
    assert within_tolerance(found).tolist() == [True, False, False]
    assert useful(found).startswith("At 2 of 3 points the curve is not known to within a factor of 2 with 95 %")
    assert about(spec, 1.25) == "a factor of 1.25"
    silent = replace(spec, tolerance=None)  # bounds 50 ... 200: known to within a factor of 2 before
    assert within_tolerance(replace(found, spec=silent)).tolist() == [False, False, False]


def test_hidden_outliers_are_mentioned():
    said = unseen_outliers(make_spec(), 6.04)
    assert said == (
        "Outliers at an end of the bounds that are too few to be seen in the noise could move the curve by up to 6 cm, "
        "which its intervals do not include."
    )
    assert "up to a factor of 1.5, which" in unseen_outliers(make_spec(log=True), math.log(1.5))
    assert unseen_outliers(make_spec(), 0.0) == ""
    found = replace(released(make_spec(), read(make_spec())), outliers=said)
    assert useful(found).endswith(said)
