"""A release says how far outliers that the noise may hide could move its curve."""

import json
import math

import numpy as np
import pytest

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes.clusters import clusters_of
from dpgp_core.bayes.counts import public_counts
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.model import auto_models
from dpgp_core.bayes.prediction import unseen_outliers
from dpgp_core.bayes.queries import StageMeasurement
from dpgp_core.bayes.refit import posterior_given
from dpgp_core.bayes.residuals import log_density, log_prior
from dpgp_core.measurement.statistics_file import statistics_from_files, statistics_to_files
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking

BOX, HALF, N, PLACES = ((0.0, 1.0),), 2.0, 600, 10
X = np.tile((np.arange(PLACES)[:, None] + 0.5) / PLACES, (N // PLACES, 1))


@pytest.fixture(scope="module")
def filtered():
    """Six hundred records, evenly at ten public places."""
    columns = clusters_of(BOX, X)
    return filter_of(auto_models(BOX, HALF)[:2], columns, N, HALF).with_counts(public_counts(columns, X))


def stage(filtered, B, half_width, s):
    ones = np.ones(PLACES)
    return StageMeasurement(B, -half_width * ones, half_width * ones, s, np.zeros(len(filtered.bins.nodes)))


LEVEL = np.full((1, PLACES), 1.0)  # the sum over all records
EACH = np.eye(PLACES)


@pytest.mark.parametrize(
    ("B", "hidden"), [(LEVEL, 3.0 / N), (EACH, 3.0 * math.sqrt(PLACES) / N)], ids=["level", "each place"]
)
def test_outliers_up_to_twice_the_noise_are_hidden(filtered, B, hidden):
    """N p outliers at the far end of the bounds move the sum by N p, as intervals are as wide as the bounds."""
    stages = (stage(filtered, B, HALF, 3.0), stage(filtered, B, 0.1, 0.5))
    assert unseen_outliers(filtered, filtered.prior(), stages) == pytest.approx(1.96 * hidden, rel=1e-12)


def test_two_unclipped_stages_hide_less_than_one(filtered):
    stages = (*[stage(filtered, LEVEL, HALF, 3.0)] * 2, stage(filtered, LEVEL, 0.1, 0.5))
    assert unseen_outliers(filtered, filtered.prior(), stages) == pytest.approx(1.96 * 3.0 / 2**0.5 / N, rel=1e-12)


def test_intervals_wider_than_the_bounds_hide_more(filtered):
    stages = (stage(filtered, LEVEL, 2 * HALF, 3.0), stage(filtered, LEVEL, 0.1, 0.5))
    assert unseen_outliers(filtered, filtered.prior(), stages) == pytest.approx(2 * 1.96 * 3.0 / N, rel=1e-12)


def test_no_outlier_is_hidden_where_no_stage_clips(filtered):
    assert unseen_outliers(filtered, filtered.prior(), [stage(filtered, LEVEL, HALF, 3.0)]) == 0.0


def test_everything_is_hidden_where_every_stage_clips(filtered):
    assert unseen_outliers(filtered, filtered.prior(), [stage(filtered, LEVEL, 0.1, 3.0)]) == 1.0


def test_outliers_that_were_seen_are_in_the_intervals(filtered):
    """Squares that see a share of 0.04 at every threshold: the clipping bias contains it."""
    found = log_prior()
    for A in (1.6, 0.8, 0.4, 0.2):
        sum_of_squares = 0.04 * N
        found = found + log_density(HALF, np.zeros(1), np.array([A]), np.array([float(N)]), 1.0, sum_of_squares - N / 2)
    stages = (stage(filtered, LEVEL, HALF, 3.0), stage(filtered, LEVEL, 0.1, 0.5))
    assert unseen_outliers(filtered, filtered.prior(found), stages) == 0.0


GRID = np.linspace(0.02, 0.98, 9)[:, None]


def released(bounds, kind="number"):
    rng = np.random.default_rng(0)
    inputs = rng.uniform(0, 1, (600, 1))
    y = 3 + 4 * inputs[:, 0] + rng.standard_normal(600)
    if kind == "yes/no":
        y = (y > 5).astype(float)
    mechanism = BayesCloaking(epsilon=5.0, delta=1e-5)
    return mechanism, mechanism.release(simulated(inputs, y, bounds, BOX, y_kind=kind), GRID)


def test_hidden_outliers_in_wide_bounds_are_reported():
    mechanism, release = released((0.0, 1000.0))
    low, high = release.interval(0.95, "function")
    assert release.unseen_outliers > (high - low).mean() / 2
    assert release.unseen_outliers == pytest.approx(1000 * release.uncertainty.prediction.unseen)
    card, npz = statistics_to_files(release.statistics[0])
    found = statistics_from_files(json.loads(json.dumps(card)), npz)
    again = posterior_given(found, mechanism.models_of_release(found)).at(GRID).curve
    assert again.unseen == pytest.approx(release.uncertainty.prediction.unseen, rel=1e-12)


def test_answers_of_yes_and_no_have_no_outliers():
    assert released((0.0, 1.0), "yes/no")[1].unseen_outliers == 0.0
