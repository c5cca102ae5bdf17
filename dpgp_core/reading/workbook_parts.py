"""The XML files in a workbook's zip, by a stranger: read as they unpack, and given up once they are too much.

And the parts of a sheet: its address, the texts that cells share, and their styles of dates.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping
from textwrap import shorten
from typing import Any, NamedTuple
from xml.parsers import expat

MAX_UNPACKED = 64 * 2**20  # bytes; a zip of a few kilobytes can hold any number
MAX_ELEMENTS = 1_500_000  # of all files together: two to a cell, and one to a row; some two seconds
_CHUNK = 2**16  # bytes unpacked at a time
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the standard allows no others

Start = Callable[[str, Mapping[str, str]], None]
Named = Callable[[str], None]


class Refused(ValueError):
    """A workbook that is not read; the sentence repeats nothing of it."""


class Parts:
    """The files of one workbook.

    Args:
        content: the zip.

    Attributes:
        unpacked: bytes so far.
        elements: so far.
    """

    def __init__(self, content: bytes) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self.unpacked = self.elements = 0

    def parse(self, name: str, start: Start, end: Named = lambda _: None, text: Named | None = None) -> None:
        """Read one file from its beginning. Names of elements are without their prefixes.

        Args:
            start: an element begins, with these attributes.
            end: it ends.
            text: of elements, in pieces.

        Raises:
            Refused: it is larger than the limit, or declares entities, which multiply its content.
            Exception: it is not there, or broken; of a dozen types.
        """
        part = self._archive.getinfo(name)
        if part.compress_type not in _METHODS:
            raise zipfile.BadZipFile
        parser = self._parser(start, end)
        parser.CharacterDataHandler = text
        with self._archive.open(part) as stream:
            while chunk := stream.read(_CHUNK):
                self.unpacked += len(chunk)
                if self.unpacked > MAX_UNPACKED:
                    raise Refused(
                        f"the workbook unpacks to more than {MAX_UNPACKED // 2**20} MB, the limit here; save the "
                        "columns you need as comma-separated UTF-8"
                    )
                parser.Parse(chunk, False)
        parser.Parse(b"", True)

    def _parser(self, begin: Start, finish: Named) -> Any:
        parser = expat.ParserCreate()
        parser.buffer_text = True

        def start(name: str, attributes: dict[str, str]) -> None:
            self.elements += 1
            if self.elements > MAX_ELEMENTS:
                raise Refused(
                    "the workbook holds more cells, rows or texts than are read here; save the columns you need as "
                    "comma-separated UTF-8"
                )
            begin(name.rpartition(":")[2] if ":" in name else name, attributes)

        def end(name: str) -> None:
            finish(name.rpartition(":")[2] if ":" in name else name)

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.StartDoctypeDeclHandler = _no_entities
        return parser


def _no_entities(*_: object) -> None:
    raise Refused("the workbook declares XML entities, which no spreadsheet does; save it as comma-separated UTF-8")


_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}  # built-in formats, ECMA-376 part 1, 18.8.30
_NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)  # words, colours, conditions
_LONGEST_CODE, _MOST_FORMATS = 255, 5_000  # letters, formats; spreadsheets write no longer ones, and some 250
_MOST_SHEETS, _LONGEST_NAME, _SHOWN_LETTERS = 1_000, 100, 300
_MAIN, _STRINGS, _STYLES = "/officeDocument", "/sharedStrings", "/styles"  # how the types of relations end


Relations = dict[str, tuple[str, str]]
"""Parts that another one names, by their ids: the type, a long address, and the path in the zip."""


class Book(NamedTuple):
    """Parts of a workbook that a sheet needs.

    Attributes:
        sheet: path of the sheet that is read.
        texts: that cells share, by number.
        dates: numbers of styles that show a date or a time.
        since_1904: whether days are counted from 1904 on, not from 1900.
    """

    sheet: str
    texts: list[str]
    dates: frozenset[int]
    since_1904: bool


def sheet_names(parts: Parts) -> list[str]:
    """Names of the sheets, in order. Raises as ``Parts.parse`` does."""
    return list(_sheets(parts)[0])


def book_of(parts: Parts, name: str | None = None) -> Book:
    """Everything but the sheet.

    Args:
        name: of the sheet; None for the only one.

    Raises:
        Refused: there is no such sheet, or several and none is named.
        Exception: as ``Parts.parse`` does.
    """
    ids, related, since_1904 = _sheets(parts)
    if name is None and len(ids) != 1:
        names = shorten(", ".join(map(repr, ids)), _SHOWN_LETTERS, placeholder=" ...")
        raise Refused(f"the workbook has {len(ids)} sheets; declare sheet, the name of the one with the table: {names}")
    if name is not None and name not in ids:
        raise Refused("the workbook has no such sheet; choose another")
    paths = {kind: path for whole, path in related.values() for kind in (_STRINGS, _STYLES) if whole.endswith(kind)}
    _, sheet = related[ids[name] if name is not None else next(iter(ids.values()))]
    return Book(
        sheet=sheet,
        texts=_texts(parts, paths[_STRINGS]) if _STRINGS in paths else [],
        dates=_dates(parts, paths[_STYLES]) if _STYLES in paths else frozenset(),
        since_1904=since_1904,
    )


def _sheets(parts: Parts) -> tuple[dict[str, str], Relations, bool]:
    """Ids of the sheets' parts by the sheets' names, parts by their ids, and ``since_1904``: see ``Book``."""
    main = next(path for kind, path in _relations(parts, "").values() if kind.endswith(_MAIN))
    sheets: dict[str, str] = {}
    since_1904 = False

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal since_1904
        if name == "sheet":
            if len(sheets) >= _MOST_SHEETS:
                raise Refused(f"the workbook has more than {_MOST_SHEETS} sheets; save the table as CSV in UTF-8")
            name = attributes.get("name", "")[:_LONGEST_NAME] or f"sheet {len(sheets) + 1}"
            sheets[name] = next(value for key, value in attributes.items() if key.rpartition(":")[2] == "id")
        elif name == "workbookPr":
            since_1904 = attributes.get("date1904") in ("1", "true")

    parts.parse(main, start)
    return sheets, _relations(parts, main), since_1904


def _relations(parts: Parts, path: str) -> Relations:
    """Of one part; of "" those that the workbook begins with."""
    folder, name = posixpath.split(path)
    by_id: Relations = {}

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship" and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"])).lstrip("/")
            by_id[attributes["Id"]] = attributes["Type"], target

    parts.parse(posixpath.join(folder, "_rels", f"{name}.rels"), start)
    return by_id


def _texts(parts: Parts, path: str) -> list[str]:
    """Each of one ``si``, whose pieces differ in look; without hints on how to pronounce them (``rPh``)."""
    texts: list[str] = []
    pieces: list[str] = []
    inside, hint = False, False

    def start(name: str, _: Mapping[str, str]) -> None:
        nonlocal inside, hint
        inside = name == "t" and not hint
        hint = hint or name == "rPh"

    def end(name: str) -> None:
        nonlocal inside, hint
        inside = False
        hint = hint and name != "rPh"
        if name == "si":
            texts.append("".join(pieces))
            pieces.clear()

    parts.parse(path, start, end, lambda piece: pieces.append(piece) if inside else None)
    return texts


def _dates(parts: Parts, path: str) -> frozenset[int]:
    """Numbers of the cells' styles whose format shows a date or a time."""
    dates = set(_DATES)
    own = 0
    formats: list[int] = []
    of_cells = False

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal of_cells, own
        if name == "numFmt":
            own += 1
            if own > _MOST_FORMATS:
                raise Refused(f"the workbook has more than {_MOST_FORMATS:,} number formats; save it as CSV in UTF-8")
            (dates.add if _is_date(attributes["formatCode"]) else dates.discard)(int(attributes["numFmtId"]))
        elif name == "xf" and of_cells:
            formats.append(int(attributes.get("numFmtId", 0)))
        of_cells = of_cells or name == "cellXfs"

    def end(name: str) -> None:
        nonlocal of_cells
        of_cells = of_cells and name != "cellXfs"

    parts.parse(path, start, end)
    return frozenset(at for at, number in enumerate(formats) if number in dates)


def _is_date(code: str) -> bool:
    first = code[:_LONGEST_CODE].partition(";")[0]
    return re.search("[dmyhs]", _NO_CODE.sub("", first), re.IGNORECASE) is not None
