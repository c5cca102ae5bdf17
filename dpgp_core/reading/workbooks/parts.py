"""The XML files in a workbook's zip, by a stranger: read as they unpack, and given up once they are too much."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any
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
            name: of the file.
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
