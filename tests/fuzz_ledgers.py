"""Generators of ledgers that must be refused, by kind."""

import json
from dataclasses import replace

from dpgp_core.release import ledger_to_json, spec_to_json
from tests.fuzz_configs import GOOD, NASTY, SPEC, deeply_nested, not_an_object, written
from tests.fuzz_tables import pick


def good_ledger(spec=SPEC, releases=1):
    ledger = spec.new_ledger()
    ledger.entries = [("an earlier release", spec.guarantee)] * releases
    return ledger_to_json(ledger)


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
    fits |= {"established": [True, False], "rows": [None]}
    while True:
        value = pick(rng, [*NASTY, "pure", "approximate", 1e-9, {"epsilon": 1}])
        if value not in fits.get(key, []) and not (key == "delta" and value == 0.5) and (key, value) != ("mu", 1e-9):
            where[key] = value
            return written(found)


def other_ledger(rng):
    """Text that is no ledger at all, or one of another total."""
    other = replace(SPEC, total_epsilon=float(rng.uniform(3.1, 9)))
    texts = [good_ledger(other).encode(), spec_to_json(SPEC).encode(), not_an_object(rng), deeply_nested(rng)]
    return pick(rng, texts)


def spent_ledger(rng):
    return good_ledger(releases=int(rng.integers(9, 40))).encode()


def bad_card(rng):
    """A release.json whose configuration is good and whose ledger is not."""
    return written({"schema": 1, "config": GOOD, "ledger": json.loads(bad_ledger(rng))["ledger"]})


CARDS = {"a card with a wrong ledger": bad_card}
LEDGERS = {"a wrong ledger": bad_ledger, "another ledger": other_ledger, "a spent ledger": spent_ledger}
