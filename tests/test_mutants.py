"""The edits of ``tests.mutants`` still fit the code, their tests exist, and the table is theirs. Cheap: none is run."""

import re
from pathlib import Path

import pytest

from tests.mutant_list import MUTANTS
from tests.mutants import HEAD, ROOT, TABLE, edited, row


def test_there_are_many_and_no_two_are_the_same():
    assert len(MUTANTS) >= 100
    assert len({(mutant.file, mutant.before, mutant.after) for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.file, mutant.breaks) for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{Path(mutant.file).stem}: {mutant.breaks}")
def test_each_fits_exactly_one_place_and_is_python(mutant, tmp_path):
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    copy = tmp_path / mutant.file
    copy.parent.mkdir(parents=True)
    copy.write_text(text, encoding="utf-8")
    with edited(mutant, tmp_path):
        compile(copy.read_text(encoding="utf-8"), mutant.file, "exec")
        assert copy.read_text(encoding="utf-8") != text
    assert copy.read_text(encoding="utf-8") == text


def test_an_edit_that_fits_nowhere_is_said(tmp_path):
    (tmp_path / "dpgp_core/accounting").mkdir(parents=True)
    (tmp_path / MUTANTS[0].file).write_text("nothing")
    with pytest.raises(ValueError, match="0 times; it must be once"), edited(MUTANTS[0], tmp_path):
        pass


def test_the_tests_that_should_notice_exist():
    for test in {test for mutant in MUTANTS for test in mutant.tests}:
        file, _, name = test.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or f"def {name.partition('[')[0]}(" in text, test


def test_the_table_is_about_these_edits_and_these_tests():
    text = TABLE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    lines = text.removeprefix(HEAD).splitlines()
    assert len(lines) == len(MUTANTS)
    for mutant, line in zip(MUTANTS, lines, strict=True):
        (noticed_by,) = re.findall(r"`(.*)`", line)
        assert line == row(mutant, noticed_by.replace("\\|", "|"))
        file, _, name = noticed_by.partition("::")
        assert f"tests/{file}" in {test.partition("::")[0] for test in mutant.tests}
        assert f"def {name.partition('[')[0]}(" in (ROOT / "tests" / file).read_text(encoding="utf-8")
