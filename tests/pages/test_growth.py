"""The growth chart: centiles are those of the release, in order, and one person's place among them."""

import numpy as np
import pytest

import datasets
from dpgp_core.release import CENTILES
from pages._ui.cloaking import computed, staged
from pages._ui.model import Design, Draw, Model
from tests.pages.reading import page_text

ASKED = Model("kung", "EQ", 25.0, 0.3), Design(), Draw(epsilon=1.0, delta=0.01)


@pytest.fixture(scope="module")
def result():
    return computed.run(*ASKED)


def test_centiles_are_in_order_and_about_the_curve(result):
    chart = computed.growth_of(result)
    assert list(chart.lines) == list(CENTILES)
    assert (np.diff(chart.values, axis=0) > 0).all()
    grid = slice(result.outcome.scene.records, None)
    low, high = result.intervals.output.of(0)[:, grid]
    inside = (low < chart.lines[3]) & (chart.lines[97] < high)  # 3 to 97 lies within the central 95 %
    assert inside.all()


def test_the_method_of_2018_has_normal_centiles_of_its_interval(result):
    paper = computed.run_published(ASKED[0], ASKED[2])
    chart, grid = computed.growth_of(paper), slice(paper.outcome.scene.records, None)
    np.testing.assert_allclose(chart.lines[50], paper.outcome.samples[0, grid])
    low, high = paper.intervals.output.of(0)[:, grid]
    assert ((low < chart.lines[3]) & (chart.lines[97] < high)).all()


def test_without_privacy_the_lines_hold_the_shares_that_they_name():
    """287 people: a share is known to 3 in 100, so that 10 off is more than three standard errors."""
    data, chart = datasets.load("kung"), computed.growth_without_privacy("kung")
    for centile in CENTILES:
        line = np.interp(data.X[:, 0], chart.x, chart.lines[centile])
        assert 100 * (data.clipped_y < line).mean() == pytest.approx(centile, abs=10)


def test_a_person_on_a_line_has_its_centile():
    chart = staged.Growth(np.array([0.0, 10.0]), np.add.outer(np.array(staged.LEVELS, dtype=float), [0.0, 100.0]))
    assert chart.below(5.0, 50.0 + 15) == pytest.approx(15)
    assert chart.below(0.0, 1000.0) == 99
    assert chart.below(0.0, -5.0) == 1


@pytest.mark.parametrize(("height", "said"), [("158", "at least"), ("59", "at most 1 in 100")])
def test_the_page_says_where_a_moved_person_stands(open_page, height, said):
    app = open_page("kung_curves", overlay="false", growth_y_kung=height)
    assert not app.exception
    assert said in page_text(app)
