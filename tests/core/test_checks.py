import math

import pytest

from dpgp_core.checks import check_interval, check_positive


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_what_is_not_positive_is_named(value):
    with pytest.raises(ValueError, match=f"width must be a finite number above 0, got {value}"):
        check_positive("width", value)


@pytest.mark.parametrize("interval", [(1.0, 1.0), (2.0, 1.0)])
def test_an_interval_the_wrong_way_round_is_named_with_the_remedy(interval):
    with pytest.raises(ValueError, match=r"bounds must be \(low, high\) with low < high.*swap or widen"):
        check_interval(interval, "bounds")


@pytest.mark.parametrize("interval", [(-math.inf, 1.0), (0.0, math.nan)])
def test_an_interval_without_end_is_named(interval):
    with pytest.raises(ValueError, match="bounds must be two finite numbers"):
        check_interval(interval, "bounds")


def test_what_is_right_passes():
    check_positive("width", 1e-300)
    check_interval((0.0, 1e-300), "bounds")
