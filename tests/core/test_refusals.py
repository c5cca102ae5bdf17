"""What tables, levels, kernels, dates, seasons and sums of the sparse DP-GP refuse, and in which words."""

import math

import numpy as np
import pytest

from dpgp_core.checks import check_interval, check_positive
from dpgp_core.dates import Dates
from dpgp_core.kernels import EQ, KERNELS, AcrossGroups, RationalQuadratic
from dpgp_core.levels import check_codes, levels_by_column, side_of
from dpgp_core.seasons import YEAR, Seasonal, check_periods, check_room
from dpgp_core.sparse.posterior import errors_in_variables, paper_posterior
from dpgp_core.sparse.statistics import (
    NoiseScales,
    NoisyStatistics,
    noise_scales,
    statistics_sensitivity,
)
from dpgp_core.table import declared_columns
from tests.core.tables import of_groups, small
from tests.refusals import each, told

SEX = ("women", "men")
SEVEN = tuple(map(str, range(7)))
BOX = ((0.0, 1.0), side_of(("north", "south", "other")))
BOUNDS = r"y_bounds must be \(low, high\) .* swap or widen them"
FINITE = "X and y must be finite; remove or fill missing values"
POSITIVE = "must be a finite number above 0, got {}"
NO_NUMBERS = [0.0, -1.0, math.inf, math.nan]
AGES = np.linspace(5.0, 55.0, 6)
SUMS = NoisyStatistics(A=np.zeros(1), B=np.eye(1), noise=NoiseScales(sa=0.0, sb=0.0))
REFUSALS = [
    # table
    *told(
        lambda changes: small(**changes),
        [
            ({"y": np.zeros(11)}, r"y must have shape \(12,\) to match X, got \(11,\)"),
            ({"X": np.zeros(12)}, r"X must have shape \(n, D\) with n >= 1 and D >= 1, got \(12,\)"),
            ({"X": np.zeros((0, 1))}, r"X must have shape .* got \(0, 1\)"),
            ({"X": np.zeros((12, 0))}, r"X must have shape .* got \(12, 0\)"),
            ({"columns": ()}, "columns must have 1 entries, one per column of X, got 0"),
            ({"x_units": ()}, "x_units must have 1 entries, one per column of x, got 0"),
            ({"x_box": ()}, "x_box must have 1 entries, one per column of x, got 0"),
            ({"y": np.full(12, np.nan)}, FINITE),
            ({"X": np.full((12, 1), np.inf)}, FINITE),
            ({"y_bounds": (3.0, -1.0)}, BOUNDS),
            ({"y_bounds": (1.0, 1.0)}, BOUNDS),
            ({"y_bounds": (0.0, np.inf)}, r"y_bounds must be two finite numbers, got \(0.0, inf\)"),
            ({"x_box": ((5.0, 2.0),)}, r"x_box of x must be \(low, high\)"),
            ({"y_scale": 0.0}, "y_scale must be a positive number, got 0.0"),
            ({"y_scale": -1.0}, "y_scale must be a positive number, got -1.0"),
            ({"y_scale": np.nan}, "y_scale must be a positive number, got nan"),
        ],
    ),
    # levels
    *told(
        lambda changes: of_groups(**changes),
        [
            ({"x_levels": (None, ("women",))}, "2 ... 20 levels"),
            ({"x_levels": (None, tuple(map(str, range(21))))}, "2 ... 20 levels"),
            ({"x_levels": (None, ("men", "men"))}, "more than once"),
            ({"x_levels": (None, ("men", ""))}, "empty"),
            ({"x_levels": (SEX, SEX), "x_box": ()}, "at least one must be a number"),
            ({"x_levels": (None,)}, "x_levels must have 2 entries"),
            ({"x_box": ((0.0, 60.0), (0.0, 1.0))}, "is derived"),
            ({"x_box": (None, None)}, "x_box has no entry for 'age', which is a number"),
            ({"x_box": ()}, "one per column of x that is a number"),
            *(({"X": np.stack([AGES, np.full(6, sex)], axis=1)}, "whole numbers 0 ... 1") for sex in (0.5, 2.0, -1.0)),
        ],
    ),
    *told(
        levels_by_column,
        [
            (("age",), {"sex": SEX}, "which is no input"),
            (("age",), [SEX], "must name inputs"),
        ],
    ),
    (
        lambda: declared_columns(("age", "a", "b"), [(0.0, 1.0)], levels=(None, SEVEN, SEVEN)),
        "49 combinations, more than 40",
    ),
    (lambda: check_codes(np.array([[0.5, 2.5]]), BOX), "input 2 has 3 levels"),
    (lambda: check_codes(np.array([[0.5, np.nan]]), BOX, ("age", "region")), "'region' has 3 levels"),
    # checks
    *each(lambda value: check_positive("width", value), f"width {POSITIVE}", NO_NUMBERS),
    *each(
        lambda interval: check_interval("bounds", interval),
        r"bounds must be \(low, high\) with low < high.*swap or widen",
        [(1.0, 1.0), (2.0, 1.0)],
    ),
    *each(
        lambda interval: check_interval("bounds", interval),
        "bounds must be two finite numbers",
        [(-math.inf, 1.0), (0.0, math.nan)],
    ),
    # kernels
    *each(
        lambda kernel: kernel(lengthscale=(1.0, 2.0))(np.zeros((3, 3)), np.zeros((3, 3))),
        "2 lengthscales for 3 input columns; give one, or one per column",
        KERNELS,
    ),
    *each(lambda value: EQ(variance=value), f"variance {POSITIVE}", NO_NUMBERS),
    *each(lambda value: EQ(lengthscale=value), f"lengthscale {POSITIVE}", NO_NUMBERS),
    (lambda: EQ(lengthscale=(1.0, -2.0)), "lengthscale must be a finite number above 0, got -2.0"),
    *each(lambda value: RationalQuadratic(alpha=value), f"alpha {POSITIVE}", [0.0]),
    *each(lambda kernel: kernel(lengthscale=0.0), f"lengthscale {POSITIVE}".replace("{}", "0.0"), KERNELS),
    (lambda: AcrossGroups(inner=EQ(), columns=(1,), shared=1.5), "shared must lie in 0"),
    # dates
    *told(
        lambda changes: Dates(**{"name": "day", "first": "2020-01-01"} | changes),
        [
            ({"first": "1.1.2020"}, "must be a date such as 2024-03-01, got '1.1.2020'"),
            ({"first": "2020/1/1"}, "must be a date such as 2024-03-01, got '2020/1/1'"),
            ({"first": 7}, "must be a date such as"),
            ({"format": "american"}, "format of 'day' must be one of year-month-day, day/month/year"),
            ({"period": "month"}, "period of 'day' must be \"week\", \"year\" or a number of days, got 'month'"),
            ({"period": 0.5}, "period of 'day' must lie in 2"),
            ({"period": True}, "period of 'day' must be a number"),
            ({"period": math.nan}, "must be a finite number"),
        ],
    ),
    # seasons
    (lambda: check_periods([7.0], 2), "periods must have 2 entries, one per input, got 1"),
    (lambda: check_periods([-1.0], 1), "each period must be a finite number above 0"),
    (lambda: check_room("a year", YEAR, (0.0, 700.0)), "comes less than 2 times in a box of width 700"),
    (
        lambda: Seasonal(trend=EQ(), periods=(None, 7.0), wave=1.0),
        "slow must have 2 entries, one per input, got 0",
    ),
    (lambda: Seasonal(trend=EQ(), periods=(None, 7.0), smooth=0.0), "smooth"),
    # sparse
    (lambda: statistics_sensitivity(1.0, 0, 1.0), "R_phi must be a finite number above 0, got 0"),
    (lambda: NoiseScales(sa=1.0, sb=-1.0), "sb must be a finite number of at least 0, got -1"),
    (lambda: noise_scales(math.inf, 1.0, 1.0), "noise_multiplier must be a finite number above 0"),
    *each(
        lambda posterior: posterior(SUMS, EQ(), np.zeros((1, 1)), np.eye(1), 0),
        "noise_variance must be a finite number above 0, got 0",
        [errors_in_variables, paper_posterior],
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_bad_input_is_refused_with_these_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
