"""The first step of the page for an own table: it comes in, is kept by its session, and is forgotten."""

from __future__ import annotations

import hashlib

import streamlit as st

from pages._ui import environment
from pages._ui.look.text import plain
from pages._ui.own import excel, practice, remembered, upload
from pages._ui.own.practice import Practice
from pages._ui.own.slots import OWN_FILES, OWN_OUTLOOK, OWN_PREVIEW, OWN_READY, OWN_RELEASED, OWN_TABLE, OWN_TAKEN
from pages._ui.own.upload import Table
from pages._ui.serve import forgetting
from pages._ui.work import cached

_AT_ONCE = 2**18  # bytes; larger tables are read beside the page
_DIALECTS = {"commas": "comma", "semicolons (decimal commas)": "semicolon", "tabs": "tab"}
_NO_UPLOADS = (
    "This server takes no files. Practise here with a table that is public. For your own, run the same release on your "
    "own machine, where the table stays: `python -m dpgp_core release --csv table.csv --config config.json --out "
    "release.zip`."
)


def table() -> Table | None:
    """Upload, or practise; the table stays in this session's memory until it is forgotten or the session ends."""
    st.header("1. Your table")
    if environment.switched_on("DPGP_UPLOADS"):
        _upload()
    else:
        st.info(_NO_UPLOADS, icon=":material/terminal:")
    held = OWN_TABLE.find()
    with st.container(horizontal=True):
        if held is None:
            for each in practice.TABLES:
                st.button(each.button, on_click=_practise, args=(each,), icon=":material/school:")
        else:
            st.caption(f":material/table: In memory: {plain(held.name)}, {held.rows:,} rows.")
            st.button("Forget the table", on_click=_forget, icon=":material/delete:")
    return held


def _upload() -> None:
    written = st.segmented_control(
        "Its values are separated by",
        list(_DIALECTS),
        default="commas",
        required=True,
        key="own_dialect",
        help="Declared, never guessed: 1,234 is a thousand to some and little more than one to others. Semicolons go "
        "with decimal commas. An Excel workbook needs no such choice.",
    )
    uploaded = st.file_uploader(
        "A table with a header line: CSV in UTF-8, or an Excel workbook (.xlsx) of one sheet; up to 5 MB",
        type=["csv", "tsv", "txt", "xlsx"],
        key=f"own_file_{OWN_FILES.get(0)}",
        help="It is held in this session's memory, and in that of processes that end with each task. It is in no file, "
        "no log and no address, and no other visitor sees it. Forget the table, and it is removed. Close the page, and "
        "it is removed some minutes later. No program can promise that the system has not moved memory to its swap "
        "space.",
    )
    if uploaded is not None:
        _take(uploaded.name, uploaded.getvalue(), _DIALECTS[written])


def _take(name: str, content: bytes, dialect: str) -> None:
    held, taken = OWN_TABLE.find(), OWN_TAKEN.find()
    if held is not None and taken == (hashlib.sha256(content).hexdigest(), dialect):
        return
    OWN_TAKEN.put((hashlib.sha256(content).hexdigest(), dialect))
    try:
        fresh = _opened(name, content, dialect)
    except ValueError as error:
        OWN_TABLE.pop()
        st.error(plain(f"{error}."))
        return
    if held is None or held.columns != fresh.columns:
        remembered.forget()
    OWN_TABLE.put(fresh)
    _drop_results()


def _opened(name: str, content: bytes, dialect: str) -> Table:
    if excel.is_workbook(content):
        upload.check_size(content)
        text = cached.of_one_session("Reading the workbook", excel.as_csv, content, upload.MAX_BYTES)
        return upload.opened(name, text)
    if len(content) <= _AT_ONCE:
        return upload.opened(name, content, dialect)
    return cached.of_one_session("Reading the table", upload.opened, name, content, dialect)


def _practise(table: Practice) -> None:
    OWN_TABLE.put(upload.practice(table))
    remembered.practise(table)
    _drop_results()


def _forget() -> None:
    OWN_TABLE.pop()
    OWN_TAKEN.pop()
    OWN_FILES.put(OWN_FILES.get(0) + 1)  # empties the uploader
    remembered.forget()
    _drop_results()
    forgetting.drop_uploads()


def _drop_results() -> None:
    OWN_READY.pop()
    OWN_OUTLOOK.pop()
    OWN_PREVIEW.pop()
    OWN_RELEASED.pop()
