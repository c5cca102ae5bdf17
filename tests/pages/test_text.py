from __future__ import annotations

import pytest

from pages._ui.look import text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (8.4871, "8.5"),
        (0.02149, "0.021"),
        (150.2, "150"),
        (1234567, "1,200,000"),
        (0, "0"),
        (-3.14, "-3.1"),
        (0.9999, "1.0"),
    ],
)
def test_two_significant_digits(value, shown):
    assert text.number(value) == shown


def test_three_digits_and_unbounded():
    assert text.number(0.99999999, 3) == "1.00"
    assert text.number(float("inf")) == "unbounded"


def test_log_change_as_share_of_price():
    assert text.factor_of(0.0953102) == "10 %"
