"""Convert one file to comma-separated text, in a process of its own that ``kinds.py`` starts for each file.

Formulas are not computed and macros are not run: values are read as they are stored. The module imports nothing else
of the core, because these imports would take longer than reading most files.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from textwrap import shorten
from typing import Any, NamedTuple

# Compression methods of a zip. Python unpacks the others without a limit.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CHUNK = 2**16  # bytes unpacked at a time
MAX_CELLS = 10_000_000
MAX_COLUMNS = 1_000
MAX_UNPACKED = 256 * 2**20  # bytes of all files in a workbook's zip together
MAX_TEXTS = 2**30  # bytes of all texts of a table, at the widths that the file declares
_CELLS = (b"<c ", b"<c>")  # how a cell begins in a sheet of .xlsx
_BLOCK = 100  # rows that are written at a time
_BATCH = 10_000  # rows of a Parquet file that are unpacked at a time
_MAY_BE_NAMES = 50  # first rows, one of which may hold the names of the columns
_EXACT = 2**53  # whole floats below it are exact integers
_SHOWN_LETTERS = 300
_RECORD = 80  # bytes of a record in a SAS transport file
_ADDED = re.compile(r" \((?:code|label)\)$")  # suffixes added to the name of a column with labels
_LARGER = "keep only the columns that are needed, or a random sample of the rows"
_EMPTY = rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
_NOT_COMPUTED = (
    re.compile(rb'<(?:\w+:)?c\b(?![^>]*\bt="str")[^>]*>\s*<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)' + _EMPTY),
    re.compile(rb"<table:table-cell\b(?=[^>]*\btable:formula=)(?![^>]*:value-type=)"),
)  # formulas without a stored result, in .xlsx and in .ods


class Refused(ValueError):
    """Raised if a file cannot be read. The sentence repeats no cell."""


class Converted(NamedTuple):
    """A converted table.

    Attributes:
        rows: rows of equal length; the first one holds the names of the columns.
        labels: label of each column that has one, by the column's name.
    """

    rows: Iterable[Sequence[str]]
    labels: Mapping[str, str]


def main() -> None:
    """Convert the file that follows a line of options on standard input; write a line of results, then the text."""
    results = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that what a library prints does not get among the results
    options = json.loads(sys.stdin.buffer.readline())
    _limit(options["memory"], options["seconds"])
    text, answer = b"", dict[str, Any]()
    try:
        table = READERS[options["reader"]](sys.stdin.buffer.read(), options)
        text, answer = _written(table.rows, options["most"]), {"labels": dict(table.labels)}
    except Refused as refused:
        sentence, *sheets = refused.args
        answer = {"refused": sentence} | ({"sheets": sheets} if sheets else {})
    except MemoryError:
        sys.exit(1)
    except BaseException:  # libraries raise many types, some with cells in the message; compiled code may panic
        answer = {
            "refused": f"the file is {options['name']}, and is broken or not of a version that is read; save it "
            "again, or as CSV in UTF-8"
        }
    with results:
        results.write(json.dumps(answer).encode() + b"\n")
        results.write(text)


def _limit(memory: int, seconds: int) -> None:
    """Limit the memory and the processor time of this process, on systems that can."""
    if sys.platform != "win32":
        import resource

        for kind, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _written(rows: Iterable[Sequence[str]], most: int) -> bytes:
    """Return rows as comma-separated text.

    All cells of the first rows are quoted, because one of these rows holds the names of the columns, and a mark within
    a name must not be taken for a separator.
    """
    content, rows = io.BytesIO(), iter(rows)
    text = io.TextIOWrapper(content, "utf-8", "replace", newline="", write_through=True)
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(islice(rows, _MAY_BE_NAMES))
    writer = csv.writer(text, lineterminator="\n")
    while block := list(islice(rows, _BLOCK)):
        writer.writerows(block)
        if content.tell() > most:
            raise Refused(f"the table has more than {most / 2**20:.3g} MB as text, the limit here; {_LARGER}")
    text.flush()
    return content.getvalue()


def text_of(value: object) -> str:
    """Return a value as text: whole numbers without a fraction, days as 2024-03-01, and "" for a missing value."""
    if value is None or isinstance(value, str):
        return " ".join(value.replace("\0", "").split("\n")).replace("\r", "").strip() if value else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return ""
        if abs(value) < _EXACT and value == int(value):
            return repr(int(value))
        text = repr(value)  # as text, 1.755 could mean 1,755; the zero added here excludes that
        return f"{text}0" if text[-4:-3] == "." else text
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("T00:00:00")
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _check_cells(rows: int, columns: int) -> None:
    if rows * columns > MAX_CELLS:
        raise Refused(f"the table has more than {MAX_CELLS:,} cells, the limit here; {_LARGER}")


# ---- Workbooks


def _workbook(content: bytes, options: Mapping[str, Any]) -> Converted:
    import python_calamine

    content = _stored(content) if content.startswith(b"PK") else content
    book = python_calamine.load_workbook(io.BytesIO(content))
    kind = python_calamine.SheetTypeEnum.WorkSheet
    names, sheet = [each.name for each in book.sheets_metadata if each.typ == kind], options["sheet"]
    if sheet is None and len(names) != 1:
        listed = shorten(", ".join(map(repr, names)), _SHOWN_LETTERS, placeholder=" ...")
        sentence = f"the workbook has {len(names)} sheets; declare sheet, the name of the one with the table: {listed}"
        raise Refused(sentence, *names)
    if sheet is not None and sheet not in names:
        raise Refused("the workbook has no such sheet; choose another")
    table = book.get_sheet_by_name(names[0] if sheet is None else sheet)
    (_, left), (last, right) = table.start or (0, 0), table.end or (-1, -1)
    _check_cells(last + 1, right + 1)
    return Converted(([*[""] * left, *map(text_of, row)] for row in table.iter_rows()), {})


def _stored(content: bytes) -> bytes:
    """Return a workbook without compression, so that the sizes it states are true. Macros are left out."""
    archive, unpacked, total = zipfile.ZipFile(io.BytesIO(content)), io.BytesIO(), 0
    parts = {part.filename: part for part in archive.infolist()}
    with zipfile.ZipFile(unpacked, "w") as stored:
        for name, part in parts.items():
            if not name.endswith((".xml", ".rels", ".bin", "mimetype")) or name.endswith("vbaProject.bin"):
                continue
            if part.compress_type not in METHODS:
                raise zipfile.BadZipFile
            pieces = list[bytes]()
            with archive.open(part) as stream:
                while piece := stream.read(CHUNK):
                    pieces.append(piece)
                    total += len(piece)
                    if max(total, part.file_size) > MAX_UNPACKED:
                        raise Refused(
                            f"the workbook unpacks to more than {MAX_UNPACKED // 2**20} MB, the limit here; save the "
                            "columns that are needed as CSV in UTF-8"
                        )
            plain = b"".join(pieces)
            may_hold_cells = name == "content.xml" or "/worksheets/" in name
            if may_hold_cells and any(formula.search(plain) for formula in _NOT_COMPUTED):
                raise Refused("The file holds formulas without results: open and save it in a spreadsheet")
            if may_hold_cells:
                _check_cells(sum(map(plain.count, _CELLS)), 1)
            stored.writestr(name, plain)
    return unpacked.getvalue()


# ---- Files of Stata, SPSS and SAS


def _statistics(content: bytes, options: Mapping[str, Any]) -> Converted:
    import pyreadstat

    reader: Any = {
        "stata": pyreadstat.read_dta,
        "spss": pyreadstat.read_sav,
        "transport": pyreadstat.read_xport,
        "sas": pyreadstat.read_sas7bdat,
    }[options["reader"]]
    transport = options["reader"] == "transport"
    if transport and len(content) % _RECORD:  # it states no number of rows, so truncation would go unnoticed
        raise EOFError
    more = {} if transport else {"user_missing": True}
    _, about = reader(io.BytesIO(content), metadataonly=True, output_format="dict", **more)  # "dict" needs no pandas
    widths, types = about.variable_storage_width, about.readstat_variable_types
    texts = {name for name in about.column_names if types.get(name, "").startswith("string")}
    # Long texts of Stata (strL) are left out: all rows may share one, and each would get a copy. No category is one.
    names = [name for name in _wanted(about.column_names, options) if widths.get(name) or name not in texts]
    wide, rows = sum(widths[name] for name in names if name in texts), about.number_rows or 0
    _check_cells(rows, len(names))
    if rows * wide > MAX_TEXTS:
        raise Refused(f"the texts of the table have more than {MAX_TEXTS // 2**20} MB, the limit here; {_LARGER}")
    most = min(MAX_CELLS // max(len(names), 1), MAX_TEXTS // max(wide, 1))
    values, _ = reader(io.BytesIO(content), usecols=names, row_limit=most + 1, output_format="dict")
    columns = dict[str, list[str]]()
    for name in names:
        if len(values[name]) > most:
            raise Refused(f"the table has more rows than are read here; {_LARGER}")
        declared = about.missing_ranges.get(name, [])
        labels = {
            code: label.strip()
            for code, label in about.variable_value_labels.get(name, {}).items()
            if label.strip() and not _is_missing(code, declared)
        }
        more_columns = labelled(name, values.pop(name), labels, about.variable_measure.get(name, "unknown"))
        columns |= {each: cells for each, cells in more_columns.items() if each == name or each not in names}
    labels_of_columns = {name: label for name, label in about.column_names_to_labels.items() if label}
    return Converted(_rows(list(columns), [list(columns.values())]), labels_of_columns)


def _wanted(names: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Return the columns that are read: all of them, or only the declared ones if there are too many."""
    if len(names) <= MAX_COLUMNS:
        return list(names)
    declared = {end.sub("", name) for name in options["columns"] for end in (_ADDED, re.compile("$"))}
    if not declared:
        raise Refused(
            f"the file has {len(names)} columns, more than {MAX_COLUMNS}, the limit; keep the columns you need, "
            "or name them on the command line (look --x and --y)"
        )
    return [name for name in names if name in declared]


def _is_missing(code: Any, declared: Sequence[Any]) -> bool:
    """Return whether a code is declared to mean a missing value."""
    for each in declared:
        low, high = (each["lo"], each["hi"]) if isinstance(each, dict) else (each, each)
        if isinstance(code, str) == isinstance(low, str) and low <= code <= high:
            return True
    return False


def labelled(
    name: str, values: Sequence[Any], labels: Mapping[Any, str], measure: str = "unknown"
) -> dict[str, list[str]]:
    """Return a column of values, with the labels that some of them have, as one or two columns of text.

    If the labels name categories, the column holds the labels. Unless there are two categories, or the categories have
    no order, a second column "NAME (code)" holds the codes. Otherwise the column holds the numbers, and a column "NAME
    (label)" the labels. A value without a label is written as it is in both columns. Only the labels decide which of
    these is done, never the values: otherwise one person's value would change how everybody's values are read.

    Args:
        name: name of the column.
        values: values of the column, None for a missing one.
        labels: label of each value, without those of missing values.
        measure: "nominal", "ordinal", "scale" or "unknown", as an SPSS file states it.

    Returns:
        Columns by name, each with a text for every value.
    """
    plain = [text_of(value) for value in values]
    if len(labels) < 2:
        return {name: plain}
    words = [labels.get(value, text) for value, text in zip(values, plain, strict=True)]
    numbers = [code for code in labels if not isinstance(code, str)]
    follow = {0, 1} <= {*numbers} or {1, 2} <= {*numbers}  # codes of categories do; ends of a scale do not
    scale = any(map(_is_number, labels.values())) or measure == "scale"
    if not numbers or measure == "nominal":
        return {name: words}
    if scale or not follow:
        return {name: plain, f"{name} (label)": words}
    return {name: words} | ({f"{name} (code)": plain} if len(labels) > 2 else {})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(names: Sequence[str], blocks: Iterable[Sequence[Sequence[str]]]) -> Iterator[Sequence[str]]:
    """Yield the rows of a table whose columns come in blocks of rows."""
    yield names
    for columns in blocks:
        yield from zip(*columns, strict=True)


# ---- Parquet and Arrow


def _arrow(content: bytes, options: Mapping[str, Any]) -> Converted:
    import pyarrow as pa

    source = pa.BufferReader(content)
    if options["reader"] == "parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(source)
        kinds = {each.name: each.type for each in file.schema_arrow}
        names = [name for name in _wanted(list(kinds), options) if _is_flat(kinds[name])]
        # As a dictionary, equal texts are held in memory once
        texts = [name for name in names if pa.types.is_string(kinds[name])]
        file = parquet.ParquetFile(source, read_dictionary=texts, pre_buffer=False)
        about = file.metadata
        _check_cells(about.num_rows, len(names))
        if sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups)) > MAX_TEXTS:
            raise Refused(f"the file unpacks to more than {MAX_TEXTS // 2**20} MB, the limit here; {_LARGER}")
        batches = file.iter_batches(_BATCH, columns=names)
    else:
        stream = pa.ipc.open_file(source)
        kinds = {each.name: each.type for each in stream.schema}
        names = [name for name in _wanted(list(kinds), options) if _is_flat(kinds[name])]
        batches = (stream.get_batch(at) for at in range(stream.num_record_batches))

    def blocks() -> Iterator[Sequence[Sequence[str]]]:
        count = 0
        for batch in batches:
            count += batch.num_rows
            _check_cells(count, len(names))
            yield [_texts(batch.column(name)) for name in names]

    return Converted(_rows(names, blocks()), {})


def _is_flat(kind: Any) -> bool:
    """Return whether a column holds single values that can be written as text, not lists or bytes."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _is_flat(kind.value_type)
    return not (
        pa.types.is_nested(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _texts(column: Any) -> list[str]:
    """Return the cells of a column as text. Equal texts of a dictionary share one object."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        texts = [*_texts(column.dictionary), ""]
        return [texts[-1 if at is None else at] for at in column.indices.to_pylist()]
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":  # datetime has microseconds only
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    elif pa.types.is_duration(column.type) and column.type.unit == "ns":
        column = column.cast(pa.duration("us"), safe=False)
    elif pa.types.is_time64(column.type) and column.type.unit == "ns":
        column = column.cast(pa.time64("us"), safe=False)
    return [text_of(value) for value in column.to_pylist()]


READERS: dict[str, Callable[[bytes, Mapping[str, Any]], Converted]] = {
    "workbook": _workbook,
    "stata": _statistics,
    "spss": _statistics,
    "transport": _statistics,
    "sas": _statistics,
    "parquet": _arrow,
    "arrow": _arrow,
}
"""Readers by the names that ``kinds.Kind`` uses for them."""
