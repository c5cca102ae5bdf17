"""What Start and Compare open with was worked out beforehand: it is used, and it is what would be worked out now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pages._ui.compare import compute, contenders
from pages._ui.compare.contenders import CONTENDERS, CURVE_EPSILONS, USUAL
from pages._ui.compare.words import concerning
from pages._ui.model import load_dataset

READ = compute.kept  # before tests
FILE = READ()  # tests of other pages go without it
DRAWS = {name: CONTENDERS[name].simulated for name in USUAL}  # read before other tests have fewer
GAP = contenders.PICTURE_GAP
ROUNDING = 0.01  # of a mean error: another processor may take another step of an optimiser


@pytest.fixture
def used(monkeypatch, cold):
    """The file, and nothing else that was computed before."""
    monkeypatch.setattr(compute, "kept", lambda: FILE)


@pytest.mark.usefixtures("used")
def test_it_is_of_the_settings_that_pages_open_with():
    contest = compute.opening()
    assert set(FILE) == set(USUAL)
    for name in USUAL:
        found = compute.curve(contest, name)
        assert found is FILE[name].curve
        assert found.errors.shape[0] == len(found.half_width) == len(found.half_score) == len(CURVE_EPSILONS)
        assert np.isfinite(found.errors).all()
        assert not found.errors.flags.writeable
        assert compute.is_ready(contest, name)
    assert compute.find(concerning(replace(contest, delta=1e-4), "bayes"), "bayes") is None


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("page", ["start", "compare"])
def test_no_curve_is_worked_out_for_whoever_opens_a_page_first(open_page, monkeypatch, page):
    def worked_out(*_, **__):
        raise AssertionError("a curve was worked out")

    for name in ("curve", "piece"):
        monkeypatch.setattr(contenders, name, worked_out)
    app = open_page(page)
    assert not app.exception
    assert not app.error
    assert any("error" in each.value for each in app.markdown)


def test_what_is_written_is_read_back(tmp_path, monkeypatch):
    path = tmp_path / "built.npz"
    compute.write(FILE, path)
    monkeypatch.setattr(compute, "FILE", path)
    again = READ.__wrapped__()
    assert again.keys() == FILE.keys()
    for name, each in again.items():
        assert each.concern == FILE[name].concern
        np.testing.assert_array_equal(each.curve.errors, FILE[name].curve.errors)
        assert each.curve.seconds == FILE[name].curve.seconds
    monkeypatch.setattr(compute, "FILE", tmp_path / "none.npz")
    assert READ.__wrapped__() == {}


@pytest.mark.full
@pytest.mark.parametrize("name", USUAL)
def test_it_is_what_would_be_worked_out_now(name, monkeypatch):
    monkeypatch.setitem(contenders.CONTENDERS, name, replace(CONTENDERS[name], simulated=DRAWS[name]))
    monkeypatch.setattr(contenders, "PICTURE_GAP", GAP)
    contest = compute.opening()
    now = contenders.curve(load_dataset(contest.model.dataset), concerning(contest, name), name)
    kept = FILE[name].curve
    np.testing.assert_allclose(now.mean, kept.mean, rtol=ROUNDING, err_msg="python -m benchmarks first_results")
    np.testing.assert_allclose(now.half_width, kept.half_width, rtol=5 * ROUNDING)
