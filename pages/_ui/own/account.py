"""The ledger in the sidebar: what is spent, its token, and how to go on with another one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._ui import environment
from pages._ui.ledgers.store import Standing
from pages._ui.look.text import at_least, at_most, plain, small
from pages._ui.own import session
from pages._ui.own.slots import OWN_LEDGER_TOKEN

_KEEP = (
    "**The token of this ledger**, shown now and never again: copy it to where you keep the table. With it the ledger "
    "goes on in another browser, or after this one has forgotten its cookies."
)
_GUARDS = (
    "It counts what is released here, also after a restart of this server. It guards honest users against accidents; "
    "whoever holds the table could release it elsewhere."
)


def shown(account: Standing) -> None:
    """Sidebar: what is spent and left, the token where it is new, and the ways to another ledger."""
    ledger = account.ledger
    with st.sidebar:
        st.subheader("Ledger of your table")
        if ledger.limit is None:
            st.caption("Nothing released yet. The total is declared with the first release and fixed from then on.")
        else:
            st.markdown(
                f":material/verified_user: Spent **ε = {at_most(account.spent)}** of {ledger.limit.epsilon:g} "
                f"at δ = {small(ledger.limit.delta)}; left for a Gaussian release: **ε = {at_least(account.left)}**"
            )
            st.caption("  \n".join(f"{plain(name)}: ε = {item.budget.epsilon:g}" for name, item in ledger.entries))
        if ledger.begun_again:
            st.caption(
                f"Another ledger counts the table too; that does not matter, because: {plain(ledger.begun_again)}"
            )
        _token()
        with st.popover("Continue or begin a ledger", icon=":material/receipt_long:", width="stretch"):
            _others(account)


def _token() -> None:
    token = OWN_LEDGER_TOKEN.find()
    if token is not None:
        st.info(_KEEP, icon=":material/key:")
        st.code(token, language=None)
        st.button("I have kept it", on_click=_forget_token)


def _forget_token() -> None:
    OWN_LEDGER_TOKEN.pop()


def _others(account: Standing) -> None:
    st.caption(_GUARDS)
    owner = st.text_input("Token of a ledger", type="password", key="own_owner", max_chars=100)
    if st.button("Go on with its ledger") and owner:
        _moved(lambda: session.go_on(owner))
    if account.ledger.entries:
        st.button("Make a new token; the old one ends", on_click=session.make_token)
    if environment.switched_on("DPGP_UPLOADS"):
        card = st.file_uploader("release.json of a ledger that this server has lost", type=["json"], key="own_card")
        if card is not None and st.button("Continue from its card"):
            _moved(lambda: session.recover(card.getvalue()))
    st.caption("A table about other people has a budget of its own; what was spent on the first stays spent.")
    st.button("Begin a new ledger", on_click=session.begin_anew)


def _moved(move: Callable[[], None]) -> None:
    try:
        move()
    except ValueError as error:
        st.error(plain(f"{error}."))
    else:
        st.rerun()
