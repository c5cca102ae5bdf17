from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.release import publish
from dpgp_core.release.bundle import digest, remapped, statistic_files


def test_of_many_rows_a_file_holds_their_counts_and_gives_the_values(make_spec, read):
    spec = replace(make_spec(), mechanism="bayes", cells=None, delta=1e-6)
    data = read(spec, n=6000)
    published = publish(spec, data)
    about, files = statistic_files(published.statistics)
    assert (about["records"], about["counts"]) == (6000, {"known": "inputs are public"})
    values = remapped(spec.built, about, files, spec.points(), spec.public_table(data.X))
    assert (np.abs(np.clip(values, *spec.y_bounds) - published.values) <= published.step).all()


def test_a_missing_or_damaged_file_is_a_sentence(make_spec, read):
    spec = replace(make_spec(), mechanism="cloaking", cells=None)
    published = publish(spec, read(spec))
    about, files = statistic_files(published.statistics)
    public = spec.public_table(spec.points())
    with pytest.raises(ValueError, match=r"map\.npz is missing; fetch the zip again"):
        remapped(spec.built, about, {}, spec.points(), public)
    with pytest.raises(ValueError, match=r"map\.npz is damaged"):
        remapped(spec.built, about, {"map.npz": files["map.npz"][:40]}, spec.points(), public)


def test_the_digest_is_sha_256():
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
