"""Releases that a stranger has altered and sealed again: always a sentence, never an exception."""

from __future__ import annotations

from functools import cache

import pytest

from pages._ui.explore import statistic
from pages._ui.explore.statistic import Refit
from tests import fuzz_statistics as fuzz
from tests.pages.test_explore_release import zipped


@cache
def cells() -> dict[str, bytes]:
    return fuzz.KINDS["cells"]()


def faults(variants, drawn: bool) -> list[str]:
    found = [(what, fuzz.fault(files, drawn)) for what, files in variants]
    assert len(found) > 70
    return [f"{what}: {wrong}" for what, wrong in found if wrong is not None]


@pytest.mark.full
@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_whatever_stands_in_a_description_or_an_array_is_refused_or_drawn(kind):
    files = fuzz.KINDS[kind]()
    assert faults([*fuzz.variants(files), *fuzz.array_variants(files)], drawn=True) == []


def test_no_text_of_a_stranger_is_repeated_at_length():
    variants = list(fuzz.long_texts(cells()))
    assert sum("the name" in what for what, _ in variants) > 20
    assert faults(variants, drawn=False) == []


@pytest.mark.parametrize("edit", fuzz.EDITS)
def test_what_nobody_can_declare_is_refused(edit):
    altered = fuzz.edited(cells(), edit)
    if edit == "names that are no text":
        assert statistic.opened(altered).statistics.x_names == ("7", "7")
        return
    with pytest.raises(
        ValueError, match=r"^no release can hold .*; fetch both files again from whoever released them$"
    ):
        statistic.opened(altered)


@pytest.mark.full
def test_numbers_that_no_model_can_read_are_a_sentence_and_there_is_a_way_back(open_page, monkeypatch):
    app = open_page("explore_release")
    monkeypatch.setattr(statistic, "refit_over_box", lambda *_: 1 / 0)
    app.file_uploader[0].upload("release.zip", zipped(fuzz.of_records()), "application/zip").run()
    assert not app.exception
    assert "nothing can be computed from them" in app.error[0].value
    assert [each.label for each in app.button if each.label.startswith("Back")]


@pytest.mark.full
def test_what_is_not_finite_is_not_drawn(monkeypatch):
    files = fuzz.of_records()
    read = statistic.refit_over_box(statistic.opened(files), Refit("EQ", 50))
    assert read.is_finite
    read.mixture.means[0, 0, 0] = float("nan")
    monkeypatch.setattr(statistic, "refit_over_box", lambda *_: read)
    with pytest.raises(ValueError, match="nothing can be computed"):
        statistic._own(files, Refit("EQ", 50))
