"""The limits that Compare draws under a prior, and what Bayes cloaking reaches there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets import exhibit
from pages._ui.compare import contenders
from pages._ui.compare.contenders import scale_of
from pages._ui.model import Model, load_dataset
from tests.pages.reading import page_text, traces

TOY = Model("toy_1d", "EQ", exhibit("toy_1d").lengthscale, 0.3)
NAMES = {
    "no mechanism can do better",
    "Bayes cloaking, simulated",
    "best fixed linear map with Gaussian noise",
    "without privacy",
}


@pytest.fixture(scope="module")
def found():
    return contenders.possible(load_dataset("toy_1d"), TOY, 0.01)


@pytest.mark.full
def test_nothing_passes_the_limit_of_all(found):
    assert (found.reached > found.any).all()
    assert (found.any <= found.fixed).all()
    assert (found.any >= found.without_privacy).all()
    for falling in (found.any, found.fixed):
        assert (np.diff(falling) <= 1e-3 * falling[:-1]).all()
    assert (np.diff(found.reached) <= found.standard_error[1:]).all()  # simulated


def test_the_share_beyond_the_bounds_is_that_of_the_prior():
    kernel, noise, half = contenders.prior_of(load_dataset("toy_1d"), TOY)
    draws = np.random.default_rng(0).normal(0, np.sqrt(kernel.variance + noise), 100_000)
    # a false alarm has a probability below 1e-6: five standard errors
    assert (np.abs(draws) > half).mean() == pytest.approx(
        contenders.OUTSIDE, abs=5 * np.sqrt(contenders.OUTSIDE / 100_000)
    )


def test_no_output_is_read():
    data = load_dataset("toy_1d")
    other = replace(data, y=data.y[::-1])
    one, two = (contenders._at(each.X, each.x_box, contenders.prior_of(each, TOY), 0.01, 1.0) for each in (data, other))
    assert one == two


@pytest.mark.full
def test_figure_and_words_name_every_line(found):
    scale = scale_of(load_dataset("toy_1d"))
    drawn = {trace.name: trace for trace in contenders.figure(found, scale).data if trace.name}
    assert set(drawn) == NAMES
    np.testing.assert_array_equal(drawn["no mechanism can do better"].y, found.any)
    np.testing.assert_array_equal(drawn["Bayes cloaking, simulated"].x, contenders.EPSILONS)
    assert "not the error on people left out" in contenders.caption()


@pytest.mark.full
def test_the_page_draws_limits_when_asked(open_page):
    app = open_page("compare", compare_dataset="toy_1d", limits="true")
    assert not app.exception
    assert set(traces(app, 1)) >= NAMES
    assert "proven for every mechanism" in page_text(app) + "".join(each.value for each in app.caption)
