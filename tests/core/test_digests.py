"""What the core computes is what it computed before: see ``tests.digests``."""

import re

import numpy as np
import pytest

from tests.digests import ROUNDING, cases, digest, kept, rounding, same

CASES = dict(cases())
# over single places each option and kind of outcome is held; over clusters and cells each box, and people
WHOLE = ("number, one, plain", "plane, plain", "groups, plain", "a week", "people")
FULL = [name for name in CASES if re.match("bayes, (many places|inputs too)", name) and not name.endswith(WHOLE)]


@pytest.mark.full_for(*FULL)
@pytest.mark.parametrize("name", CASES)
def test_what_is_computed_has_not_changed(name):
    if name.startswith("bayes") and kept()[ROUNDING] != rounding():
        pytest.skip("made on a processor that rounds otherwise, where other strategies are as good")
    assert same(digest(CASES[name]()), kept()[name]), (
        f"{name} changed; if that is meant: python -m tests.digests --renew"
    )


def test_every_digest_is_of_something():
    assert set(kept()) == {*CASES, ROUNDING}


def test_a_digest_sees_a_change_and_no_rounding():
    values = np.linspace(-3, 5, 40)
    before = digest([values])
    assert same(digest([values * (1 + 1e-9)]), before)
    for changed in (values * 1.001, values + 0.01, values[::-1], np.where(values > 4.9, np.inf, values)):
        assert not same(digest([changed]), before)
