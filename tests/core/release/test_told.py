"""What the owner of a table is told around a release."""

import io

import pytest

from dpgp_core.reading.writing import Writing
from dpgp_core.release.publishing import complete_rows, large_delta, not_of_its_kind, read_outcomes, to_owner

TABLE = b"age,height\n1,10\n2,100\n3,-999\n4,120\n"


def test_outcomes_that_count_as_a_bound_are_counted_also_of_logarithms(make_spec):
    for changes in ({}, {"log": True}):
        spec = make_spec(**changes)
        said = to_owner(spec, read_outcomes(io.BytesIO(TABLE), spec))
        assert said.startswith(
            "For your eyes, in no file: 2 of 4 outcomes lie outside the bounds and count as the bound"
        )
    one = make_spec(y_bounds=(5.0, 200.0))
    assert "1 of 4 outcome lies outside the bounds and counts" in to_owner(one, read_outcomes(io.BytesIO(TABLE), one))
    none = make_spec(y_bounds=(-1000.0, 200.0))
    assert to_owner(none, read_outcomes(io.BytesIO(TABLE), none)) == ""


def test_inputs_that_count_at_the_edge_of_the_box_are_counted(make_spec):
    spec = make_spec(mechanism="bayes_cells", x_box=((1.5, 3.5),), y_bounds=(-1000.0, 200.0))
    table = read_outcomes(io.BytesIO(TABLE), spec)
    assert to_owner(spec, table).startswith(
        "For your eyes, in no file: 2 of 4 rows have an input outside its x_box and count at its edge."
    )
    assert "outside" not in repr(table)


def test_outcomes_that_are_neither_yes_nor_no_are_counted(make_spec):
    writing = Writing(yes=("yes",), no=("no",))
    spec = make_spec(y_kind="yes/no", y_bounds=(0.0, 1.0), writing=writing)
    content = b"age,height\n1,yes\n2,no\n3,perhaps\n4,\n5,yes\n6,invalid\n"
    table = read_outcomes(io.BytesIO(content), spec)
    assert (table.n, table.left_out) == (3, 3)
    assert "2 of 5 outcomes are neither the word for yes nor that for no, and are left out" in to_owner(spec, table)


def test_outcomes_of_another_kind_are_counted(make_spec):
    spec = make_spec(y_kind="yes/no", y_bounds=(0.0, 1.0))
    table = read_outcomes(io.BytesIO(b"age,height\n1,1\n2,0\n3,9\n4,0\n"), spec)
    assert "1 of 4 rows have an outcome that is not of its kind (yes/no)" in not_of_its_kind(spec, table)


def test_where_bounds_are_bought_none_are_outside(make_open):
    spec = make_open(y="height", y_kind="number")
    assert to_owner(spec, read_outcomes(io.BytesIO(TABLE), spec)) == ""


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
