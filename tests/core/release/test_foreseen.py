from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import plan_release
from dpgp_core.release.plan import foreseen, half_widths
from dpgp_core.release.specification import EXAMPLE

AGES = np.linspace(1, 79, 60)[:, None]
EPSILONS = (0.2, 1.0, 5.0)
SPEC = replace(EXAMPLE, total_epsilon=10.0, grid=(12,))


@pytest.mark.parametrize("mechanism", ["cloaking", "gp_prior", "inducing"])
def test_where_intervals_do_not_depend_on_the_outputs_they_are_those_of_the_release(mechanism):
    spec = replace(SPEC, mechanism=mechanism)
    expected = [np.median(plan_release(replace(spec, epsilon=e), AGES).half_width) for e in EPSILONS]
    np.testing.assert_allclose(foreseen(plan_release(spec, AGES), len(AGES), EPSILONS), expected, rtol=1e-9)


@pytest.mark.parametrize("mechanism", ["bayes", "sparse"])
def test_less_privacy_less_error_and_about_that_of_a_release(mechanism):
    spec = replace(SPEC, mechanism=mechanism)
    plan = plan_release(spec, AGES)
    found = foreseen(plan, len(AGES), EPSILONS)
    assert (np.diff(found) < 0).all()
    rng = np.random.default_rng(3)
    low, high = spec.y_bounds
    y = (low + high) / 2 + 0.25 * (high - low) * np.sin(AGES[:, 0] / 12) + 0.05 * (high - low) * rng.standard_normal(60)
    data = replace(spec.public_table(AGES), y=np.clip(y, low, high))
    release = spec.built.measure(plan.plan, data, plan.X_test, rng)
    assert found[1] == pytest.approx(np.median(half_widths(release, "function")), rel=0.5)


def test_private_inputs_are_not_read():
    spec = replace(SPEC, mechanism="sparse")
    here, there = (plan_release(spec, ages) for ages in (AGES, AGES / 3))
    assert here.X is None
    np.testing.assert_array_equal(foreseen(here, 60, (1.0,)), foreseen(there, 60, (1.0,)))


@pytest.mark.parametrize("mechanism", ["bayes", "bayes_cells"])
@pytest.mark.parametrize(("kind", "bounds"), [("amount", (0.0, 9.5)), ("count", (0.5, 9.5)), ("yes/no", (0.0, 1.0))])
def test_what_is_made_up_is_of_the_declared_kind(mechanism, kind, bounds):
    """A data set of the kind refuses anything else."""
    spec = replace(SPEC, mechanism=mechanism, y_kind=kind, y_bounds=bounds)
    few, many = foreseen(plan_release(spec, AGES), len(AGES), (0.2, 5.0))
    assert 0 < many < few
