"""Command ``python -m dpgp_core release``: a release without a browser."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TextIO

from ..accounting.gaussian import rounded_up, written
from ..accounting.ledger import BudgetExceeded, Ledger, MixedProtection, MixedRows
from ..reading.kinds import as_text, proposed_by
from ..reading.look import proposal
from ..reading.people import lines_on_unused
from ..table import Dataset
from .bundle import bundle
from .files import CannotWrite, check_different, open_file, output_file, read_text_file
from .json_text import (
    ledger_from_json,
    read_object,
    spec_from_json,
    spec_from_object,
    spec_to_object,
    write_object,
)
from .ledger_file import spend_in_file
from .parser import BAD_CONFIG, BAD_DATA, NOT_WRITTEN, OK, REFUSED, Failure, parser_of
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
from .specification import ReleaseSpec


class _Stopped(BaseException):
    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: arguments after ``python -m dpgp_core``; None for those of this process.

    Returns:
        The exit code. If it is not 0, a sentence was printed to standard error.
    """
    try:
        options = parser_of(_proposed, _release).parse_args(arguments)
        with _stopping():
            _say(options.run(options), sys.stdout)
    except _Stopped as stopped:
        name = signal.Signals(stopped.number).name
        print(f"dpgp_core: stopped by {name}; what a ledger has counted stays spent", file=sys.stderr)
        return 128 + stopped.number
    except Failure as failure:
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
        raise Failure(REFUSED, str(error)) from None
    except MixedProtection as error:
        raise Failure(REFUSED, f"{error}: add --inputs-public") from None
    except CannotWrite as error:
        raise Failure(NOT_WRITTEN, str(error)) from None
    except MemoryError:
        raise Failure(BAD_DATA, "the table or the grid does not fit in memory; use fewer rows or points") from None
    except OSError as error:
        raise Failure(code, f"a file cannot be read: {error.strerror}; check it") from None
    except ValueError as error:
        raise Failure(code, str(error)) from None
