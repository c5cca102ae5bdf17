"""Tables as other programs write them: files of Stata, SPSS and SAS, Parquet and Arrow files, and spreadsheets."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pyreadstat

FILES = Path(__file__).parent / "files"


def written(write: Any, frame: pd.DataFrame, **options: Any) -> bytes:
    """What a function of pyreadstat writes into a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        write(frame, str(path), **options)
        return path.read_bytes()


def stata(frame: pd.DataFrame, **options: Any) -> bytes:
    return written(pyreadstat.write_dta, frame, **options)


def spss(frame: pd.DataFrame, **options: Any) -> bytes:
    return written(pyreadstat.write_sav, frame, **options)


def transport(frame: pd.DataFrame, **options: Any) -> bytes:
    return written(pyreadstat.write_xport, frame, **options)


def parquet(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream, **options)
    return stream.getvalue()


def arrow(table: pa.Table, compression: str | None = "lz4") -> bytes:
    stream = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table)
    return stream.getvalue()


def opendocument(rows: list[list[Any]], *, formula: str = "", repeated: str = "") -> bytes:
    """An OpenDocument spreadsheet of numbers and texts.

    Args:
        formula: attributes of one more cell.
        repeated: attributes of one more row's only cell.
    """

    def cell(value: Any) -> str:
        if isinstance(value, int | float):
            return f'<table:table-cell office:value-type="float" office:value="{value}"/>'
        return f'<table:table-cell office:value-type="string"><text:p>{escape(str(value))}</text:p></table:table-cell>'

    lines = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
    if formula:
        lines += f"<table:table-row><table:table-cell {formula}/></table:table-row>"
    if repeated:
        lines += f"<table:table-row>{cell(1).replace('cell', f'cell {repeated}', 1)}</table:table-row>"
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content{names}><office:body><office:spreadsheet>'
        f'<table:table table:name="measured">{lines}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    manifest = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "META-INF/manifest.xml": manifest, "content.xml": content})


def zipped(files: dict[str, bytes | str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
