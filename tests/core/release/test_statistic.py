from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import publish
from dpgp_core.release.bundle import digest, statistic_files
from dpgp_core.release.check import values_again


def test_of_many_rows_a_file_holds_their_counts_and_gives_the_values(make_spec, read):
    spec = replace(make_spec(), mechanism="bayes", cells=None, delta=1e-6)
    data = read(spec, n=6000)
    published = publish(spec, data)
    about, files = statistic_files(published.statistics)
    assert (about["records"], about["counts"]) == (6000, {"known": "inputs are public"})
    values, _ = values_again(spec, spec.outcome, about, files)
    assert (np.abs(np.clip(values, *spec.y_bounds) - published.values) <= published.step).all()


def test_a_missing_or_damaged_file_is_a_sentence(make_spec, read):
    spec = replace(make_spec(), mechanism="cloaking", cells=None)
    published = publish(spec, read(spec))
    about, files = statistic_files(published.statistics)
    with pytest.raises(ValueError, match=r"map\.npz is missing; fetch the zip again"):
        values_again(spec, spec.outcome, about, {})
    with pytest.raises(ValueError, match=r"map\.npz is damaged"):
        values_again(spec, spec.outcome, about, {"map.npz": files["map.npz"][:40]})


def test_the_digest_is_sha_256():
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
