"""What every page shares, told on the start page: what its colours mean, and where else to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages._ui.look import palette

TABS = ("What is protected", "All that is promised", "Others' budgets", "All pages", "Table", "To print", "Try this")


def colours() -> None:
    """What the colours mean, on every page the same."""
    marks = "".join(
        f'<span><span aria-hidden="true" class="swatch" style="background:{colour}"></span>{meaning}</span> '
        for colour, meaning in palette.MEANINGS
    )
    st.html(f'<p class="colours">Colours: {marks}</p>')


def ways_on(invitation: Callable[[], None]) -> None:
    """A button each to decide, explore, publish; and the tour's own."""
    with st.container(horizontal=True, key="ways_on"):
        for page, label, icon in (
            ("compare", "Decide: which method?", "balance"),
            ("kung_curves", "Explore: a growth curve", "show_chart"),
            ("your_data", "Publish: your own table", "upload_file"),
        ):
            st.page_link(f"../{page}.py", label=label, icon=f":material/{icon}:", width="content")
        invitation()


def page_cards(rows: Sequence[tuple[str, str]]) -> None:
    """Links to the other pages, each with the question it answers. They keep the state in the address."""
    for page, question in rows:
        st.page_link(f"../{page}.py", label=question, icon=":material/arrow_forward:")
