import math
import warnings
from dataclasses import replace

import pytest

from dpgp_core import BayesCloaking
from dpgp_core.accounting.guarantee import TEACHING
from dpgp_core.estimator import spending

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


def test_fits_of_people_are_of_the_same_people_and_not_of_one_row_each():
    first, second = (replace(each, rows=None) for each in (ONE, OTHER))
    both = spending.composed(first, second)
    assert both.rows is None
    assert spending.PEOPLE_ACROSS_FITS in both.assumptions
    assert not any("at most one record" in each for each in both.assumptions)


def test_a_numbered_draw_is_marked_and_a_real_one_is_not():
    assert ONE.taught().not_covered[0] == TEACHING


def test_the_warning_names_what_all_fits_spend():
    with pytest.warns(spending.SpentAgain, match=r"its 2 fits together spend epsilon = [\d.]+ at delta = 0.001"):
        spending.warn(spending.composed(ONE, OTHER))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(spending.SpentAgain):
            spending.warn(ONE)
