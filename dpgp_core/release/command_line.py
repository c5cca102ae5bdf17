"""Command ``python -m dpgp_core release``: a release without a browser."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, NoReturn, TextIO

from ..accounting.gaussian import rounded_up, written
from ..accounting.ledger import BudgetExceeded, Ledger, MixedProtection, MixedRows
from ..reading.kinds import as_text, proposed_by
from ..reading.look import lines_on_unused, proposal
from ..table import Dataset
from .bundle import bundle
from .files import CannotWrite, check_different, open_file, output_file, read_text_file
from .json_text import (
    ledger_from_json,
    read_object,
    spec_from_json,
    spec_from_object,
    spec_to_json,
    spec_to_object,
    write_object,
)
from .ledger_file import spend_in_file
from .plan import plan_release
from .private_table import (
    FOR_YOUR_EYES,
    as_measured,
    complete_rows,
    declared_writing,
    large_delta,
    notices_of,
    people_not_declared,
    probably_wrong,
    read_outcomes,
    to_owner,
    unused_columns,
)
from .publishing import bounds_bought, publish, useful
from .specification import EXAMPLE, ReleaseSpec

OK, BAD_CONFIG, BAD_DATA, REFUSED, NOT_WRITTEN = 0, 2, 3, 4, 5

EPILOG = f"""\
exit codes: {OK} success; {BAD_CONFIG} the command, the configuration or the ledger is wrong; {BAD_DATA} the table is
wrong; {REFUSED} refused, because the release would exceed the budget or expose protected inputs; {NOT_WRITTEN} a file
cannot be written; 128 + n stopped by signal n.

'python -m dpgp_core template' prints a configuration to start from; a release.json is one too. Begin with --check,
which spends nothing.

a categorical input has its categories in the configuration, and null instead of a box, a lengthscale and points:
"x": ["age", "sex"], "x_levels": [null, ["women", "men"]], "x_box": [[0, 100], null], "lengthscale": [25, null],
"grid": [51, null]. There is then a curve for each category. Any other text counts as "other" if that is a category.
"""
WRITING_EPILOG = """\
the table is a text with a header line; a workbook (.xlsx, .xls, .xlsb, .ods); a file of Stata (.dta), SPSS (.sav,
.zsav) or SAS (.xpt, .sas7bdat); a Parquet or Arrow file (.parquet, .arrow, .feather); or one of these packed (.gz, or
a .zip with no other table). The extra "files" installs what reads them.
the configuration declares how the table is written, and release.json repeats it. 'python -m dpgp_core look TABLE.csv'
proposes these declarations to the owner of the table:
  "separator"   ",", ";", "\\t", "|", " ", "^", "~" or ":"; null: the most frequent one in the header line
  "numbers"     "1234.5", "1,234.5", "1234,5", "1.234,5", "1 234,5", "1 234.5" or "1'234.5"
                null: "1234.5", unless all fractions of a column have exactly three digits: 2.400 may be 2,400
  "notations"   further ways of writing numbers, as ["censored"]: "censored" for <5, >90 and 80+, which count as their
                limit; "feet and inches" for 5'10", in inches; "multiples" for 12k and 1.2bn; "times" for 8:30 and 1h20,
                in hours
  "encoding"    null for UTF-8, or the encoding of a byte order mark; "cp1252" and "latin-1" are other usual ones
  "missing"     words and codes for a missing value, such as [-999, "refused"], in addition to empty cells, NA, N/A,
                NaN, null, none, unknown and the like. Rows that lack a value in a column that is used are left out,
                and the number of complete rows is public. null: a table with missing values is refused
  "yes", "no"   words or codes of a yes/no outcome ("y_kind": "yes/no"); any other cell counts as missing; "any date"
                stands for every date
  "date_order"  order of day, month and year in inputs that are dates
  "ignore"      lines that are not rows: titles, units, notes or sums, such as [2] or ["1-3", "63-"]
  "sheet"       name of the sheet with the table, for a workbook with several; its rows count as lines
a configuration needs x, x_box, y, y_bounds, unit, grid, epsilon and delta; everything else has a default.
"""
DATES_EPILOG = """\
dates: "x_box": [["2019-01-01", "2023-12-31"]] makes an input one of dates, written like 2024-03-01;
"date_order": "day/month/year" is for dates such as 1/03/2024 or 01.03.2024, with or without a time of day
("month/day/year" and "year-month-day" are the other orders); "dates": {"day": {"period": "year"}} declares that the
curve may repeat every year ("year", "week" or a number of days; mechanisms bayes_cells and bayes); "format" there is
the order of this input alone.
"""


class _Failure(Exception):
    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[1])


class _Stopped(BaseException):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _Failure(BAD_CONFIG, f"{message}; see {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: arguments after ``python -m dpgp_core``; None for those of this process.

    Returns:
        The exit code. If it is not 0, a sentence was printed to standard error.
    """
    try:
        options = _parser().parse_args(arguments)
        with _stopping():
            _say(options.run(options), sys.stdout)
    except _Stopped as stopped:
        name = signal.Signals(stopped.number).name
        print(f"dpgp_core: stopped by {name}; what a ledger has counted stays spent", file=sys.stderr)
        return 128 + stopped.number
    except _Failure as failure:
        print(f"dpgp_core: {failure}", file=sys.stderr)
        return failure.code
    except SystemExit:  # --help has printed its text
        return OK
    return OK


def _say(text: str, stream: TextIO) -> None:
    """Print a text with replacements for characters that the terminal lacks.

    An encoding error must not hide a release that has been made.
    """
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m dpgp_core",
        description="Differentially private releases of Gaussian process predictions.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    template = commands.add_parser("template", allow_abbrev=False, help="print a configuration to start from")
    template.set_defaults(run=lambda options: spec_to_json(EXAMPLE).rstrip())
    _add_look(commands)
    _add_release(commands)
    return parser


def _add_look(commands: Any) -> None:
    """Add the command that proposes declarations to the owner of a table."""
    look = commands.add_parser(
        "look",
        allow_abbrev=False,
        help="propose declarations of a table to its owner; the output is not private",
        epilog=WRITING_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    look.set_defaults(run=_proposed)
    look.add_argument(
        "table", metavar="TABLE.csv", help="the table: text with a header line, or one of the kinds below"
    )
    look.add_argument("--sheet", metavar="NAME", help="name of the sheet with the table, for a workbook with several")
    look.add_argument("--x", action="append", default=[], metavar="COLUMN", help="an input; proposed if left out")
    look.add_argument("--y", metavar="COLUMN", help="the private outcome; proposed if left out")


def _add_release(commands: Any) -> None:
    """Add the command that releases; it is the only one that spends budget."""
    release = commands.add_parser(
        "release",
        allow_abbrev=False,
        help="read a table, spend the budget, write a zip",
        epilog=f"{EPILOG}\n{WRITING_EPILOG}\n{DATES_EPILOG}\na configuration:\n{spec_to_json(EXAMPLE)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    release.set_defaults(run=_release)
    release.add_argument("--csv", required=True, metavar="FILE", help="the table: text, or one of the kinds below")
    release.add_argument("--config", required=True, metavar="FILE", help="what to release: JSON, or a release.json")
    release.add_argument("--out", metavar="FILE", help="the zip to write; needed unless --check is given")
    release.add_argument(
        "--check",
        action="store_true",
        help="a dry run, and the first step: read the table, and say what its owner should know before a release and "
        "whether the ledger would allow it; no budget is spent and no file is written",
    )
    release.add_argument(
        "--anyway",
        action="store_true",
        help="release even if more than half of the table lies outside the bounds or the box, lacks a value or is of "
        "another kind, or if a column of names or identifiers repeats; without this option it is refused, because the "
        "declaration is probably wrong",
    )
    release.add_argument(
        "--degrees",
        nargs=2,
        metavar=("LONGITUDE", "LATITUDE"),
        help="input columns in degrees: distances are in km, and so are their lengthscales; their box stays in degrees",
    )
    release.add_argument(
        "--log",
        action="store_true",
        help="measure the natural logarithm of the output, as for prices: bounds are in the output's unit and must "
        "lie above 0, released values are in the output's unit too, and errors are factors",
    )
    whose = release.add_mutually_exclusive_group()
    whose.add_argument(
        "--person",
        metavar="COLUMN",
        help="the column that identifies people, if they may have several rows: all rows of one person are protected "
        "together, and the column is neither an input nor released; overrides the configuration",
    )
    whose.add_argument(
        "--rows-per-person",
        type=int,
        metavar="K",
        help="largest number of rows of one person, if no column identifies people: the noise protects all of them; "
        "1 says that every row is another person; overrides the configuration",
    )
    release.add_argument(
        "--buy-bounds",
        type=float,
        metavar="UNIT",
        help="if bounds of the output are unknown: buy them with a share of the budget (bounds_share of the "
        "configuration), from noisy counts in cells that end at 1, 2, 3, 5, 10, ... UNIT; UNIT is the "
        "smallest size that matters, for example 0.01. Cells end at 10^12 UNIT: if many values are larger, "
        "the release is useless and says so, and its budget is spent all the same. Bounds of the "
        "configuration are not used",
    )
    release.add_argument(
        "--tolerance",
        type=float,
        metavar="NUMBER",
        help="values are marked as useful if the curve is known to within this, in the output's unit, or within this "
        "factor with --log; overrides the configuration",
    )
    release.add_argument(
        "--ledger", metavar="FILE", help="count what is spent in this file, and refuse to exceed the total"
    )
    release.add_argument(
        "--new-ledger",
        action="store_true",
        help="make the file of --ledger, which must not exist; it starts with the releases that the "
        "configuration lists",
    )
    release.add_argument(
        "--inputs-public",
        action="store_true",
        help="treat the inputs as public from now on, and record that in the ledger. This is needed before a ledger "
        "can contain both releases that protect inputs and releases that protect outputs only, because the "
        "noise of the latter depends on the inputs",
    )
    release.add_argument("--force", action="store_true", help="overwrite the zip if it exists")


def _release(options: argparse.Namespace) -> str:
    """Make one release, or check that it could be made; return the sentences to print."""
    with _stage(BAD_CONFIG):
        config = read_text_file(options.config)
        spec = _specification(config, options)
        before = ledger_from_json(config) if "ledger" in read_object(config, "the configuration") else Ledger()
        if options.out is None and not options.check:
            raise ValueError("the release needs --out FILE, the zip to write; --check makes none")
        if options.new_ledger and options.ledger is None:
            raise ValueError("--new-ledger needs --ledger FILE, the file to make")
        for name in ("csv", "config", "ledger") if options.out is not None else ():
            check_different(options.out, f"--{name}", getattr(options, name))
    with _stage(BAD_DATA):
        spec, dataset = _read(options, spec)
        plan = plan_release(spec, dataset.X, dataset.person)
    spent = (f"release of {spec.y} by {spec.mechanism}", spec.guarantee)
    with _stage(BAD_CONFIG), ExitStack() as stack:
        write = stack.enter_context(output_file(options.out, overwrite=options.force)) if options.out else None
        public = options.inputs_public or before.inputs_public
        start = Ledger(limit=spec.limit, entries=before.entries, inputs_public=public)
        if options.ledger is None:
            ledger = replace(start, limit=None)
            ledger.spend([spent])  # without a limit here, because a warning about the total is printed below
            ledger.limit = spec.limit
        else:
            ledger = spend_in_file(options.ledger, start, spent, new=options.new_ledger, dry=options.check)
        if write is None or options.check:
            return _checked(spec, dataset, ledger, options)
        with _stage(BAD_DATA):
            published = publish(plan, dataset)
            content = bundle(published, ledger)
        write(content)
    sentences = [_rows_read(spec, dataset), large_delta(spec.delta, published.n), useful(published)]
    wrote = f"Wrote {options.out}: {_promise(spec)} {_spent(spec, ledger, options)}"
    return f"{wrote}{bounds_bought(published)} {' '.join(filter(None, sentences))}"


def _read(options: argparse.Namespace, spec: ReleaseSpec) -> tuple[ReleaseSpec, Dataset]:
    """Return the table as it is measured, after telling its owner what is unusual about it.

    Raises:
        ValueError: the table cannot be read as declared, or a declaration is probably wrong and the options do not
            insist on it.
    """
    with open_file(options.csv) as file, _advised():
        stream = as_text(file, spec.writing.sheet, columns=[*spec.x, spec.y, *filter(None, [spec.person])]).stream
        spec = declared_writing(stream, spec)
        start = stream.tell()
        table = read_outcomes(stream, spec)
        stream.seek(start)
        unused = unused_columns(stream, spec, all_names=options.check)
    notices = notices_of(spec, table)
    whose = spec.person is None and spec.rows_per_person == 1 and options.rows_per_person is None
    wrong = "" if options.anyway else probably_wrong(notices) or (people_not_declared(unused) if whose else "")
    for line in (to_owner(notices), *(f"{FOR_YOUR_EYES} {each}." for each in lines_on_unused(unused, whose=whose))):
        if line:
            _say(line, sys.stderr)
    if wrong:
        raise ValueError(f"{wrong} Nothing was spent. If the declaration is meant so, add --anyway")
    return spec, as_measured(spec.outcome, table)


def _checked(spec: ReleaseSpec, dataset: Dataset, ledger: Ledger, options: argparse.Namespace) -> str:
    """Return what a release would do, after a dry run."""
    told = [_rows_read(spec, dataset), large_delta(spec.delta, dataset.people)]
    return (
        f"Checked: nothing was spent, and no file was written. A release would have {_promise(spec)} "
        f"{_spent(spec, ledger, options).replace('Spent so far', 'Spent with it')} {' '.join(filter(None, told))}"
    )


def _rows_read(spec: ReleaseSpec, dataset: Dataset) -> str:
    people = spec.person is not None
    return f"n = {complete_rows(dataset.people, dataset.left_out, dataset.rows_left_out, people=people)}."


def _proposed(options: argparse.Namespace) -> str:
    """Return proposed declarations of a table. What the table contains is printed to standard error."""
    with _stage(BAD_DATA), open_file(options.table) as file:
        table = as_text(file, options.sheet, columns=[*options.x, *filter(None, [options.y])])
        configuration, columns = proposal(table.stream, options.x, options.y)
    configuration = proposed_by(table.labels, configuration) | {"sheet": options.sheet}
    labels = [f"{name}: labelled {label!r}" for name, label in table.labels.items()]
    for line in ["NOT PRIVATE: for the eyes of whoever owns the table.", *labels, *columns]:
        _say(line, sys.stderr)
    return write_object(configuration).rstrip()


@contextmanager
def _advised() -> Iterator[None]:
    """Add the command that proposes declarations to errors about a table that cannot be read as declared."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error} ('python -m dpgp_core look TABLE.csv' proposes what to declare)") from None


def _specification(config: bytes, options: argparse.Namespace) -> ReleaseSpec:
    """Return the configuration, with the options of the command replacing its values."""
    spec = spec_from_json(config)
    if options.buy_bounds is not None:
        spec = spec_from_object(spec_to_object(spec) | {"y_bounds": None, "bounds_unit": options.buy_bounds})
    given = {
        "log": options.log or None,
        "coordinates": options.degrees,
        "tolerance": options.tolerance,
        "person": options.person,
        "rows_per_person": options.rows_per_person if options.person is None else 1,
    }
    return replace(spec, **{name: value for name, value in given.items() if value is not None})


def _promise(spec: ReleaseSpec) -> str:
    """Return a sentence about the guarantee of one release."""
    one = spec.guarantee
    return (
        f"epsilon = {one.budget.epsilon:g}, delta = {one.budget.delta:g}, protecting the {one.protects} of {spec.unit} "
        f"(hidden: {one.hidden})."
    )


def _spent(spec: ReleaseSpec, ledger: Ledger, options: argparse.Namespace) -> str:
    """Return a sentence about the total of all releases in the ledger."""
    limit = spec.limit
    total = ledger.epsilon(limit.delta)
    summary = (
        f"Spent so far: epsilon = {written(rounded_up(total))} of {limit.epsilon:g} at delta = {limit.delta:g}, "
        f"{len(ledger.entries)} release{'' if len(ledger.entries) == 1 else 's'}."
    )
    if ledger.inputs_public:
        summary += " Inputs count as public from now on: no release of this ledger protects them."
    if options.ledger is None and total > limit.epsilon * (1 + 1e-9):
        summary += (
            " That is ABOVE the declared total if the releases listed in the configuration were of this table; "
            "with --ledger it would have been refused."
        )
    return summary


@contextmanager
def _stopping() -> Iterator[None]:
    """Let signals that end a program raise an exception, so that it cleans up. Only the first signal counts."""

    def stop(number: int, _: object) -> None:
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise _Stopped(number)

    here = threading.current_thread() is threading.main_thread()
    names = ("SIGINT", "SIGTERM", "SIGHUP") if here else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}  # nohup
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _stage(code: int) -> Iterator[None]:
    """Turn errors within the block into an exit code and a sentence."""
    try:
        yield
    except (BudgetExceeded, MixedRows) as error:
        raise _Failure(REFUSED, str(error)) from None
    except MixedProtection as error:
        raise _Failure(REFUSED, f"{error}: add --inputs-public") from None
    except CannotWrite as error:
        raise _Failure(NOT_WRITTEN, str(error)) from None
    except MemoryError:
        raise _Failure(BAD_DATA, "the table or the grid does not fit in memory; use fewer rows or points") from None
    except OSError as error:
        raise _Failure(code, f"a file cannot be read: {error.strerror}; check it") from None
    except ValueError as error:
        raise _Failure(code, str(error)) from None
