"""The Bayes release on the page of excursion sets: its price, what it needs, and whether its probabilities hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets import STUDIES, london_excursion
from dpgp_core.table import Dataset
from pages._ui.excursion import compute
from pages._ui.excursion.compute import View
from tests.pages.reading import deck, page_text, traces

CURVE = View("curve", 0.3, 8.0, 0.05, 1, 0.0, 0.0, 0.3, 1e-4, 1)
LONDON = View("london", 0.08, 8.0, 0.05, 1, 0.0, 13.0, 0.5, 1e-4, 1)


def simulated(name: str, epsilon: float, sets: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and truths of releases about simulated sets that no page shows."""
    study = STUDIES[name]
    targets = study.simulated(sets, noise=noise, seed=909)
    public = study.shown(noise=noise, threshold=0.0)[0]
    bayes = compute.mechanism(study.start[0], epsilon, 1e-4)
    view = replace(CURVE, name=name)
    probabilities = []
    for number, (X, y) in enumerate(zip(targets.X, targets.y, strict=True)):
        told = compute.said(bayes, replace(public, X=X, y=y), targets.grid, np.random.default_rng(number))
        probabilities.append(compute.read(told, view).probability)
    return np.concatenate(probabilities), targets.truth.ravel()


def holds(p: np.ndarray, truth: np.ndarray, slack: float = 0.1) -> None:
    """Of places said to be above with 80 % or more, as many are as it says, but for ``slack``; likewise below."""
    for likely, is_so in ((p, truth), (1 - p, ~truth)):
        if (likely >= 0.8).sum() > 10:
            assert is_so[likely >= 0.8].mean() >= likely[likely >= 0.8].mean() - slack
    assert truth.mean() == pytest.approx(p.mean(), abs=slack)


FULL = pytest.mark.full


@pytest.mark.full
@pytest.mark.parametrize(
    ("epsilon", "noise"),
    [(0.5, 0.3), pytest.param(5.0, 0.5, marks=FULL), pytest.param(compute.MOST_TESTED, 0.1, marks=FULL)],
)
def test_probabilities_hold_on_simulated_curves(epsilon, noise):
    """At ε = 0.5 a third of the curves have all places that are likely, side by side: so many curves."""
    holds(*simulated("curve", epsilon, 60, noise))


@FULL
def test_probabilities_hold_on_simulated_plumes():
    holds(*simulated("plumes", 3.0, 3, 0.3))


@pytest.mark.full
def test_probabilities_hold_for_hexagons_that_were_left_out():
    data = london_excursion.load()
    test = np.arange(0, data.n, 3)
    train: Dataset = data.subset(np.setdiff1d(np.arange(data.n), test))
    told = compute.said(compute.mechanism(0.08, 3.0, 1e-4), train, data.X[test], np.random.default_rng(0))
    holds(compute.read(told, LONDON).probability, data.y[test] >= 0)


def test_the_release_costs_what_one_path_costs_and_protects_the_same():
    found = compute.explore(replace(CURVE, L=3), 0.5)
    bayes = compute.bayes_set(CURVE, found)
    assert bayes.guarantee.budget.epsilon == found.path_epsilon
    assert bayes.guarantee.budget.delta == CURVE.delta
    assert found.guarantee.budget.epsilon > found.path_epsilon
    assert bayes.guarantee.protects == found.guarantee.protects == "inputs and outputs"


def test_another_threshold_reads_the_same_release():
    said = compute.released(CURVE, 3.0)
    low, high = (compute.read(said, replace(CURVE, threshold=level)) for level in (-0.4, 0.4))
    np.testing.assert_array_equal(low.mean, high.mean)
    assert (low.probability > high.probability).all()
    assert (low.inside | ~low.sure).all()


def test_nothing_is_said_where_the_budget_means_nothing(open_page):
    app = open_page("excursion_sets", r="1", sigma="0.0005")
    assert not app.exception
    assert app.metric[3].value == f"none above ε = {compute.MOST_TESTED:g}"
    assert "Bayes cloaking" not in traces(app)


def test_the_curve_shows_the_release_beside_paths(open_page):
    app = open_page("excursion_sets")
    assert "Bayes cloaking" in traces(app)
    assert {"Bayes cloaking", "Bayes cloaking, 90% sure"} <= set(traces(app, 1)["found"]["y"])
    assert app.metric[3].label == "Overlap, Bayes cloaking"
    assert "noisy counts of records in public cells" in page_text(app)


@pytest.mark.full
def test_the_map_offers_the_release_without_the_overlay(open_page):
    app = open_page(
        "excursion_sets", excursion="london", overlay="false", excursion_layer="Probability from Bayes cloaking"
    )
    assert not app.warning
    shown = [row["value"] for row in deck(app)["layers"][0]["data"]]
    table = app.dataframe[0].value["Bayes probability [%]"]
    assert [float(value.strip("≥ %")) for value in shown] == [float(f"{value:.0f}") for value in table]
    assert 0 <= table.min() < table.max() <= 100
