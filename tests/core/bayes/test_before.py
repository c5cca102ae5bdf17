"""Files of releases from before clipping was taken to be biased are read as they were then.

Each file holds a release of that code and what it read of it itself.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from dpgp_core import EQ, BayesCloaking, refit
from dpgp_core.measurement.statistics_file import reading_of, statistics_from_files, statistics_to_files
from tests.core.tables import read_again

X_TEST = np.linspace(0.5, 9.5, 4)[:, None]
FILES = {
    "records": ("outputs", statistics_from_files, statistics_to_files),
    "cells": ("inputs and outputs", statistics_from_files, statistics_to_files),
}


@pytest.fixture(params=list(FILES))
def before(request):
    protects, read, write = FILES[request.param]
    kept = json.loads((Path(__file__).parent / "before" / f"{request.param}.json").read_text(encoding="utf-8"))
    return protects, read(kept["card"], bytes.fromhex(kept["npz"])), write, kept


def test_they_say_what_they_said(before):
    protects, statistics, _, kept = before
    assert statistics.reading == "normal outcomes"
    mechanism = BayesCloaking(epsilon=2.0, delta=0.01, protects=protects, stages=2, gap=0.3)
    np.testing.assert_allclose(read_again(mechanism, statistics, X_TEST), kept["reread"], rtol=1e-9, atol=1e-9)
    again = refit(statistics, kernels=[EQ(lengthscale=2.0)], noise_variances=[0.05, 0.3], X_test=X_TEST)
    np.testing.assert_allclose(again.mean, kept["mean"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(again.interval(0.9), [kept["low"], kept["high"]], rtol=1e-8, atol=1e-8)


def test_written_again_they_are_the_same_files(before):
    _, statistics, write, kept = before
    card, npz = write(statistics)
    assert card == kept["card"]
    assert npz.hex() == kept["npz"]


def test_another_way_to_read_than_is_known_is_refused():
    assert reading_of({}) == "normal outcomes"
    assert reading_of({"reading": "any outcomes"}) == "any outcomes"
    with pytest.raises(ValueError, match="read in a way that is not known here, 'by the stars'"):
        reading_of({"reading": "by the stars"})
