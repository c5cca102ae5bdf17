from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from dpgp_core.evaluation.comparison import held_out_errors, hold_out, sweep, with_epsilon
from tests.core.evaluation.toys import CLOAKING, EVERY_KIND, FOLDS, TOY

EPSILONS = (0.5, 3.0)


@pytest.fixture(scope="module", params=EVERY_KIND, ids=lambda mechanism: mechanism.label)
def here(request):
    """A mechanism, and its sweep in this thread."""
    return request.param, sweep(request.param, TOY, FOLDS, EPSILONS, 7, 11)


def test_a_sweep_is_the_errors_at_every_epsilon(here):
    mechanism, found = here
    held = hold_out(mechanism, TOY, FOLDS)
    for errors, epsilon in zip(found.errors, EPSILONS, strict=True):
        alone = held_out_errors(with_epsilon(mechanism, epsilon), held, 7, 11)
        np.testing.assert_array_equal(errors.rmse, alone.rmse)
        np.testing.assert_array_equal(errors.half_width, alone.half_width)  # nan for bins
    assert found.seconds > 0


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_a_sweep_gives_the_same_numbers_wherever_its_folds_are_computed(here, kind):
    mechanism, found = here
    with kind(2) as executor:
        there = sweep(mechanism, TOY, FOLDS, EPSILONS, 7, 11, executor)
    for one, other in zip(found.errors, there.errors, strict=True):
        np.testing.assert_allclose(one.rmse, other.rmse, rtol=1e-10, atol=0)
        assert one.half_width == pytest.approx(other.half_width, rel=1e-10, nan_ok=True)


def test_a_bad_epsilon_of_a_sweep_is_named_from_a_worker_too():
    with ThreadPoolExecutor(2) as executor, pytest.raises(ValueError, match="epsilon must be a finite number above 0"):
        sweep(CLOAKING, TOY, FOLDS, (1.0, -1.0), 3, 1, executor)


def test_a_sweep_tells_how_far_it_is():
    here, there = [], []
    sweep(CLOAKING, TOY, FOLDS, (0.5, 3.0), 2, 1, progress=here.append)
    np.testing.assert_allclose(here, np.arange(1, 9) / 8)
    with ThreadPoolExecutor(2) as executor:
        sweep(CLOAKING, TOY, FOLDS, (0.5, 3.0), 2, 1, executor, there.append)
    np.testing.assert_allclose(there, np.arange(1, 5) / 4)
