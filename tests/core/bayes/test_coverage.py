"""Intervals hold what they say on data drawn from models like those of the mixture, each world of another one."""

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.bias import Public
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.plan import stage_multipliers
from dpgp_core.bayes.records.filter import mixture_of
from dpgp_core.bayes.records.places import places_of
from dpgp_core.bayes.records.planning import plan_stages
from dpgp_core.bayes.records.readers import InFloats
from dpgp_core.bayes.records.stages import run_stages
from dpgp_core.gp.clipping import seen

BOX = [(0.0, 1.0)]
HALF, N, TESTS, WORLDS = 1.0, 80, 25, 300
LEVELS = (0.5, 0.9, 0.95, 0.99)
MODELS = auto_models(BOX, HALF)
OF_WORLDS = auto_models(BOX, HALF, (0.05, 0.1, 0.2, 0.4, 0.8))  # not the mixture's own noises
WEIGHTS = np.full(len(MODELS), 1 / len(MODELS))


def _worlds(X, rng):
    """Curves, which are means of clipped outputs, and clipped outputs (WORLDS, N + TESTS), each of its own model."""
    curves = np.empty((WORLDS, len(X)))
    y = np.empty_like(curves)
    for world, index in enumerate(rng.integers(len(OF_WORLDS), size=WORLDS)):
        kernel, noise = OF_WORLDS[index].kernel, OF_WORLDS[index].noise_variance
        L = np.linalg.cholesky(kernel(X, X) + 1e-8 * np.eye(len(X)))
        f = L @ rng.standard_normal(len(X))
        curves[world] = seen(f, noise, HALF)[0]
        y[world] = np.clip(f + noise**0.5 * rng.standard_normal(len(X)), -HALF, HALF)
    return curves, y


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0])
def test_intervals_hold_on_data_from_the_models(epsilon):
    rng = np.random.default_rng(11)
    X = rng.uniform(0, 1, (N + TESTS, 1))
    f, y = _worlds(X, rng)
    places = places_of(MODELS, X[:N], X[N:], public=Public(BOX, HALF))
    planned = plan_stages(places, WEIGHTS, HALF, stage_multipliers(noise_multiplier(epsilon, 0.01), 6), gap=0.05)

    measure = InFloats(y[:, :N], lambda rows: rng.standard_normal((WORLDS, rows)))
    outcome = run_stages(planned, places, WEIGHTS, HALF, measure, draws=WORLDS)
    prediction = mixture_of(places, outcome.states, outcome.weights)
    for of, truth in (("function", f[:, N:]), ("outputs", y[:, N:])):
        probability = prediction.probability_below(truth, of)
        for level in LEVELS:
            inside = (np.abs(probability - 0.5) <= level / 2).mean(axis=1)
            error = inside.std() / np.sqrt(WORLDS)
            assert abs(inside.mean() - level) < 0.03 + 3 * error, (of, level, inside.mean())
            assert error < 0.02
