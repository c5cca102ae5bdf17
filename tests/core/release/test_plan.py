"""What is computed, foreseen and told before anything is spent."""

import io
import math
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import EQ
from dpgp_core.release import CHOICES, plan_release, publish
from dpgp_core.release.plan import expected_half_widths, half_widths
from dpgp_core.release.private_table import complete_rows, large_delta, notices_of, read_outcomes, to_owner
from dpgp_core.release.specification import EXAMPLE
from tests.core.release.worlds import make_open, make_spec, read

AFTERWARDS = ("bayes", "bayes_cells", "sparse")  # how wide their intervals are is known after the release only
PUBLIC = [name for name in CHOICES if name not in AFTERWARDS]


@pytest.mark.parametrize("mechanism", ["bayes_cells", "sparse"])
def test_plans_for_private_inputs_use_only_their_number(mechanism):
    spec = make_spec(mechanism=mechanism)
    X = read(spec).X
    one, other = plan_release(spec, X), plan_release(spec, X[::-1] / 2)
    assert (one.step, one.X, one.half_width) == (other.step, None, None)
    np.testing.assert_array_equal(one.X_test, other.X_test)
    if mechanism == "sparse":
        of_one, of_other = one.plan.prior, other.plan.prior
        np.testing.assert_array_equal(of_one.Z, of_other.Z)
        assert (of_one.x_box, of_one.half_range) == (of_other.x_box, of_other.half_range)
    else:
        assert (one.plan.counts, one.plan.filtered.bins) == (None, other.plan.filtered.bins)
    np.testing.assert_array_equal(expected_half_widths(one, [1.0]), expected_half_widths(other, [1.0]))


@pytest.mark.parametrize("mechanism", PUBLIC)
def test_half_widths_are_those_of_the_release(mechanism):
    """Never narrower than what the best fit leaves; and values are rounded to a step far below them."""
    spec = make_spec(mechanism=mechanism)
    data = read(spec)
    plan = plan_release(spec, data.X)
    published = publish(plan, data)
    (low, high), (least, most) = published.curve, published.outputs
    np.testing.assert_allclose((high - low) / 2, plan.half_width, atol=plan.step)
    assert (most - least > high - low).all()
    _, covariance = posterior(EQ(lengthscale=25.0), data.X, data.y, spec.points(), 0.3)
    least = 1.96 * spec.outcome.scale * np.sqrt(np.diag(covariance))
    assert (plan.half_width >= least * (1 - 1e-2)).all()
    wanted = np.clip(
        0.01 * plan.half_width.min(), 1e-6 * spec.outcome.measured.width, 0.01 * spec.outcome.measured.width
    )
    assert plan.step <= wanted < 10 * plan.step
    assert math.log10(plan.step) == pytest.approx(round(math.log10(plan.step)), abs=1e-12)


@pytest.mark.parametrize("mechanism", ["cloaking", "refined"])
def test_noise_that_underflows_is_refused_instead_of_published(mechanism):
    # the nearest person is 32 lengthscales from a test point: C is about 1e-220, and its square is 0
    spec = make_spec(mechanism=mechanism, lengthscale=(0.11,), grid=(2,))
    with pytest.raises(ValueError, match="cannot be computed on these inputs"):
        plan_release(spec, np.array([[3.5], [50.0], [60.0]]))
    assert plan_release(spec, np.array([[1.0], [50.0], [60.0]])).half_width[0] > 0


def test_releases_that_measure_nothing_are_refused_uncharged():
    spec = make_spec(mechanism="inducing", lengthscale=(0.11,), grid=(2,), cells=1, kernel="Matern52")
    spec = replace(spec, noise_variance=1e4)
    with pytest.raises(ValueError, match=r"nobody in the table moves any value on the grid.*declare a longer length"):
        plan_release(spec, np.array([[75.8], [27.6], [30.1]]))


AGES = np.linspace(1, 79, 60)[:, None]
EPSILONS = (0.2, 1.0, 5.0)
SPEC = replace(EXAMPLE, total_epsilon=10.0, grid=(12,))


@pytest.mark.parametrize("mechanism", ["cloaking", "gp_prior", "inducing"])
def test_known_widths_are_those_of_the_release(mechanism):
    spec = replace(SPEC, mechanism=mechanism)
    expected = [np.median(plan_release(replace(spec, epsilon=e), AGES).half_width) for e in EPSILONS]
    np.testing.assert_allclose(expected_half_widths(plan_release(spec, AGES), EPSILONS), expected, rtol=1e-9)


@pytest.mark.parametrize("mechanism", ["bayes", "sparse"])
def test_more_budget_predicts_less_error(mechanism):
    spec = replace(SPEC, mechanism=mechanism)
    plan = plan_release(spec, AGES)
    found = expected_half_widths(plan, EPSILONS)
    assert (np.diff(found) < 0).all()
    rng = np.random.default_rng(3)
    low, high = spec.y_bounds
    y = (low + high) / 2 + 0.25 * (high - low) * np.sin(AGES[:, 0] / 12) + 0.05 * (high - low) * rng.standard_normal(60)
    data = replace(spec.public_table(AGES), y=np.clip(y, low, high))
    release = spec.built.measure(plan.plan, data, plan.X_test, rng)
    assert found[1] == pytest.approx(np.median(half_widths(release)), rel=0.5)


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
@pytest.mark.parametrize(("kind", "bounds"), [("amount", (0.0, 9.5)), ("count", (0.5, 9.5)), ("yes/no", (0.0, 1.0))])
def test_simulated_outcomes_have_the_declared_kind(mechanism, kind, bounds):
    """A data set of the kind refuses anything else."""
    spec = replace(SPEC, mechanism=mechanism, y_kind=kind, y_bounds=bounds)
    few, many = expected_half_widths(plan_release(spec, AGES), (0.2, 5.0))
    assert 0 < many < few


# ---- What the owner of a table is told around a release.


TABLE = b"age,height\n1,10\n2,100\n3,-999\n4,120\n"


def test_clipped_outcomes_are_counted_also_for_logarithms():
    two = "For your eyes, in no file: 2 of 4 outcomes lie outside the bounds and count as the bound"
    for spec, said in (
        (make_spec(), two),
        (make_spec(log=True), two),
        (
            make_spec(y_bounds=(5.0, 200.0)),
            "For your eyes, in no file: 1 of 4 outcomes lies outside the bounds and counts",
        ),
        (make_spec(y_bounds=(-1000.0, 200.0)), ""),
        (make_open(y="height", y_kind="number"), ""),  # bounds that are bought are not known yet
    ):
        told = to_owner(notices_of(spec, read_outcomes(io.BytesIO(TABLE), spec)))
        assert told.startswith(said)
        assert bool(told) == bool(said)


def test_inputs_moved_to_the_edge_are_counted():
    spec = make_spec(mechanism="bayes_cells", x_box=((1.5, 3.5),), y_bounds=(-1000.0, 200.0))
    table = read_outcomes(io.BytesIO(TABLE), spec)
    assert to_owner(notices_of(spec, table)).startswith(
        "For your eyes, in no file: 2 of 4 rows have an input outside its x_box and count at its edge."
    )
    assert "outside" not in repr(table)


def test_complete_rows():
    assert complete_rows(1046, 263, people=False) == "1,046 complete rows of 1,309"
    assert complete_rows(60, 0, people=False) == "60 rows"
    assert complete_rows(20, 3, people=True) == "20 people with a complete row of 23"
    assert complete_rows(1200, 0, people=True) == "1,200 people"
    assert complete_rows(20, 0, 4, people=True) == "20 people, 4 rows left out"
    assert complete_rows(20, 3, 1, people=True) == "20 people with a complete row of 23, 1 row left out"


@pytest.mark.parametrize(("delta", "n", "usual"), [(0.1, 500, "0.0001"), (0.01, 101, "0.0001"), (1e-3, 5000, "1e-05")])
def test_a_delta_above_one_in_n(delta, n, usual):
    said = large_delta(delta, n)
    assert f"delta = {delta:g} is above 1/n" in said
    assert f"declare {usual} or less" in said
    assert large_delta(1 / n, n) == large_delta(0.0, n) == ""
