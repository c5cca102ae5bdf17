"""Generators of configurations and ledgers that must be refused, by kind."""

import json
from dataclasses import replace

from dpgp_core.release import CHOICES, ledger_to_json, spec_to_json
from dpgp_core.release.json_text import spec_to_object
from dpgp_core.release.specification import EXAMPLE
from tests.fuzz_tables import pick

SPEC = replace(EXAMPLE, mechanism="refined", grid=(3,))  # inputs are public: those outside the box are refused
TEXT = spec_to_json(SPEC).encode()
GOOD = spec_to_object(SPEC)
NEEDED = {"x", "x_box", "y", "y_bounds", "unit", "grid", "epsilon", "delta"}
OPTIONAL = GOOD.keys() - NEEDED
NASTY = [None, True, False, "", " ", "1", "nan", "x" * 100_000, "\x00", "a\nb", "\ud800", "\u2028", " age", -1, 0.5]
NASTY += [1e308, 1e-308, -0.0, 10**30, -(10**400), [], [[]], {}, {"a": 1}, [None], [True], ["\udfff"], [[1, 2, 3]]]
NASTY += [[[2, 1]], [[1, 1]], [["0", "1"]], [[0, True]], [1, 2], [0], [-5], [1.5], ["age", "age"], [10**9]]
NASTY += [[[0, 10**400]]]
# values that some key accepts: with them a configuration may be good
MAY_LACK = ["cells", "coordinates", "person", "bounds_unit", "total_epsilon", "total_delta", "numbers", "encoding"]
MAY_LACK += ["yes", "no", "date_order"]
HARMLESS = {key: [None] for key in MAY_LACK} | {
    "epsilon": [0.5],
    "noise_variance": [0.5],
    "bounds_share": [0.5],
    "y_scale": [None, 0.5],
    "tolerance": [None, 0.5],
    "unit": ["1", "nan"],
    "y": ["1", "nan"],
    "x_units": [None, "", "1"],
    "y_unit": ["", "1", "nan"],
    "y_bounds": [[1, 2]],
    "log": [True, False],
    "centiles": [False],
    "lengthscale": [None, [1.5]],
    "dates": [None, {}, []],
    "x_levels": [None, [None]],
    "separator": [None, " "],
    "ignore": [None, "1", [], [1, 2], [10**9]],
    "sheet": [None, "1", "nan"],
    # a word or a code, or a list of them
    "missing": [None, "", "1", "nan", -1, 0.5, 1e-308, -0.0, [], [1, 2], [0], [-5], [1.5], ["age", "age"], [10**9]],
}
CHARACTERS = ["", " ", "a\tb", "a\nb", "\x00", "\x7f", "\ud83d", "a" * 201, " age", "age ", "\u2029", "\x85", 5, None]
UNKNOWN = ["epsilom", "seed", "", "x " * 300, "\ud800", "__class__", "é", "built", "limit"]
NO_OBJECT = [b"", b" ", b"null", b"true", b"1", b'"text"', b"[]", b"[{}]", b"{}", b"age,height\n1,2\n", b"PK\x03\x04"]
NO_NUMBERS = [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"+1", b".5", b"0x10", b"1_000", b"01"]
GRIDS = [[1], [0], [-3], [2501], [3.0], ["3"], [True], [3, 3], [], 3, [10**20], [None]]


def written(found):
    """JSON text as bytes; half characters stay as escapes."""
    return json.dumps(found, ensure_ascii=True).encode()


def changed(**changes):
    return written(GOOD | changes)


def one_of(changes):
    """A strategy: one of some keys with one of its wrong values, which may be drawn."""

    def drawn(rng):
        wrong = changes(rng) if callable(changes) else changes
        key = pick(rng, list(wrong))
        return changed(**{key: pick(rng, wrong[key])})

    return drawn


def any_of(changes):
    """A strategy: one of some sets of values."""
    return lambda rng: changed(**pick(rng, changes(rng)))


def in_place(rng, keys, number):
    """The text of a number where JSON would not write it so."""
    return changed(**{pick(rng, keys): "HERE"}).replace(b'"HERE"', number)


def broken_syntax(rng):
    cut = int(rng.integers(0, len(TEXT) - 2))
    return pick(rng, [TEXT[:cut], TEXT[cut + 1 :].lstrip(b" \n") or b"]", TEXT + b"}", TEXT + TEXT, b"\x00" + TEXT])


def deeply_nested(rng):
    depth = int(10 ** rng.uniform(2, 5.2))
    value = pick(rng, [b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth])
    key = pick(rng, [b"x", b"unit", b"grid", b"config", b"other", b"schema"])
    return pick(rng, [value, b'{"' + key + b'": ' + value + b"}"])


def twice(rng):
    key = pick(rng, list(GOOD))
    return written(GOOD)[:-1] + f', "{key}": {json.dumps(GOOD[key])}}}'.encode()


def missing_key(rng):
    lost = pick(rng, [key for key in GOOD if key not in OPTIONAL])
    return written({key: value for key, value in GOOD.items() if key != lost})


def wrong_value(rng):
    while True:
        key, value = pick(rng, list(GOOD)), pick(rng, NASTY)
        if value not in HARMLESS.get(key, []):
            return changed(**{key: value})


def huge_number(rng):
    digits = "9" * int(10 ** rng.uniform(1.3, 5))
    number = pick(rng, [digits, f"-{digits}", f"{digits}.5", f"1e{digits[:9]}", f"1E+{digits[:5]}"])
    keys = ["epsilon", "delta", "total_epsilon", "noise_variance", "y_scale", "cells", "schema"]
    return in_place(rng, keys, number.encode())


def intervals(rng):
    low, high = sorted(float(value) for value in rng.normal(0, 100, 2))
    pairs = [[high, low], [low, low], [str(low), str(high)], [low], [low, high, high], [low, None], [True, high + 200]]
    pairs += [{"low": low, "high": high}, "low..high", [1e15, 1e15 + 1], [-1e300, 1e300], [[low, high]]]
    return {"y_bounds": pairs, "x_box": [[pair] for pair in pairs]}


def budgets(rng):
    size, small = 10 ** rng.uniform(-8, 6), 10 ** rng.uniform(-40, 1)
    return {
        "epsilon": [-size, 100 + size, 0],
        "delta": [-small, 0, 1, 0.1 + small, 1e-31],
        "total_epsilon": [1e-3, -size, 0.9],
        "total_delta": [0, 1e-31, 1.5],
    }


def grids(rng):
    plane = {"x": ["age", "height"], "x_units": ["", ""], "x_box": [[0, 1]] * 2}
    return [{"grid": pick(rng, GRIDS), **extra} for extra in ({}, plane)]


def models(rng):
    return [
        {"mechanism": pick(rng, ["laplace", "Refined", "", "refined ", "posterior_sampling", "__init__"])},
        {"kernel": pick(rng, ["eq", "RBF", "Stationary", "Matern", "EQ "])},
        {"cells": 5},
        {"mechanism": "sparse", "cells": pick(rng, [0, -1, 401, 2.0, "6", True])},
        {"lengthscale": [pick(rng, [0, -1, 1e-3, 1e9, "25", None])]},
        {"noise_variance": pick(rng, [0, -1, 1e9])},
        {"y_scale": pick(rng, [0, -1, 1e-9, 1e9, "1"])},
        {"mechanism": "integral_bins", "delta": 1e-5},
        {"mechanism": "integral_bins", "delta": 0, "kernel": "Matern32"},
        {"mechanism": "sparse", "delta": 0},
    ]


def kinds(rng):
    return [
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
    name, key = pick(rng, CHARACTERS), pick(rng, ["x", "y", "unit", "y_unit", "x_units"])
    if name == "" and key in {"y_unit", "x_units"}:
        name = "\r"
    return changed(**{key: [name] if key.startswith("x") else name})


def wrong_text(rng):
    coded = TEXT.decode().encode(pick(rng, ["utf-16", "utf-16-le", "utf-32", "cp037"]))
    return pick(rng, [coded, TEXT.replace(b"cm", b"\xe9"), TEXT + b" " * 5_000_000])


# ---- Ledgers.


def good_ledger(spec=SPEC, releases=1):
    ledger = spec.new_ledger()
    ledger.entries = [("an earlier release", spec.guarantee)] * releases
    return ledger_to_json(ledger).encode()


def bad_ledger(rng):
    """A ledger with one wrong value."""
    found = json.loads(good_ledger())
    ledger = found["ledger"]
    entry = ledger["entries"][0]
    guarantee, loss = entry["guarantee"], entry["guarantee"]["loss"]
    where, key = pick(
        rng,
        [
            *((ledger, key) for key in ("limit", "entries")),
            *((entry, key) for key in ("guarantee", "what")),
            *((guarantee, key) for key in guarantee if key not in {"unit", "theorem", "not_covered"}),
            *((loss, key) for key in loss),
        ],
    )
    words = ["", " ", "1", "nan", " age", "pure", "approximate"]
    fits = {"limit": [None], "entries": [[]], "what": words, "neighbours": words, "assumptions": [[], ["age", "age"]]}
    fits |= {"established": [True, False], "rows": [None], "delta": [0.5], "mu": [1e-9]}
    while True:
        value = pick(rng, [*NASTY, "pure", "approximate", 1e-9, {"epsilon": 1}])
        if value not in fits.get(key, []):
            where[key] = value
            return written(found)


def other_ledger(rng):
    """Text that is no ledger at all, or one of another total."""
    other = replace(SPEC, total_epsilon=float(rng.uniform(3.1, 9)))
    return pick(rng, [good_ledger(other), TEXT, pick(rng, NO_OBJECT), deeply_nested(rng)])


CONFIGS = {
    "broken JSON": broken_syntax,
    "deeply nested JSON": deeply_nested,
    "a key twice": twice,
    "unknown key": lambda rng: changed(**{pick(rng, UNKNOWN): 1}),
    "missing key": missing_key,
    "value of the wrong kind": wrong_value,
    "huge numbers": huge_number,
    "no JSON numbers": lambda rng: in_place(
        rng, ["epsilon", "delta", "noise_variance", "y_bounds"], pick(rng, NO_NUMBERS)
    ),
    "reversed or wrong intervals": one_of(intervals),
    "impossible budgets": one_of(budgets),
    "impossible grids": any_of(grids),
    "impossible models": any_of(models),
    "outcomes of no such kind": any_of(kinds),
    "invisible or endless names": bad_names,
    "names that do not fit": one_of(
        {
            "x": [[name] for name in ("value", "curve_low_95", "output_high_95", "centile_3", "centile_97")]
            + [["height"], ["weight"]],
            "y": ["note"],
        }
    ),
    "no JSON object": lambda rng: pick(rng, NO_OBJECT),
    "JSON in another encoding or endless": wrong_text,
    "another schema": one_of({"schema": [0, 2, -1, "1", True, None, 1.5, [1], 10**20]}),
    # a release.json whose configuration is good and whose ledger is not
    "a card with a wrong ledger": lambda rng: written(
        {"schema": 1, "config": GOOD, "ledger": json.loads(bad_ledger(rng))["ledger"]}
    ),
}
LEDGERS = {
    "a wrong ledger": bad_ledger,
    "another ledger": other_ledger,
    "a spent ledger": lambda rng: good_ledger(releases=int(rng.integers(9, 40))),
}
