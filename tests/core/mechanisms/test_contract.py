"""One contract for every mechanism of the catalogue: a new row is covered as it is."""

import sys
from dataclasses import FrozenInstanceError, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dpgp_core.mechanisms
from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.guarantee import OTHER_ROWS
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.kernels import EQ
from dpgp_core.measurement import noise
from dpgp_core.measurement.statistics import CellStatistics, Statistics
from dpgp_core.measurement.statistics_file import statistics_to_files
from dpgp_core.mechanisms import (
    CATALOGUE,
    MECHANISMS,
    BayesCloaking,
    HallPosterior,
    RefinedCloaking,
    SparseVariational,
    TeachingRelease,
)
from dpgp_core.sparse.statistics import NoisyStatistics
from tests.core.mechanisms.cases import CASES, OTHERS, PARAMETERS, WHOLE, X_TEST, built, with_output, with_record
from tests.core.mechanisms.neighbours import allowed, at_the_ends, costs
from tests.core.replay import assert_same

STATEMENT = "this simulated release itself: it is for teaching"
KNOWN = {}
DRAWS = 2  # enough to differ; over cells each plans its stages anew


def names(kind):
    return {parameter.name for parameter in fields(kind)}


def adds_once(mechanism):
    """Whether all noise of a release is one linear map of independent noise."""
    return not isinstance(mechanism, BayesCloaking | RefinedCloaking | SparseVariational)


@pytest.fixture(params=[*CASES, *(pytest.param(case, marks=pytest.mark.full) for case in WHOLE)])
def mechanism(request):
    return built(request.param)


@pytest.fixture(params=[*CASES, *OTHERS])
def any_mechanism(request):
    return built(request.param)


@pytest.fixture(params=[case for case in [*CASES, *OTHERS] if adds_once(built(case))])
def any_adding(request):
    return built(request.param)


@pytest.fixture
def make_dataset(make_dataset):
    """The small dataset with a public box that holds the test points."""
    return lambda **changes: make_dataset(**{"x_box": ((-2.0, 12.0),), **changes})


def release(mechanism, data, seed=1, draws=DRAWS):
    return mechanism.release(data, X_TEST, np.random.default_rng(seed), draws)


def known(mechanism, data):
    """Numbered draws of the small dataset, made once."""
    if id(mechanism) not in KNOWN:
        KNOWN[id(mechanism)] = release(mechanism, data)
    return KNOWN[id(mechanism)]


def test_every_file_is_listed():
    folder = Path(dpgp_core.mechanisms.__file__).parent
    shared = {"__init__", "base", "catalogue", "gaussian"}
    files = {path.stem for path in folder.glob("[a-z]*.py")} - shared
    assert files == {kind.__module__.rsplit(".", 1)[1] for kind in MECHANISMS}


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_row_says_what_its_mechanism_is(name):
    entry = CATALOGUE[name]
    found = entry.build(replace(PARAMETERS, kernel=EQ(lengthscale=2.0)))
    assert entry.id == name
    assert isinstance(found, entry.kind)
    assert entry.private_inputs == (found.guarantee.protects == "inputs and outputs")
    assert entry.kind.pure == (found.guarantee.budget.delta == 0)
    if entry.kind.uses_cells:
        with pytest.raises(ValueError, match="needs cells, the number of cells along each input"):
            entry.build(replace(PARAMETERS, cells=None))


def test_titles_and_labels_are_stated_and_unique():
    assert len({entry.title for entry in CATALOGUE.values()}) == len(CATALOGUE)
    assert all(mechanism.label.strip() and mechanism.reference.strip() for mechanism in MECHANISMS)
    assert len({mechanism.label for mechanism in MECHANISMS}) == len(MECHANISMS)


def test_parameters_are_frozen(any_mechanism):
    for parameter in fields(any_mechanism):
        with pytest.raises(FrozenInstanceError):
            setattr(any_mechanism, parameter.name, None)


def test_guarantee_is_known_before_data_are_read(mechanism, make_dataset):
    data = make_dataset()
    before = mechanism.guarantee
    assert (before.budget.epsilon, before.budget.delta) == (1.0, getattr(mechanism, "delta", 0.0))
    assert before.proven_epsilon <= 1 + 1e-9
    for y in (data.y, -data.y):
        assert mechanism.release(make_dataset(y=y), X_TEST).guarantee == before.for_unit(data.privacy_unit)
    assert mechanism.guarantee == before


def test_a_plan_knows_nothing_private(mechanism, make_dataset):
    if isinstance(mechanism, HallPosterior):
        pytest.skip("it plans when it measures")
    data = make_dataset()
    other = replace(data, y=np.full(12, 1e300))
    if mechanism.guarantee.protects == "inputs and outputs":
        other = replace(other, X=np.full((12, 1), -1e9))
    assert_same(mechanism.plan_for(data, X_TEST), mechanism.plan_for(other, X_TEST))


def test_simulated_releases_are_marked_as_such(any_mechanism, make_dataset):
    found = known(any_mechanism, make_dataset())
    assert isinstance(found, TeachingRelease)
    assert found.guarantee.not_covered[0].startswith(STATEMENT)
    assert found.guarantee.releases == DRAWS
    assert found.guarantee.budget == any_mechanism.guarantee.repeated(DRAWS).budget
    for each in found.statistics:
        if isinstance(each, Statistics | CellStatistics):  # others have no file
            assert each.guarantee["simulated"]
            with pytest.raises(ValueError, match="a simulated release must not be published"):
                statistics_to_files(each)


def test_equal_generators_give_equal_releases(any_mechanism, make_dataset):
    data = make_dataset()
    X, y = data.X.copy(), data.y.copy()
    np.testing.assert_array_equal(release(any_mechanism, data).samples, known(any_mechanism, data).samples)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)


def test_other_generators_and_releases_differ(any_mechanism, make_dataset):
    first, second = found = known(any_mechanism, make_dataset()).samples
    assert (first != second).all()
    assert not np.array_equal(found, release(any_mechanism, make_dataset(), seed=2).samples)


def test_releases_compose(mechanism, make_dataset):
    guarantee = mechanism.release(make_dataset(), X_TEST, draws=3).guarantee
    one = mechanism.guarantee.loss
    assert guarantee.releases == 3
    if isinstance(one, GaussianLoss):
        assert guarantee.loss.mu == pytest.approx(one.mu * np.sqrt(3))
        assert guarantee.budget.epsilon == pytest.approx(epsilon_of(1 / guarantee.loss.mu, 0.01))
    else:
        assert guarantee.loss == PureLoss(one.pure_epsilon, times=3)
        assert guarantee.budget.epsilon == pytest.approx(3 * one.pure_epsilon)


def test_zero_releases_are_refused(any_mechanism, make_dataset):
    with pytest.raises(ValueError, match="releases must be at least 1, got 0"):
        release(any_mechanism, make_dataset(), draws=0)


def test_samples_have_the_mean_and_covariance_stated(any_adding, make_dataset):
    draws, found = 20_000, known(any_adding, make_dataset())
    covariance, sd = found.noise_covariance(), found.noise_sd
    many = release(any_adding, make_dataset(), draws=draws)
    noise = many.samples - many.mean
    # 6 standard errors of each of 9 means and 45 (co)variances: false alarm 54 * 2e-9 = 1e-7
    assert (np.abs(noise.mean(axis=0)) <= 6 * sd / np.sqrt(draws)).all()
    excess = 3 if isinstance(found.guarantee.loss, PureLoss) else 0  # kurtosis of Laplace noise, at most
    error = np.sqrt(((1 + excess) * np.outer(sd, sd) ** 2 + covariance**2) / draws)
    assert (np.abs(noise.T @ noise / draws - covariance) <= 6 * error).all()


@pytest.mark.parametrize("bounds", [(1e9, 1e9 + 2), (-1e-9, 1e-9), (0.0, 1e15)], ids=str)
def test_no_neighbour_costs_more_whatever_the_bounds(mechanism, make_dataset, bounds):
    low, high = bounds
    y = low + (high - low) * np.random.default_rng(3).uniform(size=12)
    data = make_dataset(y=y, y_bounds=bounds, y_scale=(high - low) / 2)
    found = costs(mechanism, *at_the_ends(data, (0, 5, 11)))
    assert 0 < min(found) <= max(found) <= allowed(mechanism.guarantee)
    assert np.isfinite(mechanism.release(data, X_TEST).samples).all()


@pytest.mark.parametrize("case", [case for case in CASES if CATALOGUE[CASES[case][0]].private_inputs])
def test_no_other_person_costs_more_than_the_guarantee(case, make_dataset):
    data, rng = make_dataset(), np.random.default_rng(2)
    inputs = [-2.0, 12.0, 1e6, *rng.uniform(-2, 12, data.n - 3)]
    others = [with_record(data, j, x, rng.choice(data.y_bounds)) for j, x in enumerate(inputs)]
    found, most = costs(built(case), data, others), allowed(built(case).guarantee)
    assert 0 < min(found) <= max(found) <= most
    assert max(found) >= 0.3 * most


# over cells every pair takes a second: the smaller table of the other tests does in `make test`
IN_CENSUS = [name for name in CATALOGUE if name not in OTHERS]
IN_CENSUS = [pytest.param(each, marks=[pytest.mark.full] * (each == "bayes_cells")) for each in IN_CENSUS]


@pytest.mark.parametrize("case", IN_CENSUS)
@pytest.mark.parametrize("inference", ["exact", pytest.param("lowrank", marks=pytest.mark.full)])
def test_no_neighbour_in_the_census_exceeds_the_guarantee(case, inference, kung_data):
    mechanism = built(case, kernel=EQ(lengthscale=25.0), x_box=kung_data.x_box)
    if "inference" in names(mechanism):
        mechanism = replace(mechanism, inference=inference)
    ages = np.linspace(0, 90, 8)[:, None]
    # the oldest, the youngest, the tallest, and others
    chosen = {*np.argsort(kung_data.X[:, 0])[[0, -1]], kung_data.y.argmax(), *range(0, 287, 60)}
    assert max(costs(mechanism, *at_the_ends(kung_data, chosen), ages)) <= allowed(mechanism.guarantee)


def test_two_people_at_one_place_are_accepted(make_dataset):
    # the model is singular to rounding: the strategy is made of what was computed, not of what should have been
    data = make_dataset(X=np.repeat(np.linspace(0, 10, 6), 2)[:, None])
    for name in ("gp_prior", "cloaking", "refined"):
        mechanism = built(name, noise_variance=1e-12)
        assert max(costs(mechanism, *at_the_ends(data, range(12)))) <= allowed(mechanism.guarantee)


def test_several_rows_are_protected_or_refused(mechanism, make_dataset):
    """Hiding a row is no promise to somebody who has two: it is refused before anything is drawn."""
    assert OTHER_ROWS in mechanism.guarantee.not_covered
    data = make_dataset(person=np.arange(12) // 2)
    if isinstance(mechanism, BayesCloaking):
        promise = mechanism.release(data, X_TEST).guarantee
        assert "all rows of one person" in promise.neighbours
        assert OTHER_ROWS not in promise.not_covered
        return
    with pytest.raises(ValueError, match="several rows"):
        mechanism.release(data, X_TEST)


PUBLIC_STARTS = [("dpgp_core.strategies.mixture_risk", 0), ("dpgp_core.mechanisms.cloaking", 0)]


def no_generator(seed=None, *_, **__):
    """Refused to all but what starts from the same public numbers each time: the solver of strategies, and k-means."""
    if isinstance(seed, np.random.Generator):
        return seed
    if (sys._getframe(1).f_globals["__name__"], seed) not in PUBLIC_STARTS:
        raise AssertionError("a real release asked for a numbered generator")
    return np.random.Generator(np.random.PCG64(0))


def test_a_real_release_uses_no_numbered_generator(mechanism, make_dataset, monkeypatch):
    """The noise of every stage is the operating system's, and fresh: two real releases share none of it.

    Numbers that later stages measure also differ because strategies and intervals do: so noise is compared, and there
    is one for each array that was released. Two draws of sd steps agree with a probability of at most 0.3 / sd: below
    1e-7 for counts of cells, 1e-12 for all else, so that a false alarm for any case has a probability below 1e-6.
    """
    data, drawn = make_dataset(), []
    make = mechanism.release
    if isinstance(mechanism, BayesCloaking):  # planned before any output is read, but for later stages over cells
        make = partial(mechanism.measure, mechanism.plan_for(data, X_TEST))
    for kind in ("discrete_gaussian", "discrete_laplace"):
        monkeypatch.setattr(noise, kind, noting(getattr(noise, kind), drawn))
    monkeypatch.setattr(np.random, "default_rng", no_generator)
    monkeypatch.setattr(np.random, "standard_normal", no_generator)
    releases = [make(data, X_TEST) for _ in range(2)]
    assert not isinstance(releases[0], TeachingRelease)
    one, other = (noisy_numbers(release.statistics[0]) for release in releases)
    assert sorted(map(len, [*one, *other])) == sorted(map(len, drawn))
    for mine, yours in zip(drawn[: len(one)], drawn[len(one) :], strict=True):
        assert all(a != b for a, b in zip(mine, yours, strict=False))


def noting(draw, drawn):
    """The sampler, which keeps what it draws, and refuses bits of any source but the operating system."""

    def noted(parameter, size, bits=None):
        assert bits is None
        drawn.append(draw(parameter, size))
        return drawn[-1]

    return noted


def noisy_numbers(statistics):
    """What noise was added to, one array for each time that it was drawn."""
    if isinstance(statistics, np.ndarray):
        return [statistics]
    if isinstance(statistics, NoisyStatistics):
        return [statistics.A, statistics.B.diagonal(), statistics.B[np.triu_indices(len(statistics.A), 1)]]
    counts = [statistics.z] if isinstance(statistics, CellStatistics) and statistics.z.size else []
    squares = [getattr(stage, "squares", None) for stage in statistics.stages]
    about = getattr(statistics, "distances", None)
    distances = [] if about is None else [about.z] + ([] if about.above is None else [about.above.z])
    stages = [stage.z for stage in statistics.stages]
    return counts + stages + [each.z for each in squares if each is not None] + distances


def test_posterior_paths_have_no_real_release(make_dataset):
    for mechanism in OTHERS.values():
        with pytest.raises(ValueError, match="drawn in floating point, which their guarantee does not cover"):
            mechanism.release(make_dataset(), X_TEST)
        assert any("floating-point" in each for each in mechanism.guarantee.not_covered)


def test_outputs_outside_the_bounds_are_clipped(any_mechanism, make_dataset):
    data = make_dataset()
    low, high = data.y_bounds
    outside = make_dataset(y=np.where(np.arange(12) % 2, 1e6, -1e6))
    at_bounds = make_dataset(y=np.where(np.arange(12) % 2, high, low))
    one, other = (release(any_mechanism, each, draws=1).samples for each in (outside, at_bounds))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", ["sparse", "paper's sparse GP", *OTHERS])
def test_inputs_outside_the_box_move_inside(case, make_dataset):
    data = make_dataset()
    outside, edge = (with_record(data, 2, x, 1.0) for x in (-1e6, -2.0))
    one, other = (release(built(case), each, draws=1).samples for each in (outside, edge))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", ["cloaking", "shrinkage", "inducing", "refined", "integral_bins"])
def test_far_from_data_the_midpoint_is_published(case, make_dataset):
    found = built(case).release(make_dataset(), np.full((2, 1), 1e4), np.random.default_rng(1), 3)
    np.testing.assert_allclose(found.samples, np.full((3, 2), 1.0), atol=1e-12)
    if adds_once(built(case)):
        np.testing.assert_array_equal(found.noise_sd, [0.0, 0.0])


def test_no_private_number_is_refused_or_spoken_of(mechanism, make_dataset):
    """Records are finite numbers, whichever they are: a warning would be an error here."""
    data, most = make_dataset(), np.finfo(float).max
    y, X = with_output(data, 3, most).y, data.X.copy()
    y[4], y[5] = -most, np.finfo(float).smallest_subnormal
    if mechanism.guarantee.protects == "inputs and outputs":
        X[3], X[6], X[7] = -most, most, np.finfo(float).smallest_subnormal
    found = mechanism.release(replace(data, X=X, y=y), X_TEST)
    assert np.isfinite(found.samples).all()


def test_noise_does_not_depend_on_outputs(any_adding, make_dataset):
    data = make_dataset()
    one, other = known(any_adding, data), release(any_adding, make_dataset(y=data.y[::-1] * 3))
    np.testing.assert_array_equal(one.noise_factor, other.noise_factor)
    assert not np.allclose(one.mean, other.mean)


def test_units_of_the_output_do_not_matter(any_mechanism, make_dataset):
    data = make_dataset()
    tenfold = make_dataset(y=10 * data.y, y_bounds=(-10.0, 30.0), y_scale=20.0)
    one, other = known(any_mechanism, data), release(any_mechanism, tenfold)
    np.testing.assert_allclose(other.samples, 10 * one.samples, rtol=1e-10)
    if adds_once(any_mechanism):
        np.testing.assert_allclose(other.noise_covariance(), 100 * one.noise_covariance(), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize(
    "case", [name for name in CATALOGUE if name not in OTHERS and name != "integral_bins" and adds_once(built(name))]
)
def test_wider_bounds_mean_more_noise_in_proportion(case, make_dataset):
    mechanism = built(case)
    wide = release(mechanism, make_dataset(y_bounds=(-5.0, 7.0)))  # range 12 instead of 4
    np.testing.assert_allclose(wide.noise_sd, 3 * release(mechanism, make_dataset()).noise_sd, rtol=1e-12)


REFUSED = [
    ({"epsilon": 0.0}, "epsilon must be a finite number above 0, got 0.0; smaller is more private"),
    ({"epsilon": float("nan")}, "epsilon must be a finite number above 0, got nan"),
    ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0; 1 would guarantee nothing"),
    ({"delta": 1.0}, "delta must lie strictly between 0 and 1, got 1.0"),
    ({"epsilon": 2.0, "calibration": "hall"}, "epsilon must be <= 1 for Hall's formula, got 2.0"),
    ({"calibration": "exact"}, "method must be 'analytic' or 'hall', got 'exact'"),
    ({"noise_variance": 0.0}, "noise_variance must be a finite number above 0, got 0.0"),
    ({"noise_variance": -1.0}, "noise_variance must be a finite number above 0, got -1.0"),
    ({"inference": "fast"}, "inference must be one of 'auto', 'exact', 'lowrank', got 'fast'"),
    ({"tolerance": 3.0}, "tolerance must be in"),
]


@pytest.mark.parametrize(
    ("case", "changes", "sentence"),
    [
        (name, *case)
        for name in CATALOGUE
        if name not in OTHERS
        for case in REFUSED
        if set(case[0]) <= names(built(name))
        and (name != "published" or not {"epsilon", "calibration"} <= set(case[0]))  # it says that it promises nothing
    ],
)
def test_bad_parameters_are_refused_at_construction(case, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(built(case), **changes)


def test_test_points_of_another_width_are_refused(any_mechanism, make_dataset):
    with pytest.raises(ValueError, match=r"(equally many columns|must have shape .*), got .*\(9, 2\)"):
        any_mechanism.release(make_dataset(), np.zeros((9, 2)), np.random.default_rng(1))
