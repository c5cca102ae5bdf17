import math

import pytest

from dpgp_core.accounting.gaussian import epsilon_of
from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from dpgp_core.reading.writing import Writing
from dpgp_core.release import CHOICES, ReleaseSpec
from dpgp_core.release.specification import MAX_GRID

TWO = {"x": ("age", "weight"), "x_units": ("years", "kg"), "x_box": ((0, 100), (0, 90)), "lengthscale": (25, 20)}


def test_guarantee_is_known_before_any_data(make_spec):
    spec = make_spec(epsilon=0.5, delta=1e-6)
    guarantee = spec.guarantee
    assert (guarantee.budget.epsilon, guarantee.budget.delta) == (0.5, 1e-6)
    assert guarantee.unit == "one person's height"
    assert isinstance(guarantee.loss, GaussianLoss)
    assert epsilon_of(1 / guarantee.loss.mu, 1e-6) == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("mechanism", CHOICES)
def test_what_each_mechanism_protects(make_spec, mechanism):
    spec = make_spec(mechanism=mechanism)
    assert spec.protects_inputs == (mechanism in ("bayes_cells", "sparse"))
    assert isinstance(spec.guarantee.loss, PureLoss if spec.choice.kind.pure else GaussianLoss)
    assert (spec.cells == 6) == spec.choice.kind.uses_cells


def test_scale_comes_from_the_bounds_alone(make_spec):
    assert make_spec(y_bounds=(100, 180)).outcome.scale == 20
    assert make_spec(y_bounds=(100, 180), y_scale=3.5).outcome.scale == 3.5


def test_lists_become_tuples_and_equal_specs_are_equal_keys(make_spec):
    one, other = (
        make_spec(**TWO, grid=(3, 4)),
        make_spec(**{key: list(value) for key, value in TWO.items()}, grid=[3, 4]),
    )
    assert one == other
    assert hash(one) == hash(other)


def test_limit_takes_the_delta_of_the_release_unless_declared(make_spec):
    assert make_spec().limit.delta == 1e-5
    assert make_spec(total_delta=1e-4).limit.delta == 1e-4
    assert make_spec().new_ledger().limit == make_spec().limit


def test_everything_is_keyword_only_and_nothing_private_has_a_default():
    with pytest.raises(TypeError, match="y_bounds"):
        ReleaseSpec(x=("age",), y="height")


WRONG = {
    "x text": ({"x": "age"}, "x must be a list in square brackets, got 'age'"),
    "x empty": ({"x": (), "x_units": (), "x_box": (), "lengthscale": (), "grid": ()}, "x must name 1 ... 10 input"),
    "x twice": ({**TWO, "x": ("age", "age"), "grid": (3, 3)}, "name each column once"),
    "y in x": ({"y": "age"}, "name each column once"),
    "reserved": ({"x": ("value",)}, "x names 'value', a column of the released table; rename it"),
    "units": ({"x_units": ("m", "kg")}, "x_units must have 1 entries"),
    "bounds reversed": ({"y_bounds": (200, 50)}, r"y_bounds must be \[low, high\] with low < high.*swap"),
    "bounds text": ({"y_bounds": ("50", "200")}, "y_bounds must be a number, got '50'"),
    "bounds true": ({"y_bounds": (False, True)}, "y_bounds must be a number, got False"),
    "bounds narrow": ({"y_bounds": (1e15 - 1, 1e15)}, "too narrow for its size"),
    "box": ({"x_box": ((5, 5),)}, "each entry of x_box must be .* low < high"),
    "unit empty": ({"unit": ""}, "unit is empty; write what it is"),
    "tolerance": ({"tolerance": 0}, "tolerance must lie in 0.00015 ... 1500, got 0"),
    "log of zero": ({"log": True, "y_bounds": (0, 9)}, "y_bounds must lie above 0 where logarithms .* low = 0; raise"),
    "log far": ({"log": True, "y_bounds": (1e-9, 9e9)}, "y_bounds are a factor 9e\\+18 apart, more than 1e\\+12"),
    "log a word": ({"log": "yes"}, "log must be true or false, got 'yes'"),
    "log tolerance": ({"log": True, "tolerance": 0.5}, "tolerance must lie in 1 ... 1e\\+06, got 0.5"),
    "tolerance text": ({"tolerance": "5"}, "tolerance must be a number, got '5'"),
    "reserved mark": ({"x": ("within_tolerance",)}, "x names 'within_tolerance', a column of the released table"),
    "kernel": ({"kernel": "RBF"}, "kernel must be one of EQ, .*; got 'RBF'"),
    "mechanism": ({"mechanism": "laplace"}, "mechanism must be one of bayes_cells, bayes, refined, .*; got 'laplace'"),
    "kernel of bins": ({"mechanism": "integral_bins", "kernel": "Matern32"}, "needs kernel EQ, got 'Matern32'"),
    "lengthscale short": ({"lengthscale": (1e-9,)}, "each entry of lengthscale must lie in 0.1 ... 100000, got 1e-09"),
    "lengthscales": ({"lengthscale": (1.0, 2.0)}, "lengthscale must have 1 entries, one per input of x, got 2"),
    "noise": ({"noise_variance": 0}, "noise_variance must lie in"),
    "scale": ({"y_scale": -1.0}, "y_scale must lie in"),
    "grid of one": ({"grid": (1,)}, "each entry of grid must lie in 2 ... 2500, got 1"),
    "grid of floats": ({"grid": (9.0,)}, "each entry of grid must be a whole number, got 9.0"),
    "cells unused": ({"cells": 4}, "mechanism 'refined' does not use cells; leave it out"),
    "cells many": ({**TWO, "grid": (3, 3), "mechanism": "sparse", "cells": 21}, "makes more than 400 in all"),
    "epsilon": ({"epsilon": 0}, "epsilon must lie in 0.001 ... 100, got 0"),
    "epsilon nan": ({"epsilon": math.nan}, "epsilon must be a finite number, got nan"),
    "delta": ({"delta": 0}, "delta must be above 0 for mechanism 'refined'"),
    "pure delta": ({"mechanism": "integral_bins", "delta": 1e-5}, "delta must be 0 for mechanism 'integral_bins'"),
    "no total delta": ({"mechanism": "integral_bins", "total_delta": 0.0}, "total_delta must be above 0"),
    "words of a number": (
        {"writing": Writing(yes="a", no="b")},
        'yes and no are words of an outcome declared "yes/no"',
    ),
    "tiny delta": ({"delta": 1e-31}, "delta must be at least 1e-30"),
    "total": ({"epsilon": 2.0, "total_epsilon": 1.0}, "one release spends epsilon = 2 at .* above total_epsilon = 1"),
    "total at a smaller delta": ({"total_epsilon": 1.0, "total_delta": 1e-9}, "one release spends epsilon = 1.5"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_declaration_is_named_with_its_remedy(make_spec, changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        make_spec(**changes)
    assert type(caught.value) is ValueError


def test_the_largest_grid_is_accepted(make_spec):
    assert len(make_spec(grid=(MAX_GRID,)).points()) == MAX_GRID


def test_what_is_left_out_has_a_default(make_spec):
    spec = make_spec(x_units=(), y_unit="", total_epsilon=None, total_delta=None, lengthscale=None)
    assert (spec.x_units, spec.lengthscale) == (("",), (25.0,))
    assert spec.limit == spec.guarantee.budget
    pure = make_spec(mechanism="integral_bins", total_epsilon=None, total_delta=None)
    assert (pure.limit.epsilon, pure.limit.delta) == (1.0, 1e-6)
    rate = make_spec(y_kind="yes/no", y_bounds=None)
    assert rate.y_bounds == (0.0, 1.0)


def test_lengthscales_left_out_are_a_quarter_of_the_box_in_kilometres_for_degrees(make_spec):
    box = ((0, 100), (0, 80))
    found = make_spec(**TWO | {"lengthscale": None, "x_box": box}, grid=(3, 3), coordinates=("age", "weight"))
    assert [round(each, 6) for each in found.lengths] == [25.0, 20.0]
