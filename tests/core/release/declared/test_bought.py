"""Bounds that are bought, as declared: what is refused before anything is read."""

import pytest

from dpgp_core.bounds.cells import declared_bounds


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bounds_unit": None}, "Where nobody knows them, give bounds_unit"),
        ({"bounds_unit": 0}, "bounds_unit must lie in"),
        ({"bounds_unit": "cent"}, "bounds_unit must be a number"),
        ({"bounds_unit": True}, "bounds_unit must be a number"),
        ({"bounds_share": 0.9}, "bounds_share must lie in"),
        ({"bounds_share": None}, "bounds_share must be a number"),
        ({"mechanism": "refined"}, "'refined' needs declared bounds"),
        ({"mechanism": "integral_bins", "delta": 0, "total_delta": 1e-6}, "'integral_bins' needs declared bounds"),
        ({"y_scale": 5.0}, "y_scale follows from the bounds"),
        ({"y_kind": "yes/no"}, "nothing to buy"),
        ({"epsilon": 0.001, "delta": 0.1}, "too small at delta = 0.1 to buy bounds"),
        ({"y_bounds": [5, 5]}, "y_bounds must be"),
    ],
)
def test_what_cannot_be_bought_is_refused_in_the_configuration(make_open, changes, message):
    with pytest.raises(ValueError, match=message):
        make_open(**changes)


def test_what_is_bought_stays_within_what_is_declared():
    assert declared_bounds([5, 7], 0.01, "amount", log=False) == (5.0, 7.0)
    assert declared_bounds(None, 0.01, "amount", log=True) == (0.01, 1e10)
    assert declared_bounds(None, 0.01, "amount", log=False) == (0.0, 1e10)
    assert declared_bounds(None, 0.01, "number", log=False) == (-1e10, 1e10)
    with pytest.raises(ValueError, match="give bounds_unit"):
        declared_bounds(None, None, "number", log=False)
