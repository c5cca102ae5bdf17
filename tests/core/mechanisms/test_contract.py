"""One contract for every mechanism. A new mechanism is covered by one line in DEFAULTS."""

from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest

import dpgp_core.mechanisms
from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.kernels import EQ, Matern12, Matern52
from dpgp_core.mechanisms import (
    MECHANISMS,
    Cloaking,
    CloakingInducing,
    GPPrior,
    HallPosterior,
    IntegralBinning,
    LaplaceBinning,
    PosteriorSampling,
    RefinedCloaking,
    SparseVariational,
)
from dpgp_core.mechanisms.refined_cloaking import stage_mean

BUDGET = {"epsilon": 1.0, "delta": 0.01}
MODEL = {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3}
DEFAULTS = {  # class: arguments that have no default, besides the budget
    GPPrior: MODEL,
    Cloaking: MODEL,
    CloakingInducing: MODEL | {"n_inducing": 4},
    RefinedCloaking: MODEL,
    LaplaceBinning: {"bins": 4},
    IntegralBinning: {"bins": 4, "kernel_variance": 1.0, "lengthscale": 2.0},
    SparseVariational: MODEL | {"n_inducing": 4},
    HallPosterior: {"kernel": EQ(lengthscale=2.0), "r": 1.5},
}
PATHS = {"kernel": Matern12(lengthscale=2.0), "r": 2.0, "sigma": 0.8, "delta": 0.01, "n": 12, "x_box": ((-2.0, 12.0),)}
OTHERS = {  # not Gaussian noise around a linear map of y, whose budget is a parameter: what can be asked of all is
    PosteriorSampling: PosteriorSampling(**PATHS),
    "smooth paths with noise": PosteriorSampling(**{**PATHS, "kernel": EQ(lengthscale=2.0), "eta": 0.5}),
}
VARIANTS = {  # name: (class, further arguments), for options that change what is released
    "paper sensitivity": (GPPrior, {"sensitivity": "paper"}),
    "prior of variance 2.5": (GPPrior, {"kernel": Matern52(variance=2.5)}),
    "logdet and hall": (Cloaking, {"objective": "logdet", "calibration": "hall"}),
    "low rank, loose gap": (Cloaking, {"rank_tolerance": 0.1, "gap": 1.0}),
    "auto rank": (Cloaking, {"rank_tolerance": "auto"}),
    "weights": (Cloaking, {"weights": [1.0] * 5 + [0.01] * 4}),
    "shrinkage": (Cloaking, {"shrinkage": True, "rank_tolerance": 1e-3}),
    "rough kernel, little noise": (Cloaking, {"kernel": Matern52(variance=2.5), "noise_variance": 0.01}),
    "given inducing inputs": (CloakingInducing, {"n_inducing": None, "Z": [[0.0], [3.0], [9.0]]}),
    "three stages": (RefinedCloaking, {"shares": [0.1, 0.2, 0.7], "clip": 1.0}),
    "clip wider than the bounds": (RefinedCloaking, {"clip": 9.0, "weights": [1.0] * 5 + [0.01] * 4}),
    "low rank in both stages": (RefinedCloaking, {"rank_tolerance": 0.1}),
    "low-rank inference": (Cloaking, {"inference": "lowrank"}),
    "coarse low-rank inference": (Cloaking, {"inference": "lowrank", "tolerance": 0.05, "objective": "logdet"}),
    "low-rank inference, shrinkage": (Cloaking, {"inference": "lowrank", "shrinkage": True, "rank_tolerance": 1e-3}),
    "low-rank inference, rough kernel": (Cloaking, {"inference": "lowrank", "kernel": Matern52(variance=2.5)}),
    "prior noise, low-rank inference": (GPPrior, {"inference": "lowrank", "kernel": Matern52(variance=2.5)}),
    "prior noise, coarse low-rank inference": (GPPrior, {"inference": "lowrank", "tolerance": 0.05}),
    "two stages, low-rank inference": (RefinedCloaking, {"inference": "lowrank"}),
    "two stages, coarse low-rank inference": (RefinedCloaking, {"inference": "lowrank", "tolerance": 0.05}),
    "one bin": (LaplaceBinning, {"bins": 1}),
    "paper's sparse GP": (SparseVariational, {"variant": "paper"}),
}
CASES = {kind.__name__: (kind, {}) for kind in DEFAULTS} | VARIANTS
X_TEST = np.linspace(-2, 12, 9)[:, None]  # the data lie in 0 ... 10
NOISE_NOT_PROPORTIONAL = {RefinedCloaking, IntegralBinning, SparseVariational}  # to d: what follows knows d
NOISE_BEFORE_POSTERIOR = {SparseVariational}  # noise is added to statistics: test_sparse_variational.py looks at those
ADDED = {name: case for name, case in CASES.items() if case[0] not in NOISE_BEFORE_POSTERIOR}


def names(kind):
    return {parameter.name for parameter in fields(kind)}


def arguments_of(kind):
    """Return the budget, as far as the class has one, and the arguments without a default."""
    return {name: BUDGET[name] for name in BUDGET if name in names(kind)} | DEFAULTS[kind]


@pytest.fixture(params=CASES.values(), ids=CASES)
def mechanism(request):
    kind, options = request.param
    return kind(**{**arguments_of(kind), **options})


@pytest.fixture(params=[*CASES, *OTHERS], ids=lambda case: getattr(case, "__name__", case))
def any_mechanism(request):
    if request.param in OTHERS:
        return OTHERS[request.param]
    kind, options = CASES[request.param]
    return kind(**{**arguments_of(kind), **options})


@pytest.fixture(params=[*ADDED, *OTHERS], ids=lambda case: getattr(case, "__name__", case))
def any_adding(request):
    """Return a mechanism that adds its noise to the predictions themselves, or draws paths around them."""
    if request.param in OTHERS:
        return OTHERS[request.param]
    kind, options = ADDED[request.param]
    return kind(**{**arguments_of(kind), **options})


@pytest.fixture(params=ADDED.values(), ids=ADDED)
def adding(request):
    """Return a mechanism that adds its noise to the predictions themselves."""
    kind, options = request.param
    return kind(**{**arguments_of(kind), **options})


@pytest.fixture(
    params=[
        (kind, inference)
        for kind in DEFAULTS
        if kind not in NOISE_BEFORE_POSTERIOR
        for inference in ("exact", "lowrank")
        if inference == "exact" or "inference" in names(kind)
    ],
    ids=lambda case: f"{case[0].__name__}, {case[1]}",
)
def default(request):
    kind, inference = request.param
    chosen = {"inference": inference} if "inference" in names(kind) else {}
    return kind, arguments_of(kind) | chosen


@pytest.fixture
def make_dataset(make_dataset):
    """The small dataset with a public box that holds the test points."""
    return lambda **changes: make_dataset(**{"x_box": ((-2.0, 12.0),), **changes})


def release(mechanism, data, seed=1, draws=1):
    return mechanism.release(data, X_TEST, np.random.default_rng(seed), draws)


def with_output(data, j, value):
    y = data.y.copy()
    y[j] = value
    return y


def noise_of(mechanism, data, draws):
    """Noise of each draw (draws, P) in the output's unit; the last stage's, given the earlier ones."""
    if isinstance(mechanism, RefinedCloaking):
        plan = mechanism.plan(data.X, X_TEST)
        *_, last = mechanism.run(plan, data, np.random.default_rng(1), draws)
        return data.y_scale * (last.values - last.mean)
    found = release(mechanism, data, draws=draws)
    return found.samples - found.mean


def spent(mechanism, one, other, X_test, squared_shift):
    """What telling two neighbours apart costs, in the unit of the guarantee's loss: mu, or pure epsilon."""
    if isinstance(mechanism, RefinedCloaking):
        plan = mechanism.plan(one.X, X_test)
        stages = mechanism.run(plan, one, np.random.default_rng(1), 1)
        bounds, scales = mechanism.stage_bounds(one), mechanism.stage_scales(one)
        squares = []
        # every stage once more with the other value, on the same output of the stages before it
        for stage, found, bound, scale in zip(plan.stages, stages, bounds, scales, strict=True):
            again = stage_mean(stage, other.standardised(), found.curve[:, : one.n], bound)
            squares.append(squared_shift(scale * stage.factor, (again - found.mean)[0]))
        return np.sqrt(sum(squares))
    before, after = (mechanism.release(data, X_test, np.random.default_rng(1)) for data in (one, other))
    moved = (after.samples - before.samples)[0]
    np.testing.assert_allclose(moved, after.mean - before.mean, atol=1e-11)
    if isinstance(mechanism.guarantee.loss, GaussianLoss):
        return np.sqrt(squared_shift(after.noise_factor, moved))
    # moved = L x, column b of L has the standard deviation sqrt(2) scale_b: |shift of b| / scale_b = sqrt(2) |x_b|
    x, _, rank, _ = np.linalg.lstsq(after.noise_factor, moved)
    assert rank == len(x)
    np.testing.assert_allclose(after.noise_factor @ x, moved, atol=1e-9)
    return np.sqrt(2) * np.abs(x).sum()


def allowed(mechanism):
    loss = mechanism.guarantee.loss
    return loss.mu if isinstance(loss, GaussianLoss) else loss.pure_epsilon


def test_every_mechanism_is_tested():
    assert set(DEFAULTS) | set(OTHERS) >= set(MECHANISMS)


def test_every_file_is_listed():
    folder = Path(dpgp_core.mechanisms.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base", "gaussian"}
    assert files == {mechanism.__module__.rsplit(".", 1)[1] for mechanism in MECHANISMS}


def test_labels_are_stated_and_unique():
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
    assert release(mechanism, data).guarantee == before.for_unit(data.unit)
    assert release(mechanism, make_dataset(y=-data.y)).guarantee == before.for_unit(data.unit)
    assert mechanism.guarantee == before


def test_shapes(any_mechanism, make_dataset):
    found = release(any_mechanism, make_dataset(), draws=3)
    assert found.mean.shape == found.noise_sd.shape == (9,)
    assert found.noise_covariance().shape == (9, 9)
    assert found.samples.shape == (3, 9)
    np.testing.assert_array_equal(found.X_test, X_TEST)


def test_same_generator_state_same_release(any_mechanism, make_dataset):
    data = make_dataset()
    np.testing.assert_array_equal(release(any_mechanism, data).samples, release(any_mechanism, data).samples)
    assert not np.array_equal(release(any_mechanism, data).samples, release(any_mechanism, data, seed=2).samples)


def test_draws_differ_within_one_release(any_mechanism, make_dataset):
    first, second = release(any_mechanism, make_dataset(), draws=2).samples
    assert (first != second).all()


@pytest.mark.parametrize("draws", [2, 50])
def test_draws_compose(mechanism, make_dataset, draws):
    guarantee = release(mechanism, make_dataset(), draws=draws).guarantee
    one = mechanism.guarantee.loss
    assert guarantee.releases == draws
    if isinstance(one, GaussianLoss):
        assert guarantee.loss.mu == pytest.approx(one.mu * np.sqrt(draws))
        assert guarantee.budget.epsilon == pytest.approx(epsilon_of(1 / guarantee.loss.mu, 0.01))
    else:
        assert guarantee.loss == PureLoss(one.pure_epsilon, times=draws)
        assert guarantee.budget.epsilon == pytest.approx(draws * one.pure_epsilon)


@pytest.mark.parametrize("draws", [0, -1])
def test_no_draw_is_refused(any_mechanism, make_dataset, draws):
    with pytest.raises(ValueError, match=f"releases must be at least 1, got {draws}"):
        release(any_mechanism, make_dataset(), draws=draws)


def test_samples_have_the_mean_and_covariance_stated(any_adding, make_dataset):
    draws = 20_000
    found = release(any_adding, make_dataset())
    covariance, sd = found.noise_covariance(), found.noise_sd
    noise = noise_of(any_adding, make_dataset(), draws)
    # 6 standard errors of each of 9 means and 45 (co)variances: false alarm 54 * 2e-9 = 1e-7
    assert (np.abs(noise.mean(axis=0)) <= 6 * sd / np.sqrt(draws)).all()
    excess = 3 if isinstance(found.guarantee.loss, PureLoss) else 0  # kurtosis of Laplace noise, at most
    error = np.sqrt(((1 + excess) * np.outer(sd, sd) ** 2 + covariance**2) / draws)
    assert (np.abs(noise.T @ noise / draws - covariance) <= 6 * error).all()


def test_no_neighbour_costs_more_than_the_guarantee(adding, make_dataset, squared_shift):
    data = make_dataset()
    low, high = data.y_bounds
    costs = []
    for j in range(data.n):
        down, up = make_dataset(y=with_output(data, j, low)), make_dataset(y=with_output(data, j, high))
        costs += [spent(adding, *pair, X_TEST, squared_shift) for pair in ((down, up), (up, down))]
    # samples are rounded at 1e-15, and the noise is 1e-7 as small in some direction as in another
    assert max(costs) <= allowed(adding) * (1 + 1e-6)
    assert max(costs) > 0


def test_no_neighbour_in_the_census_costs_more_than_the_guarantee(default, kung_data, squared_shift):
    kind, arguments = default
    longer = {"kernel": EQ(lengthscale=25.0), "lengthscale": 25.0}
    mechanism = kind(**{**arguments, **{name: longer[name] for name in longer if name in arguments}})
    ages = np.linspace(0, 90, 8)[:, None]
    # the oldest, the youngest, the tallest, and others
    chosen = [*np.argsort(kung_data.X[:, 0])[[0, -1]], kung_data.y.argmax(), *range(0, 287, 60)]
    for j in chosen:
        pair = [replace(kung_data, y=with_output(kung_data, j, bound)) for bound in kung_data.y_bounds]
        # means of 100 cm are rounded at 1e-14 cm, the smallest noise direction has 1e-5 cm
        assert spent(mechanism, *pair, ages, squared_shift) <= allowed(mechanism) * (1 + 1e-6)


@pytest.mark.parametrize("name", [name for name, (kind, _) in CASES.items() if "delta" not in names(kind)])
def test_noise_of_a_pure_mechanism_covers_every_bin_it_reads(name, make_dataset):
    kind, options = CASES[name]
    mechanism, data = kind(**{**arguments_of(kind), **options}), make_dataset()
    plan = mechanism.plan(data.X, data.x_box)
    # scales are per unit change of one output: record j moves bin b by |w_bj|, log odds by |w_bj| / scale_b
    shifts = (np.abs(plan.weights) / plan.scales[:, None]).sum(axis=0)
    assert 0 < shifts.max() <= allowed(mechanism) * (1 + 1e-12)


def test_outputs_outside_the_bounds_are_clipped(any_mechanism, make_dataset):
    data = make_dataset()
    low, high = data.y_bounds
    outside = make_dataset(y=np.where(np.arange(12) % 2, 1e6, -1e6))
    at_bounds = make_dataset(y=np.where(np.arange(12) % 2, high, low))
    np.testing.assert_array_equal(release(any_mechanism, outside).samples, release(any_mechanism, at_bounds).samples)


def test_noise_does_not_depend_on_outputs(any_adding, make_dataset):
    data = make_dataset()
    one, other = release(any_adding, data), release(any_adding, make_dataset(y=data.y[::-1] * 3))
    np.testing.assert_array_equal(one.noise_factor, other.noise_factor)
    assert not np.allclose(one.mean, other.mean)


def test_units_of_the_output_do_not_matter(any_mechanism, make_dataset):
    data = make_dataset()
    tenfold = make_dataset(y=10 * data.y, y_bounds=(-10.0, 30.0), y_scale=20.0)
    one, other = release(any_mechanism, data), release(any_mechanism, tenfold)
    np.testing.assert_allclose(other.samples, 10 * one.samples, rtol=1e-10)
    np.testing.assert_allclose(other.noise_covariance(), 100 * one.noise_covariance(), rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in DEFAULTS if kind not in NOISE_NOT_PROPORTIONAL])
def test_wider_bounds_mean_more_noise_in_proportion(kind, make_dataset):
    mechanism = kind(**arguments_of(kind))
    wide = release(mechanism, make_dataset(y_bounds=(-5.0, 7.0)))  # range 12 instead of 4
    np.testing.assert_allclose(wide.noise_sd, 3 * release(mechanism, make_dataset()).noise_sd, rtol=1e-12)


def test_release_leaves_the_data_alone(any_mechanism, make_dataset):
    data = make_dataset()
    X, y = data.X.copy(), data.y.copy()
    release(any_mechanism, data)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)


REFUSED = [
    ({"epsilon": 0.0}, "epsilon must be a finite number above 0, got 0.0; smaller is more private"),
    ({"epsilon": float("nan")}, "epsilon must be a finite number above 0, got nan"),
    ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0; 1 would promise nothing"),
    ({"delta": 1.0}, "delta must lie strictly between 0 and 1, got 1.0"),
    ({"epsilon": 2.0, "calibration": "hall"}, "epsilon must be <= 1 for Hall's formula, got 2.0"),
    ({"calibration": "exact"}, "method must be 'analytic' or 'hall', got 'exact'"),
    ({"noise_variance": 0.0}, "noise_variance must be a finite number above 0, got 0.0"),
    ({"noise_variance": -1.0}, "noise_variance must be a finite number above 0, got -1.0"),
]


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [(kind, *case) for kind in DEFAULTS for case in REFUSED if set(case[0]) <= names(kind)],
)
def test_bad_parameters_are_refused_at_construction(kind, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        kind(**{**arguments_of(kind), **changes})


def test_test_points_of_another_width_are_refused(any_mechanism, make_dataset):
    with pytest.raises(ValueError, match=r"(equally many columns|must have shape .*), got .*\(9, 2\)"):
        any_mechanism.release(make_dataset(), np.zeros((9, 2)), np.random.default_rng(1))
