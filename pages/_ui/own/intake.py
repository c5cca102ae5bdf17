"""First step of the page for a visitor's table: it is uploaded, kept in its session, and forgotten."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

import streamlit as st

from dpgp_core.reading.kinds import SUFFIXES, SeveralSheets
from dpgp_core.reading.rows import NotDecoded
from dpgp_core.reading.writing import Writing
from pages._ui import environment, session
from pages._ui.look.text import plain
from pages._ui.own import practice, slots, upload
from pages._ui.own.practice import Practice
from pages._ui.own.slots import (
    OWN_FILES,
    OWN_LINES,
    OWN_OUTLOOK,
    OWN_READY,
    OWN_RELEASED,
    OWN_SHEETS,
    OWN_TABLE,
    OWN_TAKEN,
    OWN_UNDECODED,
)
from pages._ui.own.upload import Table
from pages._ui.serve import forgetting
from pages._ui.work import cached

T = TypeVar("T")

_AT_ONCE = 2**18  # bytes; larger tables are read by another process
AS_ITS_FIRST_LINE = "as its first line says"
_SEPARATORS = {AS_ITS_FIRST_LINE: None, "commas": ",", "semicolons": ";", "tabs": "\t", "bars": "|", "spaces": " "}
_ENCODINGS = {
    "Windows, western Europe (cp1252)": "cp1252",
    "Latin-1": "latin-1",
    "Windows, central Europe (cp1250)": "cp1250",
    "Windows, Cyrillic (cp1251)": "cp1251",
    "Macintosh": "mac-roman",
    "UTF-16": "utf-16",
    "Japanese (Shift JIS)": "shift_jis",
    "Chinese (GB 18030)": "gb18030",
    "Chinese (Big5)": "big5",
    "Korean (EUC-KR)": "euc-kr",
}
_NO_UPLOADS = (
    "This server takes no files. Practise here with a table that is public. For your own, run the same release on your "
    "own machine, where the table stays. Begin with a dry run, which spends nothing: `python -m dpgp_core release "
    "--csv table.csv --config config.json --check`. With `--out release.zip` instead of `--check`, it is released."
)


def table() -> Table | None:
    """Ask for a table, or for one to practise with. It stays in the session's memory until it is forgotten or the
    session ends.
    """
    st.header("1. Your table")
    if environment.switched_on("DPGP_UPLOADS"):
        _upload()
    else:
        st.info(_NO_UPLOADS, icon=":material/terminal:")
    table = OWN_TABLE.find()
    with st.container(horizontal=True, key="own_held" if table is not None and not table.name else "own_begin"):
        if table is None:
            for each in practice.TABLES:
                st.button(each.button, on_click=_practise, args=(each,), icon=":material/school:")
        else:
            named = f"{plain(table.name)}, {table.rows:,} rows."
            summary = named if table.name else f"{table.rows:,} rows of your file"  # the browser adds its name
            st.caption(f":material/table: In memory: {summary}")
            st.button("Forget the table", on_click=_forget, icon=":material/delete:")
    return table


def _upload() -> None:
    uploaded = st.file_uploader(
        "A table with a header line: CSV, Excel, OpenDocument, Stata, SPSS, SAS, Parquet or Arrow; up to 5 MB",
        type=[*SUFFIXES, "gz", "zip"],
        key=f"own_file_{OWN_FILES.get(0)}",
        help="It is kept in this session's memory, and in that of processes that end with each task. It is in no file, "
        "no log and no address, and no other visitor sees it. Its name stays in your browser. Forget the table, and it "
        "is removed. Close the page, and it is removed some minutes later. No program can promise that the system has "
        "not moved memory to its swap space.",
    )
    if uploaded is not None:
        content = uploaded.getvalue()
        _take(content, _separator() if upload.has_separator(content) else None)


def _separator() -> str | None:
    """Return the declared separator of a text file; None if it is found in its first line."""
    chosen = st.segmented_control(
        "Its values are separated by",
        list(_SEPARATORS),
        default=AS_ITS_FIRST_LINE,
        required=True,
        key="own_separator",
        help="The separator is found in the line of column names, which is public. Choose another if that is wrong. "
        "Numbers and dates are asked about further down.",
    )
    return _SEPARATORS[chosen]


def _take(content: bytes, separator: str | None) -> None:
    digest = hashlib.sha256(content).hexdigest()
    encoding = _encoding() if OWN_UNDECODED.find() == digest else None
    sheet = _sheet(digest)
    ignore = _ignored_lines(digest)
    table, wanted = OWN_TABLE.find(), (digest, separator, encoding, sheet, ignore)
    if table is not None and OWN_TAKEN.find() == wanted:
        return
    if sheet == "":
        OWN_TABLE.pop()
        return
    OWN_TAKEN.put(wanted)
    fresh = _table(content, *wanted)
    if fresh is None:
        return
    if table is None or table.columns != fresh.columns:
        slots.forget()
    OWN_TABLE.put(fresh)
    _drop_results()
    if ignore is None and fresh.no_rows and _offer_lines(digest, fresh.no_rows):
        st.rerun()


def _table(
    content: bytes,
    digest: str,
    separator: str | None,
    encoding: str | None,
    sheet: str | None,
    ignore: tuple[int | str, ...] | None,
) -> Table | None:
    """Return the table as declared; None, with a sentence on the page, if it cannot be read."""
    text, writing, fresh, refusal, undecoded = b"", Writing(), None, "", False
    try:
        writing = Writing(separator=separator, encoding=encoding, ignore=ignore)
        text, writing, labels = _as_text(content, writing, sheet)
        fresh = replace(_run(upload.opened, text, writing), labels=labels)
    except SeveralSheets as several:
        OWN_TABLE.pop()
        OWN_SHEETS.put((digest, list(several.names)))
        st.rerun()
    except ValueError as error:
        refusal, undecoded = f"{error}.", isinstance(error, NotDecoded)  # its traceback would hold the table
    has_columns = fresh is not None and len(fresh.columns) > 1
    if ignore is None and not has_columns and _offer_lines(digest, _no_rows(text, writing)):
        OWN_TABLE.pop()
        st.rerun()
    if refusal:
        OWN_TABLE.pop()
        st.error(plain(refusal))
        if undecoded and OWN_UNDECODED.find() != digest:
            OWN_UNDECODED.put(digest)
            st.rerun()
    return fresh


def _no_rows(text: bytes, writing: Writing) -> tuple[int | str, ...]:
    """Return lines that may not be rows, for a table that cannot be read as it is."""
    try:
        return _run(upload.lines_around, text, writing) if text else ()
    except ValueError:
        return ()


def _encoding() -> str | None:
    """Return the encoding of a file that is not UTF-8; None before the answer."""
    chosen = st.selectbox(
        "The file is not UTF-8. Which encoding does it have?",
        list(_ENCODINGS),
        index=None,
        placeholder="For most files from Windows, the first one",
        key="own_encoding",
        help="It decides how letters beyond A to Z are read, also in the names of columns.",
    )
    return None if chosen is None else _ENCODINGS[chosen]


def _sheet(digest: str) -> str | None:
    """Return the sheet of a workbook, which is asked if it has several; "" before the answer."""
    sheets = OWN_SHEETS.of(digest)
    if sheets is None:
        return None
    chosen = st.selectbox("Which sheet holds the table?", sheets, index=None, key="own_sheet")
    return "" if chosen is None else str(chosen)


def _as_text(content: bytes, writing: Writing, sheet: str | None) -> tuple[bytes, Writing, Mapping[str, str]]:
    """Return a file as text, how it is written, and the labels of its columns."""
    upload.check_size(content)
    if upload.is_text(content):
        return content, writing, {}
    text, labels, converted = cached.of_one_session("Reading the file", upload.as_text, content, sheet)
    upload.check_size(text)
    return text, replace(writing, separator=",", encoding=None, sheet=sheet) if converted else writing, labels


def _run(function: Callable[[bytes, Writing], T], text: bytes, writing: Writing) -> T:
    """Return ``function(text, writing)``, computed by another process if the table is large."""
    if len(text) <= _AT_ONCE:
        return function(text, writing)
    return cached.of_one_session("Reading the table", function, text, writing)


def _practise(table: Practice) -> None:
    OWN_TABLE.put(upload.opened(practice.contents()[table.file], name=table.file))
    slots.forget()
    slots.set_answers(table.form | {"kind": table.kind})
    _drop_results()


def _forget() -> None:
    for slot in (OWN_TABLE, OWN_TAKEN, OWN_UNDECODED, OWN_SHEETS, OWN_LINES):
        slot.pop()
    OWN_FILES.put(OWN_FILES.get(0) + 1)  # a new key empties the uploader
    slots.forget()
    _drop_results()
    forgetting.drop_uploads()


def _drop_results() -> None:
    for slot in (OWN_READY, OWN_OUTLOOK, OWN_RELEASED):
        slot.pop()


_IGNORE = "own_ignore"
_HELP_LINES = (
    "Titles above the names, units below them, notes and sums, for example: 1-3, 63. They are left out as if they were "
    "not there. A sheet's rows count as lines. Published with the release."
)


def _ignored_lines(digest: str) -> tuple[int | str, ...] | None:
    """Return lines that are declared not to be rows of the file with this digest; None if none are.

    The question is shown once lines were offered.
    """
    offered = OWN_LINES.of(digest)
    if offered is None:
        OWN_LINES.pop()
        session.forget([_IGNORE])
        return None
    text = st.text_input(
        "Lines that are not rows of the table",
        key=_IGNORE,
        placeholder=offered or "1-3, 63",
        max_chars=200,
        help=_HELP_LINES,
    )
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries and offered:
        one = offered.isdigit()
        said = f"Line {offered} may not be a row" if one else f"Lines {plain(offered)} may not be rows"
        st.info(f"{said} of the table, but a title, units or notes.")
        st.button(
            f"Leave out {'line' if one else 'lines'} {plain(offered)}",
            key="own_say_ignore",
            on_click=session.move,
            args=({_IGNORE: offered},),
            icon=":material/playlist_remove:",
        )
    return tuple(int(entry) if entry.isdigit() else entry for entry in entries) or None


def _offer_lines(digest: str, lines: tuple[int | str, ...]) -> bool:
    """Offer these lines of a file for the question, or none in particular; return whether they are new."""
    offered, new = OWN_LINES.of(digest), ", ".join(map(str, lines))
    if offered is not None and new in (offered, ""):
        return False
    OWN_LINES.put((digest, new))
    return True
