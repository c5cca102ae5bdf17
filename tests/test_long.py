"""The list of long tests names tests that are there, and is made of their times."""

import re
from pathlib import Path

from tests import long

ROOT = Path(__file__).parent.parent


def test_every_test_of_the_list_is_there():
    for name in long.listed():
        file, _, test = name.partition("::")
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {re.escape(test.partition('[')[0])}\(", text, re.MULTILINE), name


def test_a_test_is_long_by_its_seconds_and_some_always_stay(tmp_path):
    always = long.ALWAYS[0].removesuffix("]").replace("/", ".").replace(".py::", '" name="')
    cases = [f'<testcase classname="tests.a" name="test_{i}" time="{t}"/>' for i, t in enumerate((990.0, 2.5, 1.5))]
    cases.append(f'<testcase classname="{always}" time="500"/>')
    report = tmp_path / "times.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    assert long.longest([report]) == ["tests/a.py::test_0", "tests/a.py::test_1"]


def test_some_of_every_kind_always_stay():
    assert not any(name.startswith(long.ALWAYS) for name in long.listed())
