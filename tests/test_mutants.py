"""The edits of ``tests.mutants`` still fit the code, and their tests exist. Cheap: none is run."""

import pytest

from tests.mutant_list import EDITS, MUTANTS
from tests.mutants import ROOT, edited


def test_there_are_many_different_edits():
    assert len(MUTANTS) >= 100
    assert len({(mutant.file, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.breaks) for mutant in MUTANTS}) == len(MUTANTS)


def test_no_line_of_the_lists_is_anything_else():
    lines = [line for file in EDITS.glob("*.txt") for line in file.read_text(encoding="utf-8").splitlines()]
    assert {line.partition(" ")[0] for line in lines} == {"==", "#", "-", "+"}
    assert sum(line.startswith("#") for line in lines) == len(MUTANTS)


def test_each_edit_fits_one_place_and_compiles(tmp_path):
    for mutant in MUTANTS:
        text, copy = (ROOT / mutant.file).read_text(encoding="utf-8"), tmp_path / mutant.file
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text, encoding="utf-8")
        with edited(mutant, tmp_path):
            if mutant.file.endswith(".py"):
                compile(copy.read_text(encoding="utf-8"), mutant.file, "exec")
            assert copy.read_text(encoding="utf-8") != text
        assert copy.read_text(encoding="utf-8") == text


def test_an_edit_that_fits_nowhere_is_said(tmp_path):
    copy = tmp_path / MUTANTS[0].file
    copy.parent.mkdir(parents=True)
    copy.write_text("nothing")
    with pytest.raises(ValueError, match="0 times; it must be once"), edited(MUTANTS[0], tmp_path):
        pass


def test_the_test_that_should_notice_exists():
    for mutant in MUTANTS:
        file, _, name = mutant.test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8"), mutant
