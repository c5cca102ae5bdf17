"""What pages open with was computed beforehand: it is used, and it is what would be computed now."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest

from benchmarks.server.first_results import change
from datasets import EXHIBITS
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.mechanisms import CATALOGUE
from pages._ui import left_out, opening
from pages._ui.compare import compute, contenders, words
from pages._ui.compare.compute import concerning
from pages._ui.compare.contenders import BY_WAIT, CONTENDERS, CURVE_EPSILONS
from pages._ui.look import offers
from pages._ui.model import Budget
from pages._ui.sparse import compute as sparse
from pages._ui.sparse import view as sparse_view
from pages._ui.work import beforehand, cached, jobs
from pages._ui.work.jobs import Jobs

DRAWS = {name: CONTENDERS[name].simulated for name in BY_WAIT}  # read before other tests have fewer
ROUNDING = 0.02  # of a size: another processor may take another step of an optimiser
PAGES = ("start", "kung_curves", "london_noise_map", "lengthscale_choice", "compare", "sparse_dp_gp", "explore_release")
LONG = {  # functions that take seconds: of a first visit none of them is left
    "pages._ui.left_out": {"fold_residuals", "fold_measurements", "_of_mixture"},
    "pages._ui.cloaking.staged": {"without_privacy"},
    "pages._ui.compare.contenders": {"curve", "piece"},
    "pages._ui.sparse.compute": {
        "fit_variants",
        "curve_without_privacy",
        "release_bayes",
        "simulate_bayes",
        "best_without_privacy",
    },
}


@pytest.fixture
def used(monkeypatch):
    """The file, and nothing else that was computed before."""
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM, shipped=beforehand.find))


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("contest", compute.opened(), ids=lambda each: each.model.dataset)
def test_compare_opens_with_shipped_curves(contest):
    for name in BY_WAIT:
        found = compute.curve(contest, name)
        if name not in ("bayes", "bayes_cells"):
            assert found is beforehand.kept()[beforehand.name_of(contenders.curve, (concerning(contest, name), name))]
        assert found.errors.shape[0] == len(found.half_width) == len(found.half_score) == len(CURVE_EPSILONS)
        assert np.isfinite(found.errors).all()
        assert compute.is_ready(contest, name)
        if not name.endswith("_bins"):  # they have no intervals
            assert compute.is_ready(contest, name, 1.0)


@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("name", [each.name for each in EXHIBITS.values() if each.cross_validated])
def test_errors_of_bayes_cloaking_ship_for_every_epsilon(name, monkeypatch):
    monkeypatch.setattr(left_out, "of_all_folds", pytest.fail)
    protected = get_args(Protects) if name == compute.opened()[0].model.dataset else ["outputs"]
    for epsilon, protects in product(CURVE_EPSILONS, protected):
        found = left_out.simulated_errors(Budget(name, epsilon, offers.DELTA, protects))
        assert len(found.errors) == DRAWS["bayes"] == DRAWS["bayes_cells"]
        assert not found.errors.flags.writeable


def test_every_delta_ships_where_pages_open():
    every = set(product(CURVE_EPSILONS, offers.DELTAS))
    for name, protects in (("kung", "outputs"), ("kung", "inputs and outputs"), ("london_hexes", "outputs")):
        found = [each for each in opening.budgets() if (each.dataset, each.protects) == (name, protects)]
        assert {(each.epsilon, each.delta) for each in found} == every
    assert len(opening.budgets()) == len({*opening.budgets()})
    of_sparse = sparse.opening([*sparse_view.DATASET.titles], opening.DRAW)
    released = {each.settings[0].epsilon for each in of_sparse if each.function is sparse.release_bayes}
    assert released == {*offers.EPSILONS} >= {*sparse.CURVE_EPSILONS}


def test_lessons_open_their_linked_settings():
    assert {"delta": 0.01} in dict(words.LESSONS).values()
    assert 0.01 in offers.DELTAS
    led = [lesson["compare_dataset"] for _, lesson in words.LESSONS if "bins" in lesson and "compare_dataset" in lesson]
    assert led == [*compute.LINKED]
    assert {"compare_dataset": "london_hexes", "bins": compute.LINKED["london_hexes"]} in dict(words.LESSONS).values()


@pytest.mark.full_for("kung_curves", "lengthscale_choice")
@pytest.mark.usefixtures("used")
@pytest.mark.parametrize("page", PAGES)
def test_first_visitors_do_not_wait_long(open_page, monkeypatch, page):
    done = []
    packed = jobs.packed
    monkeypatch.setattr(jobs, "packed", lambda function, args: done.append(function) or packed(function, args))
    app = open_page(page)
    assert not app.error
    assert done
    assert not [each for each in done if each.__qualname__ in LONG.get(each.__module__, set())]


def test_written_results_are_read_back_unchanged(tmp_path):
    values = {
        "array": np.arange(6.0).reshape(2, 3),
        "scalars": [1, 2.5, None, True, "é", float("inf")],
        "dict": {"a": (1, 2), 3: np.array([True])},
        "named tuple": words.Ranked("refined", 1.5),
        "dataclass": contenders.Curve(np.ones((2, 3)), np.ones(2), np.array([np.nan, 1]), 0.25),
    }
    path, shipped = tmp_path / "results.npz", beforehand.kept()
    assert shipped
    beforehand.write((shipped | values).items(), path)
    again = beforehand.read(path)
    assert again.keys() == {*shipped, *values}
    assert all(change(value, again[name]) == 0 for name, value in (shipped | values).items())
    for name, value in values.items():
        assert type(again[name]) is type(value)
        assert repr(again[name]) == repr(value)


def test_a_file_holds_no_code(tmp_path):
    with pytest.raises(TypeError, match="cannot hold function"):
        beforehand.write([("x", opening.results)], tmp_path / "none.npz")
    path = tmp_path / "results.npz"
    forms = {
        "theirs": {"class": ["subprocess", "Popen"], "fields": {"args": "true"}},
        "gone": {"class": ["pages._ui.gone", "Gone"], "fields": {}},
        "changed": {"class": ["pages._ui.compare.words", "Ranked"], "fields": {"name": "a"}},
        "good": 1,
    }
    np.savez(path, forms=np.array(json.dumps(forms)))
    assert beforehand.read(path) == {"good": 1}


def test_a_change_is_the_largest_of_all_numbers():
    old = {"a": 1.0, "b": np.array([3.0, 4.0])}
    assert change(old, {"a": 1.0, "b": np.array([4.0, 3.0])}) == 0  # sizes: rows of a strategy may turn
    assert change(old, {"a": 2.0, "b": np.array([3.0, 4.0])}) == pytest.approx(0.5)
    assert change(old, {"a": 1.0, "b": np.array([3.0, np.nan])}) == pytest.approx(2 / 3)
    assert change(old, {"a": 1.0}) == np.inf


@pytest.mark.full
def test_it_is_what_would_be_computed_now(monkeypatch):
    for name, draws in DRAWS.items():
        monkeypatch.setitem(contenders.CONTENDERS, name, replace(CONTENDERS[name], simulated=draws))
        monkeypatch.setitem(CATALOGUE, name, replace(CATALOGUE[name], simulated=draws))
    monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))
    computed_now, shipped = set(), beforehand.kept()
    for request in opening.results():
        name = beforehand.name_of(request.function, request.settings)
        assert name in shipped, "python -m benchmarks first_results"
        now = request.function(*request.given, *request.settings)
        assert change(shipped[name], now) < ROUNDING, f"{name}: python -m benchmarks first_results"
        computed_now.add(name)
    assert computed_now == set(shipped)
