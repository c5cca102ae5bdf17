"""What every page shares, told on the start page: what its colours mean, and where else to go."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._ui.look import palette


def colours() -> None:
    """What the colours mean, on every page the same."""
    marks = "".join(
        f'<span><span aria-hidden="true" class="swatch" style="background:{colour}"></span>{meaning}</span> '
        for colour, meaning in palette.MEANINGS
    )
    st.html(f'<p class="colours">Colours: {marks}</p>')


def page_cards(rows: Sequence[tuple[str, str]]) -> None:
    """Links to the other pages, each with the question it answers. They keep the state in the address."""
    for page, question in rows:
        st.page_link(f"../{page}.py", label=question, icon=":material/arrow_forward:")
