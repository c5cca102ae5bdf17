"""One contract for every mechanism. A new mechanism is covered by one line in DEFAULTS."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import numpy as np
import pytest

import dpgp_core.mechanisms
from dpgp_core.calibration import epsilon_of
from dpgp_core.kernels import EQ, Matern12, Matern52
from dpgp_core.mechanisms import MECHANISMS, Cloaking, GPPrior, HallPosterior, PosteriorSampling

BUDGET = {"epsilon": 1.0, "delta": 0.01}
DEFAULTS = {  # class: arguments that have no default, besides the budget
    GPPrior: {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3},
    Cloaking: {"kernel": EQ(lengthscale=2.0), "noise_variance": 0.3},
    HallPosterior: {"kernel": EQ(lengthscale=2.0), "r": 1.5},
}
PATHS = {"kernel": Matern12(lengthscale=2.0), "r": 2.0, "sigma": 0.8, "delta": 0.01, "n": 12, "x_box": ((0.0, 10.0),)}
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
}
CASES = {kind.__name__: (kind, {}) for kind in DEFAULTS} | VARIANTS
X_TEST = np.linspace(-2, 12, 9)[:, None]  # the data lie in 0 ... 10


@pytest.fixture(params=CASES.values(), ids=CASES)
def mechanism(request):
    kind, options = request.param
    return kind(**{**BUDGET, **DEFAULTS[kind], **options})


@pytest.fixture(params=[*CASES, *OTHERS], ids=lambda case: getattr(case, "__name__", case))
def any_mechanism(request):
    if request.param in OTHERS:
        return OTHERS[request.param]
    kind, options = CASES[request.param]
    return kind(**{**BUDGET, **DEFAULTS[kind], **options})


@pytest.fixture(params=DEFAULTS, ids=lambda kind: kind.__name__)
def default(request):
    return request.param, {**BUDGET, **DEFAULTS[request.param]}


def release(mechanism, data, seed=1, draws=1):
    return mechanism.release(data, X_TEST, np.random.default_rng(seed), draws)


def with_output(data, j, value):
    y = data.y.copy()
    y[j] = value
    return y


def test_every_mechanism_is_tested():
    assert set(DEFAULTS) | set(OTHERS) >= set(MECHANISMS)


def test_every_file_is_listed():
    folder = Path(dpgp_core.mechanisms.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "base"}
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
    assert (before.budget.epsilon, before.budget.delta) == (1.0, 0.01)
    assert epsilon_of(1 / before.loss.mu, 0.01) <= 1 + 1e-9
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
    assert guarantee.loss.mu == pytest.approx(mechanism.guarantee.loss.mu * np.sqrt(draws))
    assert guarantee.releases == draws
    assert guarantee.budget.epsilon == pytest.approx(epsilon_of(1 / guarantee.loss.mu, 0.01))


@pytest.mark.parametrize("draws", [0, -1])
def test_no_draw_is_refused(any_mechanism, make_dataset, draws):
    with pytest.raises(ValueError, match=f"releases must be at least 1, got {draws}"):
        release(any_mechanism, make_dataset(), draws=draws)


def test_samples_have_the_mean_and_covariance_stated(any_mechanism, make_dataset):
    draws = 20_000
    found = release(any_mechanism, make_dataset(), draws=draws)
    covariance, sd = found.noise_covariance(), found.noise_sd
    noise = found.samples - found.mean
    # 6 standard errors of each of 9 means and 45 (co)variances: false alarm 54 * 2e-9 = 1e-7
    assert (np.abs(noise.mean(axis=0)) <= 6 * sd / np.sqrt(draws)).all()
    error = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / draws)
    assert (np.abs(noise.T @ noise / draws - covariance) <= 6 * error).all()


def test_no_neighbour_moves_further_than_mu(mechanism, make_dataset, squared_shift):
    data = make_dataset()
    low, high = data.y_bounds
    mu, shifts = mechanism.guarantee.loss.mu, []
    for j in range(data.n):
        down = release(mechanism, make_dataset(y=with_output(data, j, low)))
        up = release(mechanism, make_dataset(y=with_output(data, j, high)))
        moved = (up.samples - down.samples)[0]
        np.testing.assert_allclose(moved, up.mean - down.mean, atol=1e-11)
        shifts += [squared_shift(up.noise_factor, x) for x in (moved, -moved)]
    # samples are rounded at 1e-15, and the noise is 1e-7 as small in some direction as in another
    assert max(shifts) <= mu**2 * (1 + 1e-6)
    assert max(shifts) > 0


def test_no_neighbour_in_the_census_moves_further_than_mu(default, kung_data, squared_shift):
    kind, arguments = default
    mechanism = kind(**{**arguments, "kernel": EQ(lengthscale=25.0)})
    ages = np.linspace(0, 90, 8)[:, None]
    # the oldest, the youngest, the tallest, and others
    chosen = [*np.argsort(kung_data.X[:, 0])[[0, -1]], kung_data.y.argmax(), *range(0, 287, 60)]
    for j in chosen:
        means = []
        for bound in kung_data.y_bounds:
            data = type(kung_data)(**{**vars(kung_data), "y": with_output(kung_data, j, bound)})
            found = mechanism.release(data, ages, np.random.default_rng(1))
            means.append(found.mean)
        # means of 100 cm are rounded at 1e-14 cm, the smallest noise direction has 1e-5 cm
        assert squared_shift(found.noise_factor, means[1] - means[0]) <= mechanism.guarantee.loss.mu**2 * (1 + 1e-6)


def test_outputs_outside_the_bounds_are_clipped(any_mechanism, make_dataset):
    data = make_dataset()
    low, high = data.y_bounds
    outside = make_dataset(y=np.where(np.arange(12) % 2, 1e6, -1e6))
    at_bounds = make_dataset(y=np.where(np.arange(12) % 2, high, low))
    np.testing.assert_array_equal(release(any_mechanism, outside).samples, release(any_mechanism, at_bounds).samples)


def test_noise_does_not_depend_on_outputs(any_mechanism, make_dataset):
    data = make_dataset()
    one, other = release(any_mechanism, data), release(any_mechanism, make_dataset(y=data.y[::-1] * 3))
    np.testing.assert_array_equal(one.noise_factor, other.noise_factor)
    assert not np.allclose(one.mean, other.mean)


def test_units_of_the_output_do_not_matter(any_mechanism, make_dataset):
    data = make_dataset()
    tenfold = make_dataset(y=10 * data.y, y_bounds=(-10.0, 30.0), y_scale=20.0)
    one, other = release(any_mechanism, data), release(any_mechanism, tenfold)
    np.testing.assert_allclose(other.samples, 10 * one.samples, rtol=1e-10)
    np.testing.assert_allclose(other.noise_covariance(), 100 * one.noise_covariance(), rtol=1e-10, atol=1e-9)


def test_wider_bounds_mean_more_noise_in_proportion(default, make_dataset):
    kind, arguments = default
    mechanism = kind(**arguments)
    wide = release(mechanism, make_dataset(y_bounds=(-5.0, 7.0)))  # range 12 instead of 4
    np.testing.assert_allclose(wide.noise_sd, 3 * release(mechanism, make_dataset()).noise_sd, rtol=1e-12)


def test_release_leaves_the_data_alone(any_mechanism, make_dataset):
    data = make_dataset()
    X, y = data.X.copy(), data.y.copy()
    release(any_mechanism, data)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"epsilon": 0.0}, "epsilon must be a finite number above 0, got 0.0; smaller is more private"),
        ({"epsilon": float("nan")}, "epsilon must be a finite number above 0, got nan"),
        ({"delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0; 1 would promise nothing"),
        ({"delta": 1.0}, "delta must lie strictly between 0 and 1, got 1.0"),
        ({"epsilon": 2.0, "calibration": "hall"}, "epsilon must be <= 1 for Hall's formula, got 2.0"),
        ({"calibration": "exact"}, "method must be 'analytic' or 'hall', got 'exact'"),
        ({"noise_variance": 0.0}, "noise_variance must be a finite number above 0, got 0.0"),
        ({"noise_variance": -1.0}, "noise_variance must be a finite number above 0, got -1.0"),
    ],
)
def test_bad_parameters_are_refused_at_construction(default, changes, sentence):
    kind, arguments = default
    if not set(changes) <= {parameter.name for parameter in fields(kind)}:
        pytest.skip("no such parameter")
    with pytest.raises(ValueError, match=sentence):
        kind(**{**arguments, **changes})


def test_test_points_of_another_width_are_refused(any_mechanism, make_dataset):
    with pytest.raises(ValueError, match=r"equally many columns, got shapes \(12, 1\) and \(9, 2\)"):
        any_mechanism.release(make_dataset(), np.zeros((9, 2)), np.random.default_rng(1))
