"""Convert files of other programs to text: workbooks, Stata, SPSS and SAS files, Parquet and Arrow files, and archives.

Compiled libraries read most of these. A malicious file may crash them, or make them fill the memory. Each file is
therefore converted in a process of its own (``conversion.py``), whose memory and time are limited. The result is
comma-separated text in UTF-8, which is declared and read like any other table.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, BinaryIO, NamedTuple

from .conversion import CHUNK, METHODS
from .rows import MAX_BYTES

MAX_PACKED = 200 * 2**20  # bytes of a file that is not text
MAX_SECONDS = 120  # processor time of one conversion
MAX_MEMORY = 2 * 2**30  # bytes of address space of one conversion
SUFFIXES = (
    "csv",
    "tsv",
    "txt",
    "dat",
    "xlsx",
    "xlsm",
    "xls",
    "xlsb",
    "ods",
    "dta",
    "sav",
    "zsav",
    "xpt",
    "sas7bdat",
    "parquet",
    "arrow",
    "feather",
)
"""File name extensions of tables that can be read; ``gz`` and ``zip`` are read if they contain one of these."""
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dpgp_core.reading.conversion import main; main()"
)
_KNOWN_UNITS = (
    "mm cm m km in ft mg g kg t ml l years? yrs? months? weeks? days? hours? hrs? h minutes? mins? min "
    "seconds? secs? s eur euros? usd dollars? gbp pounds? chf mmhg bpm kcal points? percent kmh mph"
)
_KNOWN = "|".join(_KNOWN_UNITS.split())
_UNIT = re.compile(
    r"(?:\s*\[(?P<square>[^\[\]]{1,20})\]"
    rf"|\s*\((?P<round>{_KNOWN}|[^()]{{0,10}}[%°µ€$£²³/][^()]{{0,10}})\)"
    rf"|,?\s+in\s+(?P<words>{_KNOWN}))\s*$",
    re.IGNORECASE,
)


class Kind(NamedTuple):
    """A kind of file that must be converted to text.

    Attributes:
        reader: key in ``conversion.READERS``.
        name: name with its article, for use in a sentence.
        package: name of the package that reads it.
    """

    reader: str
    name: str
    package: str


_SHEETS = Kind("workbook", "a workbook", "python-calamine")
_MODULES = {"pyreadstat": "pyreadstat", "python-calamine": "python_calamine", "pyarrow": "pyarrow"}
_BEGINNINGS = (
    (b"<stata_dta>", Kind("stata", "a Stata file (.dta)", "pyreadstat")),
    (b"$FL2", Kind("spss", "an SPSS file (.sav)", "pyreadstat")),
    (b"$FL3", Kind("spss", "an SPSS file (.zsav)", "pyreadstat")),
    (b"HEADER RECORD*******LIB", Kind("transport", "a SAS file (.xpt)", "pyreadstat")),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", Kind("sas", "a SAS file (.sas7bdat)", "pyreadstat")),
    (b"PAR1", Kind("parquet", "a Parquet file", "pyarrow")),
    (b"ARROW1", Kind("arrow", "an Arrow or Feather file", "pyarrow")),
    (b"\xd0\xcf\x11\xe0", _SHEETS),
)
_OLD_STATA = re.compile(rb"[\x69\x6c-\x73][\x01\x02]\x01\x00", re.DOTALL)  # releases 105 to 115
_STATA = _BEGINNINGS[0][1]


class SeveralSheets(ValueError):
    """Raised if a workbook has several sheets and none of them is declared.

    Args:
        sentence: message with the names of the sheets and what to declare.
        names: names of the sheets.
    """

    def __init__(self, sentence: str, names: tuple[str, ...]) -> None:
        super().__init__(sentence, names)
        self.names = names

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Text:
    """A table as text.

    Attributes:
        stream: the text, at its beginning.
        labels: label of each column, by its name; for example "Body height (cm)" for v312. Labels are public, as names
            are.
        converted: whether the file was converted; the text is then comma-separated and in UTF-8.
    """

    stream: BinaryIO
    labels: Mapping[str, str] = field(default_factory=dict)
    converted: bool = False


def as_text(stream: BinaryIO, sheet: str | None = None, *, columns: Sequence[str] = (), most: int = MAX_BYTES) -> Text:
    """Return the text of a file. Text is returned as it is; other kinds of files are converted to comma-separated text.

    Each row of a sheet becomes a line, and empty rows become empty lines. A value with a label in a Stata or SPSS file
    is written as ``conversion.labelled`` describes. Only the labels decide how, so that nobody's value changes how
    others' values are read.

    Args:
        stream: file in binary mode. Text is read from its position later; other files are read at once.
        sheet: declared sheet of a workbook; None for the only one.
        columns: columns that will be used. If a Stata, SPSS, SAS, Parquet or Arrow file has more than
            ``conversion.MAX_COLUMNS`` columns, only these are read.
        most: largest size of the text in bytes.

    Raises:
        ValueError: the file is broken or too large, or the package that reads it is not installed. The message is a
            sentence with a remedy, and repeats no cell.
    """
    if not stream.seekable():
        return Text(stream)
    at = stream.tell()
    start = stream.read(32)
    stream.seek(at)
    if isinstance(start, str) or not (start.startswith((_GZIP, _ZIP)) or kind_of(start)):
        return Text(stream)
    content = stream.read(MAX_PACKED + 1)
    if len(content) > MAX_PACKED:
        raise ValueError(f"the file has more than {MAX_PACKED // 2**20} MB, the limit; {_FEWER}")
    if is_packed(content):
        content = _from_gzip(content, most) if content.startswith(_GZIP) else _from_zip(content, most)
    kind = kind_of(content)
    return (
        Text(io.BytesIO(content))
        if kind is None
        else _converted(content, kind, {"sheet": sheet, "columns": list(columns), "most": most})
    )


_FEWER = "keep only the columns that are needed, or a random sample of the rows"
_COPY = "copy or save it again"


def is_packed(content: bytes) -> bool:
    """Return whether a file is an archive of other files: gzip, or a zip that is not a workbook."""
    return content.startswith(_GZIP) or (content.startswith(_ZIP) and kind_of(content) is None)


def kind_of(content: bytes) -> Kind | None:
    """Return the kind of a file by its content, whatever its name is; None for text and for unknown kinds."""
    if content.startswith(_ZIP):
        names = _names_in(content)
        return _SHEETS if "content.xml" in names or any(name.startswith("xl/") for name in names) else None
    if _OLD_STATA.match(content):
        return _STATA
    return next((kind for beginning, kind in _BEGINNINGS if content.startswith(beginning)), None)


def proposed_by(labels: Mapping[str, str], configuration: dict[str, Any]) -> dict[str, Any]:
    """Return a proposed configuration, completed with the units and the name of the outcome from the labels of columns.

    Args:
        labels: labels of the columns, see ``Text``.
        configuration: configuration from ``look.proposal``; its own proposals take precedence.
    """
    x, y = configuration["x"], configuration["y"]
    units = [unit_in(labels.get(name, "")) for name in x]
    units = [given or unit for given, unit in zip(configuration.get("x_units", [""] * len(x)), units, strict=True)]
    name = name_in(labels.get(y, ""))
    unit = unit_in(labels.get(y, "")) if configuration["y_kind"] != "yes/no" else ""
    return (
        configuration
        | ({"x_units": units} if any(units) else {})
        | ({"y_unit": unit} if unit and "y_unit" not in configuration else {})
        | ({"unit": f"one person's {name}"} if name else {})
    )


def unit_in(label: str) -> str:
    """Return the unit at the end of a column's label, such as cm in "Body height (cm)" or "Body height in cm"; "" if
    there is none.
    """
    found = _UNIT.search(label)
    return (found["square"] or found["round"] or found["words"] or "").strip() if found else ""


def name_in(label: str) -> str:
    """Return a column's label without its unit as it stands within a sentence, such as body height for "Body height
    (cm)". Abbreviations keep their capitals.
    """
    name = _UNIT.sub("", label).strip()
    return name[:1].lower() + name[1:] if name[1:2].islower() else name


def _names_in(content: bytes) -> list[str]:
    """Return the names of the files in a zip; [] if it cannot be read."""
    try:
        return zipfile.ZipFile(io.BytesIO(content)).namelist()
    except Exception:  # zipfile raises a dozen types
        return []


def _from_gzip(content: bytes, most: int) -> bytes:
    """Return the content of a gzip file."""
    pieces, total = list[bytes](), 0
    try:
        while content:
            unpack = zlib.decompressobj(16 + zlib.MAX_WBITS)
            while content and not unpack.eof:
                pieces.append(unpack.decompress(content, CHUNK))
                content = unpack.unconsumed_tail
                total += len(pieces[-1])
                _check_unpacked(total, most)
            if not unpack.eof:
                raise zlib.error
            content = unpack.unused_data.lstrip(b"\0")
    except zlib.error:
        raise ValueError(f"the file is compressed by gzip and ends too early, or is broken; {_COPY}") from None
    return b"".join(pieces)


def _from_zip(content: bytes, most: int) -> bytes:
    """Return the only table in a zip."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
        parts = [part for part in archive.infolist() if not (part.is_dir() or _is_hidden(part.filename))]
        tables = [part for part in parts if part.filename.lower().endswith(tuple(f".{end}" for end in SUFFIXES))]
        tables = tables or parts
        if len(tables) == 1 and not tables[0].flag_bits & 1 and tables[0].compress_type in METHODS:
            _check_unpacked(tables[0].file_size, most)
            with archive.open(tables[0]) as stream:
                unpacked = stream.read(most + 1)
            _check_unpacked(len(unpacked), most)
            return unpacked
    except _TooLarge:
        raise
    except Exception:  # zipfile raises a dozen types, some with file names in the message
        raise ValueError(f"the file is a zip that cannot be read; {_COPY}") from None
    if len(tables) != 1:
        raise ValueError(f"the zip holds {len(tables)} files that may be tables; keep one of them in it, or unpack it")
    raise ValueError("the zip is encrypted, or packed in a way that is not read here; unpack it")


def _is_hidden(name: str) -> bool:
    """Return whether a file in a zip was added by an operating system for its own use."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


class _TooLarge(ValueError):
    """Raised if a file unpacks to more bytes than are read."""


def _check_unpacked(size: int, most: int) -> None:
    if size > most:
        raise _TooLarge(f"the file unpacks to more than {most / 2**20:.3g} MB, the limit here; {_FEWER}")


def _converted(content: bytes, kind: Kind, options: dict[str, Any]) -> Text:
    """Convert a file to text in a process of its own."""
    if find_spec(_MODULES[kind.package]) is None:
        raise ValueError(
            f"the file is {kind.name}, which the package {kind.package} reads, and it is not installed: install it "
            f"with `pip install {kind.package}`; the extra files of dpgp has the packages for all kinds"
        )
    options |= {"reader": kind.reader, "name": kind.name, "memory": MAX_MEMORY, "seconds": MAX_SECONDS}
    try:
        ended = subprocess.run(
            [sys.executable, "-c", _CHILD, json.dumps(sys.path)],
            input=json.dumps(options).encode() + b"\n" + content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2 * MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(_TOO_MUCH.format(name=kind.name)) from None
    answer, _, text = ended.stdout.partition(b"\n")
    if ended.returncode or not answer:
        raise ValueError(_TOO_MUCH.format(name=kind.name))
    said = json.loads(answer)
    if "sheets" in said:
        raise SeveralSheets(said["refused"], tuple(said["sheets"]))
    if "refused" in said:
        raise ValueError(said["refused"])
    return Text(io.BytesIO(text), said["labels"], converted=True)


_TOO_MUCH = (
    f"the file is {{name}}, and reading it takes more than {MAX_MEMORY // 2**30} GB of memory or {MAX_SECONDS} "
    "seconds, the limits here, or it is broken; save the columns that are needed as CSV in UTF-8"
)
