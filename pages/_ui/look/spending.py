"""What is spent on screen and would be by everything seen: one person, one ledger, whatever page shows the data."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from datasets import family
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from pages._ui import session
from pages._ui.look import glossary, text


def spent(dataset_name: str, *shown: tuple[object, Guarantee], free: str = "") -> None:
    """Sidebar: what is spent on screen, and by everything this session has looked at that is about the same people.

    Args:
        dataset_name: as on pages; totals are kept for its family (``datasets.family``).
        shown: (settings, guarantee) of every release on screen, the page's own first.
        free: what can be moved for nothing, as a sentence.
    """
    seen = session.SEEN.get({})
    here = {repr(settings): guarantee for settings, guarantee in shown}
    releases = seen.get(family(dataset_name), {}) | here
    session.SEEN.put(seen | {family(dataset_name): releases})
    guarantee = shown[0][1]
    delta = guarantee.budget.delta
    on_screen = text.at_most(guarantee.proven_epsilon)
    with st.sidebar.expander(f"Budget spent on screen: ε = {on_screen}", icon=":material/verified_user:"):
        st.markdown(
            f"On screen: **ε = {on_screen}** at δ = {text.small(delta)} ({guarantee.releases} example "
            f"draw{'s' if guarantee.releases > 1 else ''}). [What these words mean](./#{glossary.ANCHOR})"
        )
        if free:
            st.caption(free)
        if len(here) > 1:
            st.caption(f"With what is drawn beside it: ε = {_together(list(here.values()), delta)}.")
        if len(releases) > 1:
            st.caption(_seen_sentence(list(releases.values()), delta))


def _together(guarantees: Sequence[Guarantee], delta: float) -> str:
    return text.at_most(Ledger(entries=[("", each) for each in guarantees]).epsilon(delta))


def _seen_sentence(guarantees: Sequence[Guarantee], delta: float) -> str:
    """What separate releases of all settings seen would cost. The pictures themselves use numbered draws."""
    mixed = len({each.protects for each in guarantees}) > 1
    return (
        f"{len(guarantees)} separate real releases of the settings seen in this session, all about the same people, "
        f"would cost ε = {_together(guarantees, delta)} at δ = {text.small(delta)}. The numbered draws shown here "
        "share their privacy noise: they hide nothing from someone who sees two."
        + (" Some of these settings protect outputs only: beside them inputs are public." if mixed else "")
    )
