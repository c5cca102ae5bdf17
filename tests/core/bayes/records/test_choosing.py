"""How wide intervals are: chosen by what was released, of each draw its own, and never for the privacy of anybody."""

import numpy as np
import pytest

from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.records.choosing import Known, least_risk_intervals, next_intervals
from dpgp_core.bayes.records.filter import update
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.stages import Observed, after, begin, squares_about, with_squares
from dpgp_core.bayes.records.stages import Squares as SquaresOf
from dpgp_core.bayes.scatter import expected
from dpgp_core.bayes.widths import DRAWN_TIED, WIDTHS

N, TESTS, HALF, BOX = 400, 9, 1.0, ((0.0, 1.0),)
X, X_TEST = (np.arange(N)[:, None] + 0.5) / N, np.linspace(0.1, 0.9, TESTS)[:, None]
MODELS = auto_models(BOX, HALF)
PRIOR = np.full(len(MODELS), 1 / len(MODELS))
FIFTHS = np.repeat(np.eye(5), N // 5, axis=1)  # sums over fifths of the inputs
CLIPS = tuple(0.75 * times for times in WIDTHS)


@pytest.fixture(scope="module")
def places():
    return places_of(MODELS, X, X_TEST, public=Public(BOX, HALF))


def known_after(places, scatters, s=0.3):
    """Of one draw for each scatter, what a stage of sums about 0, and squares that say it, leave."""
    whole = np.full((len(scatters), N), HALF)
    seen = Observed(FIFTHS, -whole, whole, s, np.zeros((len(scatters), len(FIFTHS))))
    now = after(places, PRIOR, begin(places, PRIOR, len(scatters)), seen)
    g, high = squares_about(places, now, HALF)
    normal = np.random.default_rng(1).standard_normal(4000)
    sums = [
        N * (np.minimum((scatter * normal) ** 2, reach.mean()) / reach.mean() - 0.5).mean()
        for scatter, reach in zip(scatters, high, strict=True)
    ]
    now = with_squares(places, PRIOR, now, SquaresOf(g, high, s, np.array(sums)))
    return Known(now.states, now.weights, now.scatter)


def test_draws_take_the_widest_that_takes_away_nearly_as_much_risk_as_the_best(places):
    """Where noise leaves most of the risk, all widths leave about the same, and that is no reason for a wide one."""
    known, s = known_after(places, [0.1]), 3.0
    tried = [next_intervals(known.states, known.weights, N, HALF, clip) for clip in CLIPS]
    model = int(known.weights[0].argmax())
    left = []
    for low, high in tried:
        noise = expected(known.scatter, HALF)
        state = update(places[model], known.states[model], FIFTHS, low, high, s, np.zeros((1, len(FIFTHS))), noise)
        left.append(state.variance[0, places[model].tests].sum())
    before = known.states[model].variance[0, places[model].tests].sum()
    gained = before - np.array(left)
    good = np.flatnonzero(gained >= (1 - DRAWN_TIED) * gained.max())
    chosen = least_risk_intervals(places, known, HALF, CLIPS, FIFTHS, s)
    np.testing.assert_array_equal(chosen[0], tried[good[-1]][0])
    assert max(left) < 1.2 * min(left)


def test_much_noise_takes_narrow_intervals_and_little_noise_wide_ones(places):
    known = known_after(places, [0.1])
    wide = [next_intervals(known.states, known.weights, N, HALF, clip) for clip in CLIPS]
    narrow = least_risk_intervals(places, known, HALF, CLIPS, FIFTHS, 3.0)
    np.testing.assert_array_equal(narrow[0], wide[0][0])
    least = least_risk_intervals(places, known, HALF, CLIPS, FIFTHS, 0.1)
    np.testing.assert_array_equal(least[0], wide[-1][0])
    np.testing.assert_array_equal(least[1], wide[-1][1])


def test_draws_choose_for_themselves_as_if_alone(places):
    """By what squares say of each: where people scatter more, intervals that touch the range are worth it sooner."""
    scatters, s = [0.05, 0.6], 6.0
    known = known_after(places, scatters)
    low, high = least_risk_intervals(places, known, HALF, CLIPS, FIFTHS, s)
    for draw, scatter in enumerate(scatters):
        alone = least_risk_intervals(places, known_after(places, [scatter]), HALF, CLIPS, FIFTHS, s)
        np.testing.assert_allclose(low[draw], alone[0][0], rtol=1e-9)
        np.testing.assert_allclose(high[draw], alone[1][0], rtol=1e-9)
    assert (high[1] - low[1]).mean() > 2 * (high[0] - low[0]).mean()


def test_one_width_is_taken_without_a_question(places):
    known = known_after(places, [0.2])._replace(scatter=None)
    for ours, theirs in zip(
        least_risk_intervals(places, known, HALF, CLIPS[:1], FIFTHS, 1.0),
        next_intervals(known.states, known.weights, N, HALF, CLIPS[0]),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)
