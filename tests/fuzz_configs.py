"""Generators of configurations that must be refused, by kind."""

import json
from dataclasses import replace

from dpgp_core.release import CHOICES, spec_to_json
from dpgp_core.release.json_text import spec_to_object
from dpgp_core.release.specification import EXAMPLE
from tests.fuzz_tables import pick

SPEC = replace(EXAMPLE, mechanism="refined", grid=(3,))  # inputs are public: those outside the box are refused
GOOD = spec_to_object(SPEC)
NEEDED = {"x", "x_box", "y", "y_bounds", "unit", "grid", "epsilon", "delta"}
OPTIONAL = GOOD.keys() - NEEDED
NASTY = [
    None,
    True,
    False,
    "",
    " ",
    "1",
    "nan",
    "x" * 100_000,
    "\x00",
    "a\nb",
    "\ud800",
    "\u2028",
    " age",
    -1,
    0.5,
    1e308,
    1e-308,
    -0.0,
    10**30,
    -(10**400),
    [],
    [[]],
    {},
    {"a": 1},
    [None],
    [True],
    ["\udfff"],
    [[1, 2, 3]],
    [[2, 1]],
    [[1, 1]],
    [["0", "1"]],
    [[0, True]],
    [1, 2],
    [0],
    [-5],
    [1.5],
    ["age", "age"],
    [10**9],
    [[0, 10**400]],
]
# values that some key accepts: with them a configuration may be good
HARMLESS = {
    "x_units": [None, "", "1"],
    "y_unit": ["", "1", "nan"],
    "unit": ["1", "nan"],
    "y": ["1", "nan"],
    "y_bounds": [[1, 2]],
    "y_scale": [None, 0.5],
    "cells": [None],
    "total_delta": [None],
    "epsilon": [0.5],
    "noise_variance": [0.5],
    "tolerance": [None, 0.5],
    "log": [True, False],
    "coordinates": [None],
    "centiles": [False],
    "person": [None],
    "bounds_unit": [None],
    "bounds_share": [0.5],
    "total_epsilon": [None],
    "lengthscale": [None, [1.5]],
    "dates": [None, {}, []],
    "x_levels": [None, [None]],
    "numbers": [None],
    "separator": [None, " "],
    "encoding": [None],
    "yes": [None],
    "no": [None],
    "date_order": [None],
    "ignore": [None, "1", [], [1, 2], [10**9]],
    "sheet": [None, "1", "nan"],
    "missing": [  # a word or a code, or a list of them
        None,
        "",
        "1",
        "nan",
        -1,
        0.5,
        1e-308,
        -0.0,
        [],
        [1, 2],
        [0],
        [-5],
        [1.5],
        ["age", "age"],
        [10**9],
    ],
}


def written(found):
    """JSON text as bytes; half characters stay as escapes."""
    return json.dumps(found, ensure_ascii=True).encode()


def changed(**changes):
    return written(GOOD | changes)


def broken_syntax(rng):
    text = spec_to_json(SPEC).encode()
    cut = int(rng.integers(0, len(text) - 2))
    return pick(rng, [text[:cut], text[cut + 1 :].lstrip(b" \n") or b"]", text + b"}", text + text, b"\x00" + text])


def deeply_nested(rng):
    depth = int(10 ** rng.uniform(2, 5.2))
    value = pick(rng, [b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth])
    key = pick(rng, [b"x", b"unit", b"grid", b"config", b"other", b"schema"])
    return pick(rng, [value, b'{"' + key + b'": ' + value + b"}"])


def twice(rng):
    key = pick(rng, list(GOOD))
    return written(GOOD)[:-1] + f', "{key}": {json.dumps(GOOD[key])}}}'.encode()


def unknown_key(rng):
    return changed(**{pick(rng, ["epsilom", "seed", "", "x " * 300, "\ud800", "__class__", "é", "built", "limit"]): 1})


def missing_key(rng):
    lost = pick(rng, [key for key in GOOD if key not in OPTIONAL])
    return written({key: value for key, value in GOOD.items() if key != lost})


def wrong_value(rng):
    while True:
        key, value = pick(rng, list(GOOD)), pick(rng, NASTY)
        if value not in HARMLESS.get(key, []):
            return changed(**{key: value})


def huge_number(rng):
    key = pick(rng, ["epsilon", "delta", "total_epsilon", "noise_variance", "y_scale", "cells", "schema"])
    digits = "9" * int(10 ** rng.uniform(1.3, 5))
    number = pick(rng, [digits, f"-{digits}", f"{digits}.5", f"1e{digits[:9]}", f"1E+{digits[:5]}"])
    return written(GOOD | {key: "HERE"}).replace(b'"HERE"', number.encode())


def not_json_number(rng):
    key = pick(rng, ["epsilon", "delta", "noise_variance", "y_bounds"])
    number = pick(rng, [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"+1", b".5", b"0x10", b"1_000", b"01"])
    return written(GOOD | {key: "HERE"}).replace(b'"HERE"', number)


def bad_interval(rng):
    low, high = sorted(float(value) for value in rng.normal(0, 100, 2))
    pairs = [[high, low], [low, low], [str(low), str(high)], [low], [low, high, high], [low, None], [True, high + 200]]
    pairs += [{"low": low, "high": high}, "low..high", [1e15, 1e15 + 1], [-1e300, 1e300], [[low, high]]]
    key = pick(rng, ["y_bounds", "x_box"])
    pair = pick(rng, pairs)
    return changed(**{key: pair if key == "y_bounds" else [pair]})


def bad_budget(rng):
    size, small = 10 ** rng.uniform(-8, 6), 10 ** rng.uniform(-40, 1)
    wrong = {
        "epsilon": [-size, 100 + size, 0],
        "delta": [-small, 0, 1, 0.1 + small, 1e-31],
        "total_epsilon": [1e-3, -size, 0.9],
        "total_delta": [0, 1e-31, 1.5],
    }
    key = pick(rng, list(wrong))
    return changed(**{key: pick(rng, wrong[key])})


def bad_grid(rng):
    grid = pick(rng, [[1], [0], [-3], [2501], [3.0], ["3"], [True], [3, 3], [], 3, [10**20], [None]])
    extra = pick(rng, [{}, {"x": ["age", "height"], "x_units": ["", ""], "x_box": [[0, 1]] * 2}])
    return changed(grid=grid, **extra)


def bad_model(rng):
    changes = [{"mechanism": pick(rng, ["laplace", "Refined", "", "refined ", "posterior_sampling", "__init__"])}]
    changes += [{"kernel": pick(rng, ["eq", "RBF", "Stationary", "Matern", "EQ "])}, {"cells": 5}]
    changes += [{"mechanism": "sparse", "cells": pick(rng, [0, -1, 401, 2.0, "6", True])}]
    changes += [
        {"lengthscale": [pick(rng, [0, -1, 1e-3, 1e9, "25", None])]},
        {"noise_variance": pick(rng, [0, -1, 1e9])},
    ]
    changes += [{"y_scale": pick(rng, [0, -1, 1e-9, 1e9, "1"])}, {"mechanism": "integral_bins", "delta": 1e-5}]
    changes += [{"mechanism": "integral_bins", "delta": 0, "kernel": "Matern32"}, {"mechanism": "sparse", "delta": 0}]
    return changed(**pick(rng, changes))


def bad_kind(rng):
    changes = [
        {"y_kind": pick(rng, ["Number", "yes", "yes/no ", "counts", "", None, 1, True])},
        {"y_kind": "yes/no"},
        {"y_kind": "yes/no", "y_bounds": [0, 1], "log": True},
        {"y_kind": "yes/no", "y_bounds": [0, 1], "mechanism": "bayes", "centiles": True},
        {"y_kind": pick(rng, ["amount", "count"]), "y_bounds": [-(10 ** rng.uniform(-6, 3)), 200]},
        {"y_kind": "count", "log": True},
        {"person": "who", "mechanism": pick(rng, ["refined", "sparse"])},
        {"person": "who", "rows_per_person": 2, "mechanism": "bayes"},
        {"rows_per_person": pick(rng, [0, 1001, 2.0, "3", None, False])},
        {"centiles": pick(rng, [True, "true", 1, None, [True]])},
    ]
    return changed(**pick(rng, changes))


def extreme_settings(rng):
    """Settings at the ends of what is allowed: must end in a release or in a sentence."""
    mechanism = pick(rng, list(CHOICES))
    choice = CHOICES[mechanism]
    middle = pick(rng, [0.0, 1e6, -1e12, 1e-9])
    width = pick(rng, [1e-6, 1.0, 1e3, 1e14]) if middle in {0.0, 1e-9} else abs(middle) * pick(rng, [1e-8, 1.0])
    delta = pick(rng, [1e-30, 1e-5, 0.1])
    return changed(
        mechanism=mechanism,
        kernel=pick(rng, choice.kind.kernel_names),
        cells=pick(rng, [1, 2, 40, 400]) if choice.kind.uses_cells else None,
        epsilon=pick(rng, [1e-3, 1.0, 100.0]),
        delta=0 if choice.kind.pure else delta,
        total_epsilon=1000.0,
        total_delta=delta,
        y_bounds=[middle - width / 2, middle + width / 2],
        y_scale=pick(rng, [None, 1.01e-4 * width, 0.99e4 * width]),
        lengthscale=[pick(rng, [0.11, 1.0, 99_000.0])],
        noise_variance=pick(rng, [1e-4, 1.0, 1e4]),
        grid=[pick(rng, [2, 100])],
    )


def bad_names(rng):
    name = pick(
        rng, ["", " ", "a\tb", "a\nb", "\x00", "\x7f", "\ud83d", "a" * 201, " age", "age ", "\u2029", "\x85", 5, None]
    )
    key = pick(rng, ["x", "y", "unit", "y_unit", "x_units"])
    if name == "" and key in {"y_unit", "x_units"}:
        name = "\r"
    return changed(**{key: [name] if key.startswith("x") else name})


def other_names(rng):
    name = pick(rng, ["value", "curve_low_95", "output_high_95", "centile_3", "centile_97"])
    return pick(rng, [changed(x=[name]), changed(x=["height"]), changed(x=["weight"]), changed(y="note")])


def not_an_object(rng):
    return pick(
        rng, [b"", b" ", b"null", b"true", b"1", b'"text"', b"[]", b"[{}]", b"{}", b"age,height\n1,2\n", b"PK\x03\x04"]
    )


def wrong_text(rng):
    text = spec_to_json(SPEC)
    codec = pick(rng, ["utf-16", "utf-16-le", "utf-32", "cp037"])
    return pick(rng, [text.encode(codec), text.encode().replace(b"cm", b"\xe9"), text.encode() + b" " * 5_000_000])


def wrong_schema(rng):
    return changed(schema=pick(rng, [0, 2, -1, "1", True, None, 1.5, [1], 10**20]))


CONFIGS = {
    "broken JSON": broken_syntax,
    "deeply nested JSON": deeply_nested,
    "a key twice": twice,
    "unknown key": unknown_key,
    "missing key": missing_key,
    "value of the wrong kind": wrong_value,
    "huge numbers": huge_number,
    "no JSON numbers": not_json_number,
    "reversed or wrong intervals": bad_interval,
    "impossible budgets": bad_budget,
    "impossible grids": bad_grid,
    "impossible models": bad_model,
    "outcomes of no such kind": bad_kind,
    "invisible or endless names": bad_names,
    "names that do not fit": other_names,
    "no JSON object": not_an_object,
    "JSON in another encoding or endless": wrong_text,
    "another schema": wrong_schema,
}
