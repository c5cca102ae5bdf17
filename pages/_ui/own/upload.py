"""A visitor's own table and its results, which are kept in that visitor's session only."""

from __future__ import annotations

import codecs
import hashlib
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dpgp_core.dates import Format
from dpgp_core.reading import kinds
from dpgp_core.reading.ignored import lines_within, with_ignored
from dpgp_core.reading.look import may_have_a_unit, unit_of
from dpgp_core.reading.rows import as_written
from dpgp_core.reading.survey import Contents, survey, words_of
from dpgp_core.reading.writing import Writing
from dpgp_core.release import (
    Published,
    ReleasePlan,
    ReleaseSpec,
    column_names,
    plan_release,
    publish,
)
from dpgp_core.release.private_table import as_measured, notices_of, read_outcomes
from dpgp_core.table import Dataset, Notice
from pages._ui.own.practice import contents

_UNDECLARED = Writing()
MAX_BYTES = 5 * 2**20
MAX_WORK = 20_000_000  # largest product of rows (or people) and points of the grid
OUTLOOK = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # number of epsilons
MAX_COLUMNS = 1000  # largest number in the menu of columns
_SOME = 50  # texts of a column that are searched for its unit
MOST_WORDS = 20  # largest number of words of a column that are offered as categories, as yes and no, or as missing


@dataclass(frozen=True, eq=False)
class Table:
    """A visitor's table, or one to practise with.

    Attributes:
        name: name of a practice table; "" for a visitor's table, whose name stays in the browser.
        columns: names of its columns.
        writing: separator and encoding, as declared or found in its first line.
        digest: SHA-256 of the bytes without line ends, which identifies the table.
        survey: contents of each column, for its owner only.
        no_rows: lines that may not be rows, for its owner only.
        labels: labels of columns in the file, by name.
    """

    name: str
    content: bytes = field(repr=False)
    columns: tuple[str, ...]
    writing: Writing
    digest: str = field(repr=False)
    survey: dict[str, Contents] = field(repr=False)
    no_rows: tuple[int | str, ...] = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Number of rows below the header."""
        return next(iter(self.survey.values())).rows

    def commonest(self, column: str, most: int) -> list[str]:
        """Return the most frequent texts of a column, for its owner only."""
        return words_of(io.BytesIO(self.content), column, self.writing, most)

    def texts(self, column: str) -> list[str]:
        """Return all different texts of a column, the most frequent first, for its owner only."""
        return self.commonest(column, self.survey[column].values)

    def words(
        self, column: str, *, numbers: str | None = None, order: Format | None = None, dates: bool = True
    ) -> list[str]:
        """Return the different texts of a column, for its owner only; [] if there are too many to choose from.

        Texts in lines that may not be rows are left out.

        Args:
            column: name of the column.
            numbers: format of numbers, which are then left out; None to treat numbers as texts.
            order: order of dates, which are then left out; None to treat dates as texts.
            dates: whether dates in other orders are treated as texts.
        """
        stream = io.BytesIO(self.content)
        rows = replace(self.writing, ignore=(*(self.writing.ignore or ()), *self.no_rows))
        texts = words_of(stream, column, rows, MOST_WORDS + 1, numbers=numbers, order=order, dates=dates)
        return texts if len(texts) <= MOST_WORDS else []

    def unit(self, column: str) -> tuple[str, str]:
        """Return the unit next to the numbers of a column, and the format of these numbers; "" for both if there is
        none.
        """
        return unit_of(self.commonest(column, _SOME)) if may_have_a_unit(self.survey[column]) else ("", "")


def opened(content: bytes, declared: Writing = _UNDECLARED, name: str = "") -> Table:
    """Read a file and find its columns.

    Raises:
        ValueError: it is too large, has too many columns, or is not a valid CSV file.
    """
    check_size(content)
    writing = as_written(io.BytesIO(content), declared)
    columns = tuple(column_names(io.BytesIO(content), writing))
    if not columns:
        raise ValueError("no column of the file has a name of its own; name those that are needed")
    if len(columns) > MAX_COLUMNS:
        raise ValueError(f"the file has {len(columns)} columns, more than {MAX_COLUMNS}, the limit; keep those needed")
    overview = survey(io.BytesIO(content), columns, writing)
    return Table(name, content, columns, writing, _digest(content), overview, lines_within(overview))


def is_text(content: bytes) -> bool:
    """Return whether a file is read as it is, without conversion."""
    return kinds.kind_of(content) is None and not kinds.is_packed(content)


def has_separator(content: bytes) -> bool:
    """Return whether a file is text, packed or not, and so separates its values by a sign."""
    return kinds.kind_of(content) is None


def as_text(content: bytes, sheet: str | None) -> tuple[bytes, Mapping[str, str], bool]:
    """Convert a file to text; return it with the labels of its columns, and whether it is now comma-separated UTF-8.

    Raises:
        ValueError: see ``kinds.as_text``.
    """
    table = kinds.as_text(io.BytesIO(content), sheet, most=MAX_BYTES)
    return table.stream.read(), table.labels, table.converted


def lines_around(content: bytes, declared: Writing) -> tuple[int | str, ...]:
    """Return lines above and below a table that may not be its rows.

    Raises:
        ValueError: see ``opened``.
    """
    writing = with_ignored(io.BytesIO(content), declared)
    if writing is None or writing.ignore is None:
        return ()
    return (*writing.ignore, *(each for each in opened(content, writing).no_rows if each not in writing.ignore))


def check_size(content: bytes) -> None:
    """Raise ValueError if a file is too large."""
    if len(content) > MAX_BYTES:
        raise ValueError(
            f"the file has {len(content) / 2**20:.1f} MB, more than {MAX_BYTES // 2**20} MB, the limit here. "
            "Keep only the columns that are needed, or use the command line"
        )


def _digest(content: bytes) -> str:
    """Return the digest of a content without line ends, which other programs may change."""
    plain = content.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n").rstrip(b"\n")
    return hashlib.sha256(plain).hexdigest()


def is_practice(table: Table) -> bool:
    """Return whether a table is one of the public practice tables."""
    return table.digest in {_digest(content) for content in contents().values()}


@dataclass(frozen=True, eq=False)
class Prepared:
    """State before a release: the table read, and the noise designed once for outlook and release.

    Attributes:
        left_out: public number of rows that lack a value, or of people without a complete row.
        rows_left_out: public number of rows that were left out.
        plan: plan of the release, which depends on no output.
        notices: notices for the owner, which depend on private values.
    """

    left_out: int
    rows_left_out: int
    plan: ReleasePlan = field(repr=False)
    notices: tuple[Notice, ...] = field(repr=False)


def prepared(table: Table, spec: ReleaseSpec) -> Prepared:
    """Read the table as declared and design the noise.

    Raises:
        ValueError: the file does not fit the declaration.
    """
    data = _read(table, spec)
    plan = plan_release(spec, data.X, data.person)
    return Prepared(data.left_out, data.rows_left_out, plan, tuple(notices_of(spec, data)))


def _read(table: Table, spec: ReleaseSpec) -> Dataset:
    """Return the table with outcomes as they are; refuse it if it is too large for a server with other visitors."""
    data = read_outcomes(io.BytesIO(table.content), spec)
    points = math.prod(spec.grid)
    if data.people * points > MAX_WORK:  # the number of rows may be private; the number of people is public
        counted = "rows" if spec.person is None else "people"
        raise ValueError(
            f"{data.people:,} {counted} by {points:,} points of the grid are more than {MAX_WORK:,} together, the "
            "limit here. Use fewer points, or the command line"
        )
    return data


def released(table: Table, plan: ReleasePlan) -> Published:
    """Make one real release, with noise from the operating system.

    Raises:
        ValueError: see ``prepared``.
    """
    return publish(plan, as_measured(plan.spec.outcome, _read(table, plan.spec)))
