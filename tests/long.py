"""Which tests take longer than some two seconds: they are marked `full`, and `make test` takes minutes, not an hour.

    make test-full PYTEST_ADDOPTS=--junitxml=times.xml
    python -m tests.long times.xml ...

adds to ``tests/long.txt``, one test a line, from reports of runs on a quiet machine. A test that is new, or has a new
name, is in `make test` until it is listed; delete a line to bring a test back.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

LIST = Path(__file__).with_suffix(".txt")
SECONDS = 2.0  # of a quiet machine
ALWAYS = (  # one of each kind stays, however long it takes
    "tests/e2e/test_every_page.py::test_it_draws_on_a_desk",
    "tests/core/bayes/test_coverage.py::test_the_curve_is_right_where_people_are[five_values-inputs]",
    "tests/core/bayes/test_coverage.py::test_the_curve_is_right_where_people_are[people-outputs]",
    "tests/core/bayes/test_coverage.py::test_counts_that_must_be_smooth_are_found_out_and_intervals_widened[five_values]",
    "tests/core/bayes/test_coverage.py::test_counts_on_few_values_are_not_looked_for_where_nobody_is",
    "tests/core/mechanisms/test_contract.py",
    "tests/core/mechanisms/test_catalogue.py",
    "tests/core/test_digests.py",
    "tests/test_mutants.py",
)


def listed() -> frozenset[str]:
    """The tests of the list."""
    return frozenset(LIST.read_text(encoding="utf-8").split("\n")) - {""}


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark those of the list."""
    long = listed()
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.full)


def longest(reports: Sequence[Path]) -> list[str]:
    """The tests that took more than ``SECONDS`` in any of these runs, in order."""
    found = set[str]()
    for report in reports:
        cases = ElementTree.parse(report).getroot().iter("testcase")
        found |= {_name(case) for case in cases if float(case.get("time", 0)) > SECONDS}
    return sorted(name for name in found if not name.startswith(ALWAYS))


def _name(case: ElementTree.Element) -> str:
    """As pytest names a test; the report has its file with dots for slashes."""
    return f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"


if __name__ == "__main__":
    everything = listed().union(longest([Path(each) for each in sys.argv[1:]]))
    LIST.write_text("\n".join(sorted(everything)) + "\n", encoding="utf-8")
