"""Curves are right, and as sure as they say: in worlds of the models, and for inputs and outcomes of every kind."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bayes.ends import ENDS
from benchmarks.fit import as_if_inputs_were_even
from benchmarks.inputs import CURVES, OUTCOMES, PLACES, World, wage
from benchmarks.outcomes import DELTA, GRID, PROTECTS, WORLDS, summarised
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.budget import split_budget
from dpgp_core.bayes.cells import cells_of
from dpgp_core.bayes.curator import Curator
from dpgp_core.bayes.engine import run
from dpgp_core.bayes.filter import filter_of
from dpgp_core.bayes.mixture import stack_draws
from dpgp_core.bayes.model import auto_models
from dpgp_core.gp.clipping import clipped_moments
from dpgp_core.gp.pivoted import factorise
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.tables import table

# ---- Intervals hold what they say on data drawn from models like those of the mixture, each world of another one.
#
# As releases show them: those for one more person rest on the distances that every release measures. Few people leave
# these uncertain, and an interval that should hold half of the people holds up to 57 %.


HALF, TESTS = 1.0, 25
LEVELS = (0.5, 0.9, 0.95, 0.99)
NOISES_OF_WORLDS = (0.05, 0.1, 0.2, 0.4, 0.8)  # not the mixture's own
GAP = 0.1


def covered(dim, n, epsilon, worlds, crowded=False):
    """Share of truths in each interval, by kind and level: mean over worlds and its standard error."""
    rng, box = np.random.default_rng(5), ((0.0, 1.0),) * dim
    grid, models, worlds_of = (
        cells_of(box, n, noise_multiplier(epsilon, 0.01)),
        auto_models(box, HALF),
        auto_models(box, HALF, NOISES_OF_WORLDS),
    )
    filtered = filter_of(models, grid, n, HALF, gap=GAP)
    features = {model.kernel: factorise(model.kernel, places(dim), 1e-9).features for model in models}
    split = split_budget(noise_multiplier(epsilon, 0.01), "number", 6, inputs_too=True)
    public = {"x_names": "xz"[:dim], "x_units": ("",) * dim, "x_box": box, "y_bounds": (-HALF, HALF)}
    found, truths = [], {"function": [], "outputs": []}
    for _ in range(worlds):
        X = rng.beta(2, 5, (n + TESTS, dim)) if crowded else rng.uniform(0, 1, (n + TESTS, dim))
        model = worlds_of[rng.integers(len(worlds_of))]
        phi = features[model.kernel].at(X).values()
        f = phi @ rng.standard_normal(phi.shape[1])
        y = f + np.sqrt(model.noise_variance) * rng.standard_normal(n + TESTS)
        curator = Curator(table(X[:n], y[:n], **public), grid, rng)
        found.append(replace(run(filtered, split, curator, None, X[n:])[1], fit=()))
        truths["function"].append(clipped_moments(f[n:], model.noise_variance, HALF)[0])
        truths["outputs"].append(np.clip(y[n:], -HALF, HALF))
    prediction, shares = stack_draws(found), {}
    for of, truth in truths.items():
        for level in LEVELS:
            low, high = (np.clip(end, -HALF, HALF) for end in prediction.interval(level, of))
            inside = ((low <= np.array(truth)) & (np.array(truth) <= high)).mean(axis=1)
            shares[of, level] = inside.mean(), inside.std() / np.sqrt(worlds)
    return shares


def places(dim):
    side = np.linspace(0, 1, 150 if dim == 1 else 35)
    return np.stack(np.meshgrid(*[side] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


def check(shares):
    for (of, level), (share, error) in shares.items():
        assert share > level - 0.03 - 3 * error, (of, level, share)
        assert share < min(level + 0.12 + 3 * error, 1.0) + 1e-9, (of, level, share)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
@pytest.mark.parametrize(
    ("dim", "n", "crowded"),
    [(1, 200, False), (1, 1000, False), (1, 5000, False), (1, 1000, True), (2, 400, False), (2, 3000, False)],
)
def test_intervals_cover_curves_similar_to_the_prior(dim, n, crowded, epsilon):
    check(covered(dim, n, epsilon, 120 if dim == 1 else 40, crowded))


# ---- The curve is right, and as sure as it says, wherever inputs stand and however rough it is: small cases of each
# kind.
#
# Numbered draws of worlds with a known mean (``benchmarks.inputs``). Before counts could be rough, the few values and
# heaps of the first test were published with .0 to .4 of the curve inside its 95 % intervals, where more than .9 are
# now. A curve's errors hang together, and another processor plans other strategies, so that of three repeats .75 is
# asked for.


FEW, INSIDE = 3, 0.75
OFTEN_PLACES = {("five_values", "inputs"), ("one_heap", "inputs"), ("towns", "inputs"), ("people", "outputs")}
PLACES_OF_CASES = [
    pytest.param(where, which, marks=[] if (where, which) in OFTEN_PLACES else pytest.mark.full)
    for where in PLACES
    for which in PROTECTS
]


def errors_of(releases, truth):
    """Errors of releases at places of a known truth, and the share of it inside their 95 % intervals."""
    ends = [(each.samples[0], *(end[0] for end in each.interval(0.95, "function"))) for each in releases]
    return summarised(*map(np.array, zip(*ends, strict=True)), truth)


def found_at(world, n, which, repeats, X=None):
    mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects=PROTECTS[which])
    X, releases = world.places.judged if X is None else X, []
    for repeat in range(repeats):
        rng = np.random.default_rng([n, repeat])
        data = world.table(n, rng)
        releases.append(mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False))
    return errors_of(releases, world.truth(X)), [release.fit for release in releases]


@pytest.mark.full_for("one_heap-inputs", "towns-inputs")
@pytest.mark.parametrize(("where", "which"), PLACES_OF_CASES)
def test_the_curve_is_accurate_at_the_records(where, which):
    judged, fits = found_at(World(PLACES[where], wage, OUTCOMES["normal"]), 30_000, which, FEW)
    assert judged.inside >= INSIDE
    assert judged.error < 0.5
    assert all(fit.widened < 2 for fit in fits)


def test_records_on_few_values_leave_other_cells_empty():
    """Was .3: strategies added up the people that noise put into 85 empty cells, and rough curves were believed."""
    judged, _ = found_at(World(PLACES["five_values"], wage, OUTCOMES["counts"]), 30_000, "inputs", 2)
    assert judged.error < 0.15
    assert judged.inside >= INSIDE


@pytest.mark.parametrize(
    ("where", "people", "most"),
    [("even", 3000, 3.0), *(pytest.param(w, 30_000, 8.0, marks=pytest.mark.full) for w in ("five_values", "towns"))],
)
def test_very_wide_bounds_do_not_bias_the_curve(where, people, most):
    """Without conditions on residual variances, models expect clipping where no outcome is, and err by 5.9."""
    judged, _ = found_at(World(PLACES[where], wage, OUTCOMES["wide_bounds"]), people, "inputs", 12)
    assert judged.error < most
    assert judged.inside >= INSIDE


def test_counts_of_groups_have_small_noise_models():
    """Was .7, and widened 2.9 times: groups had no model of so little scatter."""
    judged, fits = found_at(World(PLACES["groups"], wage, OUTCOMES["counts"]), 3000, "outputs", 2)
    assert judged.error < 0.4
    assert judged.inside >= INSIDE
    assert all(fit.fits for fit in fits)


@pytest.mark.full_for("kink")
@pytest.mark.parametrize("curve", ["kink", *(pytest.param(c, marks=pytest.mark.full) for c in ("jump", "peak"))])
def test_a_change_of_slope_is_covered_and_found(curve):
    world, X = World(PLACES["even"], CURVES[curve], OUTCOMES["normal"]), np.linspace(0.01, 0.99, 61)[:, None]
    few, _ = found_at(world, 3000, "inputs", FEW, X)
    many, _ = found_at(world, 30_000, "inputs", FEW, X)
    assert many.inside >= INSIDE  # .52 for a kink without rough models
    assert many.error < 0.7 * few.error


@pytest.mark.full_for("even_ages", "one_heap")
@pytest.mark.parametrize("where", ["five_values", "even_ages", "one_heap"])
def test_counts_of_a_wrong_density_widen_intervals(where):
    """As before this could be right: the release itself says that it is not, and its intervals hold."""
    with as_if_inputs_were_even():
        judged, fits = found_at(World(PLACES[where], wage, OUTCOMES["normal"]), 30_000, "inputs", FEW)
    assert not any(fit.fits for fit in fits)
    assert judged.inside >= 0.9


# ---- The curve is right, and as sure as it says, whatever people's outcomes are like: small cases of every kind.
#
# Numbered draws of worlds with a known mean; the worlds and the noise are the same each time, but another processor
# plans other strategies, and what is drawn through them is another sample. A curve's errors hang together: the share
# of its points inside the 95 % interval scatters by .05 to .09 from draw to draw, for yes/no of 300 people by .15,
# and has means of .97 and .93. So repeats are as many as leave a mean of .85 three standard errors away or more.


OFTEN = {("gamma_even", "inputs and outputs")}  # in `make test`; all of them in `make test-all`
KINDS = ["gamma_even", "yes_no", "counts", "normal"]
MORE = ["at_a_bound", "wide_bounds", "lognormal", "yes_no_half", "two_point", "heavy_tails", "outliers", "gamma"]
CASES = [
    pytest.param(name, protects, marks=[] if (name, protects) in OFTEN else pytest.mark.full)
    for name in (*KINDS, *MORE)
    for protects in ("outputs", "inputs and outputs")
]
REPEATS, REPEATS_OF = 8, {"yes_no": 40, "outliers": 40}  # of which shares in eight draws scatter by .05


def found(name, n, mechanism, rng, repeats=REPEATS):
    """Errors and shares of one world; records stay where they are, so that one plan serves all repeats."""
    world = WORLDS[name]
    x = (np.arange(n) + 0.5) / n
    data = replace(world.table(n, rng), X=x[:, None])
    plan = mechanism.plan_for(data, GRID[:, None])
    releases = []
    for _ in range(repeats):
        drawn = replace(data, y=np.asarray(world.quantile(rng.uniform(0, 1, n), x), dtype=float))
        releases.append(mechanism.measure(plan, drawn, GRID[:, None], rng, mean=False))
    return errors_of(releases, world.truth(GRID))


@pytest.mark.full_for("gamma_even-inputs and outputs")
@pytest.mark.parametrize(("name", "protects"), CASES)
def test_intervals_cover_and_errors_decrease(name, protects):
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects=protects)
    repeats = REPEATS_OF.get(name, REPEATS)
    few = found(name, 300, mechanism, np.random.default_rng(300), repeats)
    many = found(name, 3000, mechanism, np.random.default_rng(3000), repeats)
    assert few.inside >= 0.85
    assert many.inside >= 0.85
    assert many.error < 0.6 * few.error
    low, high = WORLDS[name].bounds
    assert many.error < 0.03 * (high - low)


@pytest.mark.parametrize(
    ("name", "n"),
    [("far_out", 10_000), pytest.param("costs", 20_000, marks=pytest.mark.full)],
    ids=["far out", "costs"],
)
def test_intervals_account_for_outliers(name, n):
    """Was .00 and .01 inside: 17 of a mean of 37, three in a hundred at the far end, were taken for nobody, surely."""
    mechanism = BayesCloaking(epsilon=1.0, delta=1e-5, protects="inputs and outputs")
    assert found(name, n, mechanism, np.random.default_rng(5), FEW).inside >= INSIDE


@pytest.mark.full
def test_intervals_cover_the_curve_where_noise_hides_the_counts():
    """Eight releases with fixed seeds: coverage was 0.68, because there seemed to be far too many people."""
    world, mechanism = ENDS["thin"], BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
    X, releases = np.arange(61.0, 81.0)[:, None], []
    for repeat in range(8):
        rng = np.random.default_rng([world.n, repeat])
        data = world.table(rng)
        releases.append(mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False))
    assert errors_of(releases, world.truth[61:]).inside >= 0.8
