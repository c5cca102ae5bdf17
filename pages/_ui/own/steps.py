"""The steps of the page for an own table: upload, look, release, take home."""

from __future__ import annotations

import hashlib

import streamlit as st

from dpgp_core.release import Published, ReleaseSpec, bundle
from pages._ui import environment
from pages._ui.look import frame
from pages._ui.look.text import at_least, at_most, plain
from pages._ui.own import figures, form, protection, session, upload
from pages._ui.own.session import Account
from pages._ui.own.upload import Prepared, Table
from pages._ui.serve import forgetting
from pages._ui.serve.visitors import Issued
from pages._ui.session import (
    EXPLORED,
    OWN_FILES,
    OWN_PREVIEW,
    OWN_READY,
    OWN_REFUSED,
    OWN_RELEASED,
    OWN_TABLE,
    Taken,
)
from pages._ui.work import cached
from pages._ui.work.jobs import WorkStopped

_PREVIEW_WARNING = (
    "A preview draws the fit **without noise**. Whoever sees this screen, or a picture of it, sees values computed "
    "from your table with no protection at all. It is for the eyes of someone who may see the table itself."
)
_NO_UPLOADS = (
    "This server takes no files. Practise here with a table that is public; for your own, run the same release on your "
    "own machine, where the table stays: `python -m dpgp_core release --csv table.csv --config config.json --out "
    "release.zip`."
)


def table() -> Table | None:
    """Upload, or practise; the table stays in this session's memory until it is forgotten or the session ends."""
    st.subheader("1. Your table")
    if environment.switched_on("DPGP_UPLOADS"):
        _upload()
    else:
        st.info(_NO_UPLOADS, icon=":material/terminal:")
    held = OWN_TABLE.find()
    with st.container(horizontal=True):
        if held is None:
            st.button("Practise with the !Kung census", on_click=_practise, icon=":material/school:")
        else:
            st.caption(f":material/table: In memory: {plain(held.name)}, {len(held.content):,} bytes.")
            st.button("Forget the table", on_click=_forget, icon=":material/delete:")
    return held


def _upload() -> None:
    uploaded = st.file_uploader(
        "A CSV file with a header line, UTF-8, up to 5 MB",
        type=["csv", "txt"],
        key=f"own_file_{OWN_FILES.get(0)}",
        help="It is held in this session's memory and in that of processes that end with each task: not in a file, not "
        "in a log, not in an address, not shared with other visitors. Forget the table, and it is removed; close the "
        "page, and it is removed some minutes later. No program can promise that the system has not moved memory to "
        "its swap space.",
    )
    if uploaded is not None:
        _take(uploaded.name, uploaded.getvalue())


def _take(name: str, content: bytes) -> None:
    held = OWN_TABLE.find()
    if held is not None and held.content == content:
        return
    try:
        fresh = upload.opened(name, content)
    except ValueError as error:
        OWN_TABLE.pop()
        st.error(plain(f"{error}."))
        return
    if held is None or held.columns != fresh.columns:
        form.forget()
    OWN_TABLE.put(fresh)
    _drop_results()


def _practise() -> None:
    OWN_TABLE.put(upload.practice())
    form.practise()
    _drop_results()


def _forget() -> None:
    OWN_TABLE.pop()
    OWN_FILES.put(OWN_FILES.get(0) + 1)  # empties the uploader
    form.forget()
    _drop_results()
    forgetting.drop_uploads()


def _drop_results() -> None:
    OWN_READY.pop()
    OWN_PREVIEW.pop()
    OWN_RELEASED.pop()


def ready(held: Table, spec: ReleaseSpec) -> Prepared | None:
    """What is known before the release; None, with a sentence, if table and declaration do not fit."""
    key = (held.digest, spec)
    known = OWN_READY.find()
    if known is None or known[0] != key:
        what = "Reading the table and designing the noise"
        try:
            found = cached.of_one_session(what, upload.prepared, held.content, spec)
        except ValueError as error:
            st.error(plain(f"{error}."))
            return None
        known = (key, found)
        OWN_READY.put(known)
    return known[1]


def preview(held: Table, spec: ReleaseSpec) -> None:
    """The fit without noise, after a click that says what it reveals."""
    with st.expander("Preview without privacy"):
        st.warning(_PREVIEW_WARNING, icon=":material/visibility:")
        if st.button("I may see the table: show the fit without noise"):
            values = cached.of_one_session("Fitting without noise", upload.previewed, held.content, spec)
            OWN_PREVIEW.put((spec, values))
        known = OWN_PREVIEW.find()
        if known is not None and known[0] == spec:
            frame.chart(figures.previewed(*known), "own_preview_chart", "NOT PRIVATE: the fit without noise.")


def release(held: Table, spec: ReleaseSpec, account: Account) -> None:
    """The button that spends, and what came of it."""
    if account.digest not in (None, held.digest):
        st.info(
            "This is not the file that the ledger began with. If it is about the same people, the ledger goes on, as "
            "it should. If it is about other people, begin a new ledger in the sidebar.",
            icon=":material/help:",
        )
    protection.said(held, spec, account)
    label = f"Make release {len(account.entries) + 1}: spends ε = {spec.epsilon:g}"
    if st.button(label, type="primary", key="own_release"):
        OWN_REFUSED.put(_make(held, spec))
        st.rerun()  # the ledger stands in several places
    if refusal := OWN_REFUSED.pop():
        st.error(plain(refusal), icon=":material/block:")
    released = OWN_RELEASED.find()
    if released is not None:
        _show(*released)
    elif account.last is not None:
        download(account.last, again=True)


def _make(held: Table, spec: ReleaseSpec) -> str:
    """Spend, then release; what was refused and why, or nothing.

    From the spending until the release is kept nothing looks at the session, where streamlit would end this run if
    the visitor has touched a control meanwhile: the budget would be gone and nothing released.
    """
    browser = session.token()
    with st.spinner("Releasing …"):
        try:
            name, ledger = session.spend(browser, spec, held.digest)
        except ValueError as error:
            return f"Refused: {error}."
        try:
            published = cached.unstoppable(upload.released, held.content, spec)
        except (ValueError, WorkStopped) as error:
            return f"{error}. The budget of this release is spent all the same: it may have been computed."
        issued = Issued(name, bundle(published, spec, ledger))
        session.keep(browser, issued)
    OWN_RELEASED.put((issued, published, spec))
    return ""


def _show(issued: Issued, published: Published, spec: ReleaseSpec) -> None:
    st.success(f"{plain(issued.name)}. These values may be published.", icon=":material/verified_user:")
    frame.chart(figures.released(published, spec), "own_released_chart", figures.released_caption(spec))
    st.dataframe(upload.values(published, spec), hide_index=True, key="own_values")
    download(issued)
    if spec.choice.automatic or not spec.protects_inputs:
        _explore(issued)


def _explore(issued: Issued) -> None:
    """Other models, points and thresholds for the released numbers: the page where they cost nothing."""
    st.subheader("Explore this release, free")
    st.markdown(
        "Other lengthscales, kernels, grids, levels and thresholds can be tried on the released numbers as often as "
        "you like: whatever is computed from them is covered by the guarantee already."
    )
    if st.button("Explore this release, free", icon=":material/travel_explore:"):
        EXPLORED.put(Taken(issued.name, {"release.zip": issued.bundle}, hashlib.sha256(issued.bundle).hexdigest()))
        st.switch_page("../explore_release.py")


def download(issued: Issued, again: bool = False) -> None:
    """The zip of a release."""
    st.download_button(
        f"Download {plain(issued.name)}" + (" again" if again else ""),
        issued.bundle,
        "release.zip",
        "application/zip",
        icon=":material/download:",
        key=f"own_zip_{again}",
        on_click="ignore",
    )


def ledger(account: Account) -> None:
    """Sidebar: what is spent, what is left, how to continue or begin anew."""
    with st.sidebar:
        st.subheader("Ledger of your table")
        if account.limit is None:
            st.caption("Nothing released yet. The total is declared with the first release and fixed from then on.")
        else:
            st.markdown(
                f":material/verified_user: Spent **ε = {at_most(account.spent)}** of {account.limit:g} "
                f"at δ = {account.delta:g}; left for a Gaussian release: **ε = {at_least(account.left)}**"
            )
            st.caption("  \n".join(f"{plain(name)}: ε = {item.budget.epsilon:g}" for name, item in account.entries))
        with st.popover("Continue or begin a ledger", icon=":material/receipt_long:", width="stretch"):
            if environment.switched_on("DPGP_UPLOADS"):
                card = st.file_uploader("release.json of your latest release", type=["json"], key="own_card")
                if card is not None and st.button("Continue its ledger"):
                    _carry_on(card.getvalue())
            st.caption("A table about other people has a budget of its own; what was spent on the first stays spent.")
            st.button("Begin a new ledger", on_click=session.begin_anew)


def _carry_on(card: bytes) -> None:
    try:
        session.carry_on(card)
    except ValueError as error:
        st.error(plain(f"{error}."))
    else:
        st.rerun()


def interrupted() -> None:
    """What is said to a browser that was served elsewhere before."""
    st.warning(
        "This server knows nothing of what this browser released before: it was restarted, or took over from another. "
        "What you have downloaded stays valid, and what it cost stays spent. To go on with the same budget, continue "
        "the ledger of your latest release.json in the sidebar; a table in memory has to be uploaded again.",
        icon=":material/history:",
    )
