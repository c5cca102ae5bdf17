"""What must be declared of a release, checked before anything is read."""

import math

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.bounds.cells import declared_bounds
from dpgp_core.mechanisms import MECHANISMS, HallPosterior, LaplaceBinning, PosteriorSampling
from dpgp_core.release import CHOICES, KERNEL_NAMES, ReleaseSpec
from dpgp_core.release.specification import MAX_GRID
from tests.core.release.worlds import GROWTH, TWO, make_spec


def test_scale_and_range_come_from_the_bounds_alone():
    assert make_spec(y_bounds=(100, 180)).outcome.scale == 20
    assert make_spec(y_bounds=(100, 180), y_scale=3.5).outcome.scale == 3.5
    assert ReleaseSpec(**SALES).outcome.measured.width == 1e7 - 1e4
    assert ReleaseSpec(**SALES, log=True).outcome.measured.width == pytest.approx(math.log(1e3), rel=1e-12)


def test_equal_specifications_are_equal_keys():
    one = make_spec(**TWO, grid=(3, 4))
    other = make_spec(**{key: list(value) for key, value in TWO.items()}, grid=[3, 4])
    assert one == other
    assert hash(one) == hash(other)
    as_read = GROWTH | {"x_levels": [None, ["girls", "boys", "other"]], "x_box": [[0, 20], None], "grid": [5, 3]}
    one, other = make_spec(**GROWTH), make_spec(**as_read)
    assert one == other == make_spec(**GROWTH | {"x_box": ((0, 20),)})
    assert hash(one) == hash(other)
    without = {"x_box": ((0, 20), (0, 1)), "grid": (5, 2), "x_levels": (None, None)}
    assert make_spec(**GROWTH | without).x_levels is None


def test_what_is_left_out_has_a_default():
    with pytest.raises(TypeError, match="y_bounds"):  # but for all that is private
        ReleaseSpec(x=("age",), y="height")
    spec = make_spec(x_units=(), y_unit="", total_epsilon=None, total_delta=None, lengthscale=None)
    assert (spec.x_units, spec.lengthscale) == (("",), (25.0,))
    assert spec.limit == spec.guarantee.budget
    assert (make_spec().limit.delta, make_spec(total_delta=1e-4).limit.delta) == (1e-5, 1e-4)
    pure = make_spec(mechanism="integral_bins", total_epsilon=None, total_delta=None)
    assert (pure.limit.epsilon, pure.limit.delta) == (1.0, 1e-6)
    assert make_spec(y_kind="yes/no", y_bounds=None).y_bounds == (0.0, 1.0)
    degrees = {"lengthscale": None, "x_box": ((0, 100), (0, 80)), "coordinates": ("age", "weight")}
    found = make_spec(**TWO | degrees, grid=(3, 3))
    assert [round(each, 6) for each in found.lengths] == [25.0, 20.0]  # a quarter of the box, in kilometres


NOT_OFFERED = {PosteriorSampling, HallPosterior, LaplaceBinning}  # paths, kernel sums; integral bins are never worse


def test_every_mechanism_is_deliberately_offered_or_not():
    offered = {type(make_spec(mechanism=name).built) for name in CHOICES}
    assert offered | NOT_OFFERED == set(MECHANISMS)
    assert len(offered) == len(CHOICES) - 1  # Bayes cloaking with public inputs, and with private ones


@pytest.mark.parametrize("name", CHOICES)
def test_the_mechanism_has_the_declared_model(name):
    spec = make_spec(mechanism=name, epsilon=0.7, lengthscale=(30,), noise_variance=0.2, total_epsilon=9)
    built, pure = spec.built, spec.choice.kind.pure
    assert built.guarantee.budget == spec.guarantee.budget == Budget(epsilon=0.7, delta=0 if pure else 1e-5)
    assert spec.guarantee.unit == "one person's height"
    assert spec.protects_inputs == (name in ("bayes_cells", "sparse"))
    assert isinstance(spec.guarantee.loss, PureLoss if pure else GaussianLoss)
    assert pure or epsilon_of(1 / spec.guarantee.loss.mu, 1e-5) == pytest.approx(0.7, rel=1e-6)
    if spec.choice.kind.automatic:  # finds its models by itself, from box and bounds
        assert built.kernels is None
        return
    assert built.kernel(np.zeros((1, 1)), np.full((1, 1), 30.0))[0, 0] == pytest.approx(np.exp(-0.5))
    assert getattr(built, "white_noise", None) == 0.2 or built.noise_variance == 0.2


@pytest.mark.parametrize("name", KERNEL_NAMES)
def test_every_kernel_can_be_chosen(name):
    spec = make_spec(kernel=name, mechanism="refined")
    assert type(spec.built.kernel).__name__ == name
    assert spec.built.kernel.variance == 1


@pytest.mark.parametrize("name", [name for name, choice in CHOICES.items() if choice.kind.uses_cells])
def test_cells_reach_the_mechanism(name):
    assert make_spec(mechanism=name).cells == 6
    built = make_spec(mechanism=name, cells=3).built
    found = getattr(built, "bins", None) or getattr(built, "n_inducing", None) or [z[0] for z in built.Z]
    assert found in (3, pytest.approx([100 / 6, 50, 500 / 6]))


SALES = {
    "x": ("lat", "lon", "year"),
    "x_units": ("degrees", "degrees", ""),
    "x_box": ((51.2, 51.8), (-0.6, 0.4), (2000, 2020)),
    "y": "price",
    "y_unit": "GBP",
    "y_bounds": (1e4, 1e7),
    "unit": "one sale",
    "grid": (2, 3, 4),
    "epsilon": 1.0,
    "delta": 1e-5,
}


def test_grid_points_cover_the_box_in_order():
    points = ReleaseSpec(**SALES).points()
    assert points.shape == (24, 3)
    np.testing.assert_allclose(points[:4], [[51.2, -0.6, year] for year in np.linspace(2000, 2020, 4)])
    np.testing.assert_allclose(points[-1], [51.8, 0.4, 2020])
    assert len(make_spec(grid=(MAX_GRID,)).points()) == MAX_GRID


def test_lengths_in_km_become_degrees():
    assert ReleaseSpec(**SALES).in_units((1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    found = ReleaseSpec(**SALES, coordinates=("lon", "lat"))
    np.testing.assert_allclose(found.in_units((111.2, 69.2, 3.0)), (1.0, 1.0, 3.0), rtol=2e-3)
    assert found.degrees.longitude.name == "lon"
    assert ReleaseSpec(**SALES).degrees is None


def test_each_category_has_a_curve():
    table = make_spec(**GROWTH)
    points = table.points()
    assert points.shape == (15, 2)
    np.testing.assert_array_equal(points[:4], [[0, 0], [0, 1], [0, 2], [5, 0]])
    assert ([each.name for each in table.numbers], table.levels) == (["age"], {"sex": ("girls", "boys", "other")})
    assert table.x_box == ((0, 20), (-0.5, 2.5))


def test_what_is_bought_stays_within_what_is_declared():
    assert declared_bounds([5, 7], 0.01, "amount", log=False) == (5.0, 7.0)
    assert declared_bounds(None, 0.01, "amount", log=True) == (0.01, 1e10)
    assert declared_bounds(None, 0.01, "amount", log=False) == (0.0, 1e10)
    assert declared_bounds(None, 0.01, "number", log=False) == (-1e10, 1e10)
