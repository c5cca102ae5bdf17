"""What fits of one estimator, and of its copies, spend together."""

import math
import warnings
from dataclasses import replace

import pytest

from dpgp_core import BayesCloaking
from dpgp_core.accounting.losses import compose
from dpgp_core.estimator import SpentAgain, SpentByCopies, spending
from tests.core.estimator.worlds import RECORDS, make

ONE = BayesCloaking(epsilon=1.0, delta=0.01).guarantee
OTHER = BayesCloaking(epsilon=0.5, delta=1e-3).guarantee


def test_two_fits_compose_exactly():
    both = spending.composed(ONE, OTHER)
    assert both.loss.mu == pytest.approx(math.hypot(ONE.loss.mu, OTHER.loss.mu))
    assert both.budget.delta == 1e-3
    assert both.budget.epsilon == pytest.approx(both.loss.epsilon(1e-3))
    assert both.releases == 2
    assert spending.ACROSS_FITS in both.assumptions
    assert "each fit" in spending.ACROSS_FITS
    twice = spending.composed(ONE, ONE)
    assert twice.loss.mu == pytest.approx(ONE.repeated(2).loss.mu, rel=1e-12)
    assert twice.budget.epsilon == pytest.approx(ONE.repeated(2).budget.epsilon, rel=1e-9)


def test_fits_of_people_and_rows_do_not_mix():
    first, second = (replace(each, rows=None) for each in (ONE, OTHER))
    both = spending.composed(first, second)
    assert both.rows is None
    assert spending.PEOPLE_ACROSS_FITS in both.assumptions
    assert not any("at most one record" in each for each in both.assumptions)


# ---- Copies of an estimator, as a search makes them, spend with every fit, and say so once with the sum.


def test_copies_count_every_fit_and_warn_once():
    model = make(stages=1)
    copies = [model.__sklearn_clone__().set_params(epsilon=epsilon) for epsilon in (0.5, 1.0, 2.0)]
    copies[0].fit(*RECORDS)
    with pytest.warns(SpentByCopies, match=r"every fit spends: 2 so far, together epsilon = 1\.\d+ at delta = 0.01"):
        copies[1].fit(*RECORDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copies[2].fit(*RECORDS)
    losses = [each.guarantee_.loss for each in copies]
    assert model.spent_by_copies() == (compose(losses, 0.01), 0.01)
    assert copies[0].spent_by_copies() == model.spent_by_copies()


def test_copies_are_summed_at_their_largest_delta():
    model = make()
    copies = vars(model.__sklearn_clone__())["_copies"]
    copies.count(ONE)
    with pytest.warns(SpentByCopies, match="at delta = 0.01"):
        copies.count(OTHER)
    assert model.spent_by_copies() == (compose([ONE.loss, OTHER.loss], 0.01), 0.01)


def test_the_original_counts_among_its_copies():
    for first_is_fitted_first in (True, False):
        model = make(stages=1)
        copy = None if first_is_fitted_first else model.__sklearn_clone__().fit(*RECORDS)
        if first_is_fitted_first:
            assert model.fit(*RECORDS).spent_by_copies() == (compose([model.guarantee_.loss], 0.01), 0.01)
            copy = model.__sklearn_clone__()
        with pytest.warns(SpentByCopies, match="every fit spends: 2 so far"):
            (copy if first_is_fitted_first else model).fit(*RECORDS)
        both = (compose([model.guarantee_.loss, copy.guarantee_.loss], 0.01), 0.01)
        assert model.spent_by_copies() == copy.spent_by_copies() == both


def test_simulated_fits_of_copies_count_nothing():
    model = make(stages=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            model.__sklearn_clone__().fit(*RECORDS)
    assert model.spent_by_copies() == (0.0, 0.0)
    alone = make(stages=1).fit(*RECORDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        alone.fit(*RECORDS)
    assert [each.category for each in caught] == [SpentAgain]
    assert alone.spent_by_copies()[0] == pytest.approx(alone.guarantee_.budget.epsilon)


def test_a_search_says_it_once():
    search = pytest.importorskip("sklearn.model_selection")
    grid = search.GridSearchCV(make(stages=1), {"epsilon": [0.5, 1.0]}, cv=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grid.fit(*RECORDS)
    assert len([each for each in caught if each.category is SpentByCopies]) == 1
    assert len(vars(grid.estimator)["_copies"].losses) == 5  # two budgets in two folds, and the best on all
