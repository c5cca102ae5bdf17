"""What a configuration, or a file, may not say, and in which words it is refused."""

import json

import pytest

from dpgp_core import checks
from dpgp_core.bounds.cells import declared_bounds
from dpgp_core.reading.writing import Writing
from dpgp_core.release import CHOICES, ReleaseSpec, ledger_from_json, spec_from_json
from dpgp_core.release.json_text import guarantee_from_object, guarantee_to_object, spec_to_object
from dpgp_core.release.specification import EXAMPLE, MAX_GRID
from tests.core.release.test_groups import spec_of as of_groups
from tests.core.release.test_inputs import GERMAN, OTHERS, YEARS, of_london, of_visits
from tests.core.release.test_specification import SALES
from tests.core.release.worlds import GROWTH, TWO, make_open, make_spec
from tests.refusals import each, told

HEIGHTS = [
    ({"x": "age"}, "x must be a list in square brackets, got 'age'"),
    ({"x": (), "x_units": (), "x_box": (), "lengthscale": (), "grid": ()}, "x must name 1 ... 10 input"),
    ({**TWO, "x": ("age", "age"), "grid": (3, 3)}, "name each column once"),
    ({"y": "age"}, "name each column once"),
    ({"x": ("value",)}, "x names 'value', a column of the released table; rename it"),
    ({"x_units": ("m", "kg")}, "x_units must have 1 entries"),
    ({"y_bounds": (200, 50)}, r"y_bounds must be \[low, high\] with low < high.*swap"),
    ({"y_bounds": (1e15 - 1, 1e15)}, "too narrow for its size"),
    ({"x_box": ((5, 5),)}, "each entry of x_box must be .* low < high"),
    ({"unit": ""}, "unit is empty; write what it is"),
    ({"tolerance": 0}, "tolerance must lie in 0.00015 ... 1500, got 0"),
    ({"log": True, "y_bounds": (0, 9)}, "y_bounds must lie above 0 where logarithms .* low = 0; raise"),
    ({"log": True, "y_bounds": (1e-9, 9e9)}, "y_bounds are a factor 9e\\+18 apart, more than 1e\\+12"),
    ({"log": True, "tolerance": 0.5}, "tolerance must lie in 1 ... 1e\\+06, got 0.5"),
    ({"x": ("within_tolerance",)}, "x names 'within_tolerance', a column of the released table"),
    ({"kernel": "RBF"}, "kernel must be one of EQ, .*; got 'RBF'"),
    ({"mechanism": "laplace"}, "mechanism must be one of bayes_cells, bayes, refined, .*; got 'laplace'"),
    ({"mechanism": "integral_bins", "kernel": "Matern32"}, "needs kernel EQ, got 'Matern32'"),
    ({"lengthscale": (1e-9,)}, "each entry of lengthscale must lie in 0.1 ... 100000, got 1e-09"),
    ({"lengthscale": (1.0, 2.0)}, "lengthscale must have 1 entries, one per input of x, got 2"),
    ({"grid": (1,)}, "each entry of grid must lie in 2 ... 2500, got 1"),
    ({"cells": 4}, "mechanism 'refined' does not use cells; leave it out"),
    ({"mechanism": "sparse", "cells": 0}, "^cells must lie in"),
    ({"noise_variance": 0}, "noise_variance must lie in"),
    ({"y_scale": 1e-9}, "y_scale must"),
    ({"y_kind": "yes"}, "y_kind must be one of"),
    ({"centiles": "true"}, "centiles must"),
    ({**TWO, "grid": (3, 3), "mechanism": "sparse", "cells": 21}, "makes more than 400 in all"),
    ({"epsilon": 0}, "epsilon must lie in 0.001 ... 100, got 0"),
    ({"delta": 0}, "delta must be above 0 for mechanism 'refined'"),
    ({"mechanism": "integral_bins", "delta": 1e-5}, "delta must be 0 for mechanism 'integral_bins'"),
    ({"mechanism": "integral_bins", "total_delta": 0.0}, "total_delta must be above 0"),
    (
        {"writing": Writing(yes="a", no="b")},
        'yes and no are words of an outcome declared "yes/no"',
    ),
    ({"delta": 1e-31}, "delta must be at least 1e-30"),
    ({"epsilon": 2.0, "total_epsilon": 1.0}, "one release spends epsilon = 2 at .* above total_epsilon = 1"),
    ({"total_epsilon": 1.0, "total_delta": 1e-9}, "one release spends epsilon = 1.5"),
]
KINDS = [
    ({"y_kind": "yes/no"}, "bounds 0 and 1"),
    ({"y_kind": "amount", "y_bounds": (-1.0, 5.0)}, "bounds of 0 or more"),
    ({"y_kind": "count", "log": True}, "leave log out"),
    ({"centiles": True}, "does not measure the dispersion of outcomes"),
    ({"mechanism": "bayes", "centiles": True, "y_kind": "yes/no", "y_bounds": (0.0, 1.0)}, "rate and no centiles"),
]
LEVELS = [
    ({"x_levels": (None,)}, "x_levels must have 2 entries"),
    ({"x_levels": (None, ("girls", 3))}, "must be text in quotes"),
    ({"x_levels": (("a", "b"), ("girls", "boys")), "x_box": (None, None)}, "at least one must be a number"),
    ({"x_box": ((0, 20), (0, 1))}, "x_box has an entry for 'sex', which is a category"),
    ({"x_box": (None, None)}, "x_box has no entry for 'age'"),
    ({"grid": (5, 7)}, "grid has 7 for 'sex', of 3 levels"),
    ({"grid": (None, None)}, "each entry of grid must be a whole number"),
    ({"coordinates": ("age", "sex")}, "coordinates must be numbers"),
]
BOUGHT = [
    ({"bounds_unit": None}, "Where nobody knows them, give bounds_unit"),
    ({"bounds_share": 0.9}, "bounds_share must lie in"),
    ({"mechanism": "refined"}, "'refined' needs declared bounds"),
    ({"mechanism": "integral_bins", "delta": 0, "total_delta": 1e-6}, "'integral_bins' needs declared bounds"),
    ({"y_scale": 5.0}, "y_scale follows from the bounds"),
    ({"y_kind": "yes/no"}, "nothing to buy"),
    ({"epsilon": 0.001, "delta": 0.1}, "too small at delta = 0.1 to buy bounds"),
    ({"y_bounds": [5, 5]}, "y_bounds must be"),
    (
        {"log": True, "y_kind": "number", "y_bounds": [-9, -8]},
        "y_bounds must lie above 0 where logarithms are measured",
    ),
]
PEOPLE = [
    ({"person": "age"}, "an input or the output too"),
    ({"person": ""}, "person is empty"),
    ({"person": "who", "rows_per_person": 2}, "two answers to one question"),
    ({"rows_per_person": 0}, "rows_per_person must lie in 1 ... 1000"),
    ({"rows_per_person": 900, "epsilon": 0.01}, "too little to be computed safely"),
]
FOUR = {"x": tuple("abcd"), "x_units": ("",) * 4, "x_box": ((0, 1),) * 4, "lengthscale": (1,) * 4, "grid": (2,) * 4}
DEGREES = [
    ({"coordinates": ("lon", "lon")}, "coordinates must be two different names of x"),
    ({"coordinates": ("lon",)}, "coordinates must be two different names of x"),
    ({"coordinates": ("lon", "height")}, "coordinates must be two different names of x"),
    ({"lengthscale": (8.0, 1e-3)}, "each entry of lengthscale must lie in 0.0667"),
]
DATES = [
    (
        {
            "x": ("lon", "lat"),
            "x_units": ("", ""),
            "grid": (5, 5),
            "lengthscale": (1.0, 1.0),
            "x_box": (YEARS, (0, 1)),
            "coordinates": ("lon", "lat"),
        },
        "coordinates must be degrees, and one of them is declared a date",
    ),
    (
        {
            "x": ("a", "b", "day"),
            "x_units": ("",) * 3,
            "grid": (3,) * 3,
            "lengthscale": (1.0, 1.0, 400.0),
            "x_box": ((0, 1), (0, 1), YEARS),
            "dates": GERMAN,
        },
        "takes at most 3 input columns, a period counting as one",
    ),
    (
        {"x_box": (("2019-01-01", "2019-01-06"),), "grid": (7,)},
        "grid has 7 points along 'day', whose box has 6 days; use fewer",
    ),
]
PURE = {"delta": 0.0, "total_delta": 1e-5}
ONE_ROW = [name for name in CHOICES if name not in ("bayes", "bayes_cells")]
CONFIG = spec_to_object(EXAMPLE)
CONFIGURATIONS = [
    (CONFIG | {"epsilom": 1}, "the configuration has the unknown key 'epsilom'; its keys are x, x_box, y, "),
    ({key: CONFIG[key] for key in CONFIG if key != "y_bounds"}, "lacks 'y_bounds'; add it"),
    *((CONFIG | {"schema": schema}, "must have schema 1, the only one") for schema in (2, True)),
    (CONFIG | {"y_bounds": {"low": 50}}, "y_bounds must be a list in square brackets, got an object"),
    ({"config": [CONFIG]}, "must be a JSON object"),
    ({"config": {"config": CONFIG}}, "unknown key 'config'"),
]
LEDGERS = [
    ({"ledger": {}}, "must be a JSON object with schema 1 and a key 'ledger'"),
    ({"schema": 1, "ledger": {"limit": None, "entries": 3}}, "entries must be a list in square brackets"),
    ({"schema": 1, "ledger": {"limit": 3, "entries": []}}, "the ledger's limit must be a JSON object, got 3"),
    (
        {"schema": 1, "ledger": {"limit": {"epsilon": 1, "delta": 0}, "entries": []}},
        "limit must have a delta above 0",
    ),
]
GUARANTEES = [
    *(({"rows": rows}, "rows must") for rows in (0, 1001, "2", True, 1.5)),
    ({"rows": None, "person": 3}, "person must be a line"),
]
REFUSALS = [
    *told(lambda changes: make_spec(**changes), [*HEIGHTS, *KINDS]),
    *told(lambda changes: make_spec(**{"mechanism": "bayes_cells"} | changes), PEOPLE),
    (lambda: make_spec(**FOUR, mechanism="bayes", person="who"), "over at most 3 input columns"),
    *told(
        lambda name: make_spec(mechanism=name, person="who"),
        [(name, r"use 'bayes_cells', or 'bayes' if .*, or declare rows_per_person") for name in ONE_ROW],
    ),
    *told(lambda changes: make_spec(**GROWTH | changes), LEVELS),
    *told(
        lambda name: of_groups(mechanism=name),
        [
            (name, f"mechanism '{name}' takes inputs that are numbers, and 'sex' has levels")
            for name in ("refined", "sparse", "integral_bins", "cloaking")
        ],
    ),
    (
        lambda: ReleaseSpec(**SALES | {"grid": (25, 25, 10)}),
        f"grid has 6250 points in all, more than {MAX_GRID}, the limit",
    ),
    *told(lambda changes: of_london(**changes), DEGREES),
    *told(lambda changes: of_visits(**changes), DATES),
    *told(
        lambda name: of_visits(mechanism=name, dates=GERMAN, **PURE if CHOICES[name].kind.pure else {}),
        [(name, "has one kernel, which is not periodic; leave period out, or use 'bayes") for name in OTHERS],
    ),
    *told(lambda changes: make_open(**changes), BOUGHT),
    (lambda: declared_bounds(None, None, "number", log=False), "give bounds_unit"),
    # files
    *told(lambda found: spec_from_json(json.dumps(found)), CONFIGURATIONS),
    *told(lambda found: ledger_from_json(json.dumps(found)), LEDGERS),
    *told(lambda changes: guarantee_from_object(guarantee_to_object(EXAMPLE.guarantee) | changes), GUARANTEES),
    # single values
    *each(
        lambda value: checks.text("unit", value),
        "one line of visible text",
        ["a\nb", "a\x00", "\ud800", "\u2028", "\x85", "\x7f", "a\tb"],
    ),
    (lambda: checks.text("unit", 3), "must be text in quotes, got 3"),
    (lambda: checks.number("size", 10**5000, 0, 5), "^size must"),  # no text has all its digits
    (lambda: checks.text("unit", " a"), "start or end with a space"),
    *each(
        lambda value: checks.number("size", value, 0, 5),
        r"^size must",
        [True, "3", None, [1], float("nan"), float("inf"), -1, 5.1],
    ),
    *each(lambda value: checks.whole("cells", value, 1, 9), r"^cells must", [1.0, True, "1", None, 0, 10, 10**30]),
]


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_a_wrong_declaration_is_named_with_its_remedy(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert type(caught.value) is ValueError
