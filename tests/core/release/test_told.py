"""What the owner of a table is told around a release."""

import io

import pytest

from dpgp_core.release.publishing import complete_rows, large_delta, outside_bounds, read_outcomes

TABLE = b"age,height\n1,10\n2,100\n3,-999\n4,120\n"


def test_outcomes_that_count_as_a_bound_are_counted_also_of_logarithms(make_spec):
    for changes in ({}, {"log": True}):
        spec = make_spec(**changes)
        said = outside_bounds(spec, read_outcomes(io.BytesIO(TABLE), spec))
        assert said.startswith(
            "For your eyes, in no file: 2 of 4 outcomes lie outside the bounds and count as the bound"
        )
    one = make_spec(y_bounds=(5.0, 200.0))
    assert "1 of 4 outcome lies outside the bounds and counts" in outside_bounds(
        one, read_outcomes(io.BytesIO(TABLE), one)
    )
    none = make_spec(y_bounds=(-1000.0, 200.0))
    assert outside_bounds(none, read_outcomes(io.BytesIO(TABLE), none)) == ""


def test_where_bounds_are_bought_none_are_outside(make_open):
    spec = make_open(y="height", y_kind="number")
    assert outside_bounds(spec, read_outcomes(io.BytesIO(TABLE), spec)) == ""


@pytest.mark.parametrize(
    ("n", "left_out", "people", "said"),
    [
        (1046, 263, False, "1,046 complete rows of 1,309"),
        (60, 0, False, "60 rows"),
        (20, 3, True, "20 people with a complete row of 23"),
        (1200, 0, True, "1,200 people"),
    ],
)
def test_complete_rows(n, left_out, people, said):
    assert complete_rows(n, left_out, people=people) == said


@pytest.mark.parametrize(("delta", "n", "usual"), [(0.1, 500, "0.0001"), (0.01, 101, "0.0001"), (1e-3, 5000, "1e-05")])
def test_a_delta_above_one_in_n(delta, n, usual):
    said = large_delta(delta, n)
    assert f"delta = {delta:g} is above 1/n" in said
    assert f"declare {usual} or less" in said
    assert large_delta(1 / n, n) == large_delta(0.0, n) == ""
