"""Page layout of every page: heading, metrics, tables, guarantee card, link."""

from __future__ import annotations

import html
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pandas as pd
import segno
import streamlit as st

from dpgp_core.accounting.guarantee import Guarantee
from pages._ui import session
from pages._ui.look import pictures, plots, settings, tables, text
from pages._ui.look.controls import HERE, Slider, Switch
from pages._ui.look.text import Metric

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

# If epsilon follows from other settings, the scale of paths changes it
_MOVED_ABOVE = ("epsilon", "sigma", "attack_sigma")
_ABOVE: ContextVar[DeltaGenerator] = ContextVar("above")  # the container above the page


def begin() -> None:
    """Begin a page, with a container above it for the budget, and without a picture."""
    _ABOVE.set(st.container(horizontal=True, vertical_alignment="center", key="bar"))
    pictures.begin()


def _budget_bar() -> None:
    """Draw the budget again as a slim bar above the page, for telephones with a closed sidebar, and for lessons."""
    with _ABOVE.get():
        _once_more("above")


_EPSILON_HERE = Switch("epsilon_here", "ε on the picture", section=HERE, width="content", display_only=True)


def epsilon_here() -> None:
    """Draw a switch that shows the slider for the budget next to the picture; lessons always show it above."""
    if not settings.is_lesson() and settings.value_of(_EPSILON_HERE):
        _once_more("picture")


def _once_more(place: str) -> None:
    """Draw another slider for the budget, which moves together with the one in the sidebar."""
    for key, (control, value) in settings.CONTROLS.get({}).items():
        if key in _MOVED_ABOVE and isinstance(control, Slider):
            session.move({f"{key}_{place}": value})
            look: Any = {"key": f"{key}_{place}", "on_change": _take, "args": (key, place)}
            st.select_slider(control.label, control.options, **look)
            return


def _take(key: str, place: str) -> None:
    session.move({key: session.control(f"{key}_{place}")})


TEACHING_NOTE = (
    "The noise on this page is pseudo-random, so that a link shows the same picture to everyone. "
    "A real release has exact noise from the operating system, which nobody can reproduce."
)


def title(question: str) -> None:
    """Draw the title as a question, which stands there while the answer is computed."""
    st.title(question, anchor=False)


def headline(answer: str) -> Callable[[str], None]:
    """Draw the headline sentences below the title; screen readers read them aloud when they change.

    Returns:
        A function that replaces the sentences once others are computed; screen readers read all of them as one.
    """
    with st.container(key="answer"):
        spot = st.empty()

    def say(answer: str) -> None:
        pictures.set_title(answer)
        spot.markdown(f'<div role="status" aria-live="polite">\n\n{answer}\n\n</div>', unsafe_allow_html=True)

    say(answer)
    _budget_bar()
    return say


def heading(question: str, answer: str) -> Callable[[str], None]:
    """Draw ``title`` and ``headline``."""
    title(question)
    return headline(answer)


_STEP_SECONDS = 3.0  # seconds between two partial results, because drawing them takes time from all visitors


@contextmanager
def growing() -> Iterator[Callable[[Callable[[], object]], None]]:
    """Yield a function that draws partial results in a fresh container; the page below is hidden until the end.

    Partial results that follow others within ``_STEP_SECONDS`` are not drawn.
    """
    spot, count, drawn = st.empty(), itertools.count(), -math.inf

    def draw(part: Callable[[], object]) -> None:
        nonlocal drawn
        if time.monotonic() < drawn + _STEP_SECONDS:
            return
        with spot.container(key=f"growing_{next(count)}"):
            part()
        drawn = time.monotonic()

    try:
        yield draw
    finally:
        spot.empty()


def metrics(row: Sequence[Metric], of: str = "page") -> None:
    """Draw three or four metrics in a compact row; two in a row on narrow screens.

    Args:
        row: the metrics.
        of: part of the page, if it has several rows of metrics.
    """
    with st.container(horizontal=True, key=f"metrics_{of}"):
        for metric in row:
            label, value, change, help_text = metric
            st.metric(label, value, change, help=help_text, delta_color="off", delta_arrow="off", border=True)


def overlay_banner(more: str = "Switch them off in the sidebar.") -> None:
    """Draw the banner that is shown wherever true data or non-private results are on screen."""
    st.markdown(
        ":violet-badge[:material/school: True data shown]",
        help=f"True data, the curve without privacy, and errors are here to teach. None of them is private. {more}",
    )


def banners(simulated: str | None, overlay: bool) -> None:
    """Draw badges for simulated and for true data, in one row.

    Args:
        simulated: source of simulated data; None if the data are real.
        overlay: whether true data are shown.
    """
    with st.container(horizontal=True, key="banners"):
        if simulated is not None:
            st.markdown(
                ":blue-badge[:material/science: Simulated data]", help=f"They are {simulated}.", width="content"
            )
        if overlay:
            overlay_banner()


def needs_overlay(question: str) -> None:
    """Draw a note in place of a page that compares with true data throughout, while the overlay is off."""
    heading(question, "Everything this page answers with is computed from the true data, so it is not shown.")
    st.info("Switch “True data shown” on in the sidebar to see it.", icon=":material/visibility_off:")


def table(frame: pd.DataFrame, key: str, note: str = "", *, true_data: bool = False) -> None:
    """Draw a sortable table and its CSV download, whose name says whether it contains true data.

    Args:
        frame: the rows.
        key: key of the table, and name of its file.
        note: sentence below it.
        true_data: whether columns whose names do not say so contain true data.
    """
    marked = true_data or any(tables.NOT_PRIVATE in str(name) for name in frame)
    if note:
        st.caption(note)
    pictures.table(frame, f"table_{key}")
    st.download_button(
        "Download CSV",
        frame.to_csv(index=False),
        f"{key}{'-with-true-data' if marked else ''}.csv",
        "text/csv",
        key=f"csv_{key}",
        icon=":material/download:",
    )


def steps(rows: Sequence[tuple[str, str]]) -> None:
    """Draw the tab "How it is computed", with a line for each equation or number."""
    st.markdown("\n".join(f"- **{name}**: {value}" for name, value in rows))


def lessons(page: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Draw the tab "Try this", with sentences that link to states of a page."""
    for sentence, opened in rows:
        address = f"./{'' if page == 'start' else page}?{urlencode(opened)}"
        st.markdown(f"- {sentence} [Open this state]({address})")


def guarantee_rows(guarantee: Guarantee) -> tuple[tuple[str, str], ...]:
    """Return the rows of the card, all of which are read from the guarantee."""
    draws = f" for all {guarantee.releases} releases together" if guarantee.releases > 1 else ""
    claim, sure = text.budget(guarantee) + (f". That is{draws}" if draws else ""), "proven for this setting"
    if not guarantee.established:
        claim = f"claimed: ε = {guarantee.budget.epsilon:g} at δ = {text.small(guarantee.budget.delta)}{draws}"
        sure = (
            f"not established: the formula is not proven at ε = {guarantee.budget.epsilon:g}. "
            f"What this noise does guarantee is ε = {text.at_most(guarantee.proven_epsilon)} "
            f"at δ = {text.small(guarantee.budget.delta)}"
        )
    return (
        ("Protects", guarantee.protects),
        ("Neighbours", guarantee.neighbours),
        ("Unit", guarantee.unit),
        ("Promise", claim),
        ("How sure", sure),
        ("Rests on", guarantee.theorem),
        ("Assumes", "; ".join(guarantee.assumptions)),
        ("Does not cover", "; ".join(guarantee.not_covered)),
    )


def guarantee_card(guarantee: Guarantee, note: str = "") -> None:
    """Draw the guarantee in one line; unfolded, each row of it with the meaning of its name in small print."""
    colour = plots.GUARANTEE if guarantee.established else plots.RISK
    rows = guarantee_rows(guarantee)
    body = "".join(
        f"<p><b>{name}.</b> {html.escape(value)} <small>({text.ROWS[name].rstrip('.')})</small></p>"
        for name, value in rows
    )
    promise = html.escape(dict(rows)["Promise"].partition(":")[0] if guarantee.established else dict(rows)["How sure"])
    note = f"<p>{html.escape(note)}</p>" if note else ""
    st.html(
        f'<section class="guarantee" style="border-left:4px solid {colour};padding:.2rem 0 .2rem 1rem;'
        f'margin-top:.5rem"><details><summary><b>What this guarantee says</b>: {promise}; protects '
        f"{html.escape(guarantee.protects)} of {guarantee.hidden}. Details</summary>{body}{note}</details></section>"
    )


def _qr(link: str, width: int) -> None:
    """Draw a link as a QR code, black on white in both colour schemes."""
    st.image(segno.make(link, error="l", micro=False).png_data_uri(scale=4), width=width)


def state_link() -> None:
    """Draw the address of this state in the sidebar, and its reset under More. It is the last call of a page."""
    address = settings.link()
    with settings.container("This state"):
        st.button("Reset", key="state_reset", icon=":material/restart_alt:", on_click=settings.reset)
    with st.sidebar, st.popover("Copy this state", icon=":material/link:", key="state_copy", on_change="rerun") as box:
        st.code(address, language=None, wrap_lines=True)
        if not settings.is_lesson():
            st.button(
                "Present it to a room",
                key="present",
                icon=":material/present_to_all:",
                on_click=settings.present,
                help="For a projector: large type, ε in sight above the picture, arrow keys for the tour.",
            )
        if box.open:  # drawing a code takes half as long as the rest of a page
            _qr(address, 180)
    if settings.is_lesson():
        above = _ABOVE.get()
        above.button("End", key="present_end", icon=":material/close:", on_click=settings.leave_out, args=("lesson",))
        with above.popover("QR code", icon=":material/qr_code_2:", key="state_qr", on_change="rerun") as box:
            if box.open:
                _qr(address, 420)
            st.caption("This state on every telephone. The arrow keys step through the tour.")
