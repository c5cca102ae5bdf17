from __future__ import annotations

from decimal import Decimal

import pytest

from dpgp_core.accounting.gaussian import rounded_down, rounded_up


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [
        (1.0, "1.00", "1.00"),
        (1.0001, "1.01", "1.00"),  # just above a step: to nearest it would be 1.00
        (1.4849, "1.49", "1.48"),
        (9.991, "10.00", "9.99"),
        (0.0123001, "0.0124", "0.0123"),
        (152.01, "153", "152"),
        (0.0, "0", "0"),
    ],
)
def test_bounds_are_rounded_to_their_own_side(value, up, down):
    assert (rounded_up(value), rounded_down(value)) == (Decimal(up), Decimal(down))


@pytest.mark.parametrize("value", [0.1234567, 2.718281828, 1e-7, 99.95001, 442_413.4])
@pytest.mark.parametrize("digits", [1, 2, 3, 6])
def test_a_bound_that_is_said_holds(value, digits):
    assert float(rounded_up(value, digits)) >= value >= float(rounded_down(value, digits))
    assert float(rounded_up(value, digits)) <= value * (1 + 10 ** (1 - digits)) * (1 + 1e-12)


def test_what_a_root_finder_leaves_over_is_no_step():
    assert rounded_up(1 + 1e-12) == rounded_down(1 - 1e-12) == 1


def test_no_bound_stays_none():
    assert not rounded_up(float("inf")).is_finite()
