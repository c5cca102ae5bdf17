"""What every page shares, told on the start page: what its colours mean, and where else to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pages._ui.look import palette

REST = "Words and colours, what is protected, others' budgets, all pages, a page to print"
TABS = (
    "Words and colours", "What is protected", "All that is promised", "Others' budgets", "All pages", "Table",
    "To print", "Try this",
)  # fmt: skip
_DOORS = (
    ("Decide", "Which method, and which ε, for the accuracy that you need.", "compare", "Compare methods", "balance"),
    ("Publish", "A curve, a map or rates from your own table.", "your_data", "Open your data", "upload_file"),
)


def colours() -> None:
    """What the colours mean, on every page the same."""
    marks = "".join(
        f'<span><span aria-hidden="true" class="swatch" style="background:{colour}"></span>{meaning}</span> '
        for colour, meaning in palette.MEANINGS
    )
    st.html(f'<p class="colours">Colours: {marks}</p>')


def doors(invitation: Callable[[], None]) -> None:
    """Three ways on: to teach by the tour, to decide, to publish."""
    with st.container(key="doors"):
        teach, *others = st.columns(1 + len(_DOORS), border=True)
        with teach:
            st.header("Teach")
            st.markdown("What a budget means and costs, on maps and curves, for a class.")
            invitation()
        for place, (title, promise, page, label, icon) in zip(others, _DOORS, strict=True):
            with place:
                st.header(title)
                st.markdown(promise)
                st.page_link(f"../{page}.py", label=label, icon=f":material/{icon}:")


def page_cards(rows: Sequence[tuple[str, str]]) -> None:
    """Links to the other pages, each with the question it answers. They keep the state in the address."""
    for page, question in rows:
        st.page_link(f"../{page}.py", label=question, icon=":material/arrow_forward:")
