"""The search for private settings of an excursion set."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from threading import Event

import numpy as np
import pytest

from datasets import excursion_1d
from dpgp_core.accounting.posterior_paths import posterior_sampling_epsilon
from dpgp_core.excursion.search import SearchSpace, minimise, search
from dpgp_core.excursion.sets import binary_cross_entropy, excursion_probability
from dpgp_core.gp.regression import posterior
from dpgp_core.kernels import Matern12
from tests.waiting import PATIENCE

DELTA = 0.005
SPACE = SearchSpace(lengthscale=(0.1, 1.0, 3), r=(0.5, 8.0, 3), scale=(0.05, 1.0, 3))
GRID = [*product(*SPACE.coarse())]


@pytest.fixture(scope="module")
def targets():
    return excursion_1d.targets(3, n=40, noise=0.3, size=50)


def price(lengthscale, r, scale):
    return posterior_sampling_epsilon(40, r, scale, np.exp(-1 / lengthscale), DELTA, sensitivity="exponential_1d")


def brute_force(targets, lengthscale, r, scale):
    losses = []
    for X, y, truth in zip(targets.X, targets.y, targets.truth, strict=True):
        mean, covariance = posterior(Matern12(lengthscale=lengthscale), X, y, targets.grid, r**2)
        p = excursion_probability(mean, scale**2 * covariance.diagonal(), targets.threshold)
        losses.append(binary_cross_entropy(p, truth))
    return np.mean(losses)


@pytest.mark.parametrize("threshold", [0.0, 0.2])
def test_the_search_finds_the_grid_optimum(targets, threshold):
    targets = replace(targets, threshold=threshold)
    found = search(targets, price, space=SPACE, rounds=0)[0]
    losses = [brute_force(targets, *point) for point in GRID]
    assert (found.lengthscale, found.r, found.scale) == GRID[int(np.argmin(losses))]
    assert found.bce == pytest.approx(min(losses), rel=1e-9)
    assert found.epsilon == pytest.approx(price(found.lengthscale, found.r, found.scale))
    found = search(targets, price, (5.0,), SPACE, rounds=1)[0]
    assert found.epsilon <= 5
    assert found.bce <= min(loss for loss, point in zip(losses, GRID, strict=True) if price(*point) <= 5) + 1e-12


FINE = SearchSpace(lengthscale=(0.1, 1.0, 5), r=(0.5, 8.0, 6), scale=(0.05, 2.0, 7))
BUDGETS = (math.inf, 10.0, 3.0, 1.0)


def bowl(lengthscale, r, scale):
    """Least, 0, at (0.37, 1.3, 0.21)."""
    return math.log(lengthscale / 0.37) ** 2 + np.log(r / 1.3)[:, None] ** 2 + 0.5 * np.log(scale / 0.21) ** 2


def price_of_each(lengthscale, r, scale):
    return 2 / (np.asarray(lengthscale) * r * scale)


def test_refinement_closes_in_on_the_optimum():
    losses = [minimise(bowl, price_of_each, (math.inf,), FINE, rounds)[0].bce for rounds in (0, 1, 2, 5)]
    assert losses == sorted(losses, reverse=True)
    found = minimise(bowl, price_of_each, (math.inf,), FINE, 5)[0]
    np.testing.assert_allclose([found.lengthscale, found.r, found.scale], [0.37, 1.3, 0.21], rtol=0.01)


def test_budgets_are_kept_and_looser_is_never_worse():
    seen = []
    found = minimise(bowl, price_of_each, BUDGETS, FINE, 2, seen.append)
    assert all(setting.epsilon <= budget for setting, budget in zip(found, BUDGETS, strict=True))
    assert [setting.bce for setting in found] == sorted(setting.bce for setting in found)
    assert seen == sorted(seen)
    assert seen[0] > 0
    assert seen[-1] == pytest.approx(1)


def test_a_private_optimum_spends_the_whole_budget():
    found = minimise(bowl, price_of_each, (3.0,), FINE, 4)[0]
    assert found.epsilon == pytest.approx(3.0, rel=1e-4)
    # Lagrange: on log(l) + log(r) + log(s) = log(2/3), gradients (2 dl, 2 dr, ds) are equal
    away = math.log(2 / 3) - math.log(0.37 * 1.3 * 0.21)
    step = away / (0.5 + 0.5 + 1)
    assert found.bce == pytest.approx(2 * (step / 2) ** 2 + 0.5 * step**2, rel=0.01)


def test_settings_stay_within_the_space():
    outside = minimise(lambda a, r, s: np.log(s) + np.log(r)[:, None], price_of_each, (math.inf,), FINE, 3)[0]
    assert (outside.r, outside.scale) == pytest.approx((0.5, 0.05))


def test_ties_go_to_the_first_candidate():
    last = Event()

    def flat(lengthscale, r, scale):
        return np.zeros(scale.shape)

    def first_at_last(lengthscale, r, scale):
        if lengthscale == FINE.lengthscale[1]:
            last.set()
        elif lengthscale == FINE.lengthscale[0]:
            assert last.wait(PATIENCE)
        return flat(lengthscale, r, scale)

    here = minimise(flat, price_of_each, BUDGETS, FINE, 1)
    with ThreadPoolExecutor(5) as executor:
        assert minimise(first_at_last, price_of_each, BUDGETS, FINE, 1, executor=executor) == here
    assert last.is_set()
