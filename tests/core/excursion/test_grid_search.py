import math
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from dpgp_core.excursion.search import SearchSpace, minimise
from tests.waiting import PATIENCE

SPACE = SearchSpace(lengthscale=(0.1, 1.0, 5), r=(0.5, 8.0, 6), scale=(0.05, 2.0, 7))
BUDGETS = (math.inf, 10.0, 3.0, 1.0)


def bowl(lengthscale, r, scale):
    """Least, 0, at (0.37, 1.3, 0.21)."""
    return math.log(lengthscale / 0.37) ** 2 + np.log(r / 1.3)[:, None] ** 2 + 0.5 * np.log(scale / 0.21) ** 2


def price(lengthscale, r, scale):
    return 2 / (np.asarray(lengthscale) * r * scale)


def test_refinement_closes_in_on_the_optimum():
    losses = [minimise(bowl, price, (math.inf,), SPACE, rounds)[0].bce for rounds in (0, 1, 2, 5)]
    assert losses == sorted(losses, reverse=True)
    found = minimise(bowl, price, (math.inf,), SPACE, 5)[0]
    np.testing.assert_allclose([found.lengthscale, found.r, found.scale], [0.37, 1.3, 0.21], rtol=0.01)


def test_coarse_search_finds_the_optimum_of_the_grid_by_brute_force():
    found = minimise(bowl, price, (math.inf,), SPACE, 0)[0]
    lengthscales, r, scales = SPACE.coarse()
    least = min(bowl(each, r, np.tile(scales, (len(r), 1))).min() for each in lengthscales)
    assert found.bce == least
    assert found.epsilon == pytest.approx(price(found.lengthscale, found.r, found.scale))


def test_budgets_are_kept_and_looser_is_never_worse():
    found = minimise(bowl, price, BUDGETS, SPACE, 2)
    assert all(setting.epsilon <= budget for setting, budget in zip(found, BUDGETS, strict=True))
    assert [setting.bce for setting in found] == sorted(setting.bce for setting in found)


def test_a_private_optimum_spends_the_whole_budget():
    found = minimise(bowl, price, (3.0,), SPACE, 4)[0]
    assert found.epsilon == pytest.approx(3.0, rel=1e-4)
    # Lagrange: on log(l) + log(r) + log(s) = log(2/3), gradients (2 dl, 2 dr, ds) are equal
    away = math.log(2 / 3) - math.log(0.37 * 1.3 * 0.21)
    step = away / (0.5 + 0.5 + 1)
    assert found.bce == pytest.approx(2 * (step / 2) ** 2 + 0.5 * step**2, rel=0.01)


def test_settings_stay_within_the_space():
    outside = minimise(lambda a, r, s: np.log(s) + np.log(r)[:, None], price, (math.inf,), SPACE, 3)[0]
    assert (outside.r, outside.scale) == pytest.approx((0.5, 0.05))


def test_ties_go_to_the_first_even_if_later_ones_are_done_before():
    last = Event()

    def flat(lengthscale, r, scale):
        return np.zeros(scale.shape)

    def first_at_last(lengthscale, r, scale):
        if lengthscale == SPACE.lengthscale[1]:
            last.set()
        elif lengthscale == SPACE.lengthscale[0]:
            assert last.wait(PATIENCE)
        return flat(lengthscale, r, scale)

    here = minimise(flat, price, BUDGETS, SPACE, 1)
    with ThreadPoolExecutor(5) as executor:
        assert minimise(first_at_last, price, BUDGETS, SPACE, 1, executor=executor) == here
    assert last.is_set()


def test_progress_rises_to_one():
    seen = []
    minimise(bowl, price, BUDGETS, SPACE, 2, seen.append)
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] == pytest.approx(1)


def test_a_budget_out_of_reach_is_refused():
    with pytest.raises(ValueError, match=r"no setting searched keeps epsilon <= 0.01; allow a larger r or scale"):
        minimise(bowl, price, (0.01,), SPACE, 1)


def test_a_cost_that_is_not_a_number_is_not_allowed():
    with pytest.raises(ValueError, match="no setting searched"):
        minimise(bowl, lambda a, r, s: np.asarray(np.nan), (math.inf,), SPACE, 1)


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"r": (0.0, 1.0, 3)}, "low end of r must be a finite number above 0"),
        ({"scale": (2.0, 1.0, 3)}, "scale must run from low to a finite high, got 2.0 to 1.0"),
        ({"lengthscale": (1.0, math.inf, 3)}, "lengthscale must run from low to a finite high"),
        ({"r": (1.0, 2.0, 0)}, "number of points of r must be a finite number above 0"),
    ],
)
def test_bad_spaces_are_refused(ranges, message):
    with pytest.raises(ValueError, match=message):
        SearchSpace(**ranges)
