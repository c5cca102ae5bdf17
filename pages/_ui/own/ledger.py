"""Budget of a visitor's own table: a ledger that outlasts this server, found by a cookie or by its token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import streamlit as st

from dpgp_core.release import Published, ReleaseSpec, bundle
from pages._ui import environment, session
from pages._ui.ledgers.databases import LedgerUnavailable
from pages._ui.ledgers.state import DELIVERIES, Issued, StateLost, of_this_server
from pages._ui.ledgers.store import Account, Spent
from pages._ui.look.text import Metric, at_least, at_most, in_sentence, plain, small
from pages._ui.own.slots import OWN_LEDGER_TOKEN, OWN_TOKEN
from pages._ui.own.upload import Table, is_practice
from pages._ui.serve.http import listens_here
from pages._ui.visitor import fresh, known_by
from pages._ui.work import waiting


def account(table: Table | None = None) -> Account:
    """Return the ledger of this browser, and whether it counts a table. If that fails, the page says why and ends."""
    try:
        digest = None if table is None else table.digest
        browser, everywhere = token(), _everywhere(table)
        with waiting.aside():  # a database may be slow
            return of_this_server().find(browser, digest, everywhere=everywhere)
    except (LedgerUnavailable, StateLost) as error:
        st.error(plain(f"{error}."))
        waiting.end_page()


def spend(spec: ReleaseSpec, table: Table, because: str) -> Spent:
    """Count a release before it is made.

    Raises:
        ValueError: see ``Ledgers.spend``.
    """
    browser, everywhere = token(), _everywhere(table)
    with waiting.aside():
        return of_this_server().spend(
            browser,
            f"{spec.y} by {in_sentence(spec.built.label)}",
            spec.guarantee,
            spec.limit,
            table.digest,
            because=because,
            everywhere=everywhere,
        )


def issued(spent: Spent, published: Published) -> Issued:
    """Return the zip of a release, and keep it so that a reload does not lose it."""
    ledgers = of_this_server()
    content = bundle(published, spent.ledger, lambda card: ledgers.sealed(card, spent.id))
    new = Issued(spent.name, content)
    DELIVERIES.keep(spent.id, new)
    with suppress(LedgerUnavailable), waiting.aside():  # the release is made all the same
        ledgers.made(spent)
    return new


def make_token() -> None:
    """Make a new token for this browser's ledger; the previous one stops working."""
    with _reported():
        OWN_LEDGER_TOKEN.put(of_this_server().new_token(token()))


def make_inputs_public() -> None:
    """Record that inputs are public from now on. This cannot be undone."""
    with _reported():
        of_this_server().declare_inputs_public(token())


def begin_anew() -> None:
    """Begin an empty ledger, for a table about other people."""
    with _reported():
        of_this_server().begin_anew(token())
        OWN_LEDGER_TOKEN.pop()


@contextmanager
def _reported() -> Iterator[None]:
    """Report errors within the block on the page, in a sentence."""
    try:
        yield
    except ValueError as error:
        st.error(plain(f"{error}."))


def _everywhere(table: Table | None) -> bool:
    """Return whether all ledgers are asked about a table, not only those of this browser.

    They are asked only if nobody but users of this machine can ask: a stranger who knows all records but one could
    otherwise try tables until one is known here. Practice tables belong to everybody, and begin anew in every browser.
    """
    return listens_here() and not environment.hosts() and table is not None and not is_practice(table)


def token() -> str:
    """Return what identifies this browser: its cookie, or the session if there are no cookies."""
    cookie = known_by(st.context.cookies.to_dict())
    if cookie is not None:
        return cookie
    # Without cookies, a browser is recognised during its session, and its ledger by the token
    own = OWN_TOKEN.find() or fresh()
    OWN_TOKEN.put(own)
    return own


_KEEP = (
    "**The token of this ledger**, shown now and never again: copy it to where you keep the table. With it the ledger "
    "goes on in another browser, or after this one has forgotten its cookies."
)
_GUARDS = (
    "It counts what is released here, also after a restart of this server. It guards honest users against accidents; "
    "whoever holds the table could release it elsewhere."
)


_VISIBLE = 0.005  # difference of two epsilons that is more than rounding


def so_far(account: Account) -> str:
    """Return a sentence about the ledger."""
    ledger, failed = account.ledger, len(account.unmade)
    if ledger.limit is None:
        return "Nothing has been released yet."
    more = f", {failed} counted and not made" if failed else ""
    spent = f"ε = {at_most(account.spent)} of {ledger.limit.epsilon:g} spent"
    return f"So far **{len(ledger.entries) - failed} released**{more}, {spent}."


def metrics(account: Account) -> list[Metric]:
    """Return the ledger as metrics, once its total is declared; see ``so_far``."""
    ledger, failed = account.ledger, len(account.unmade)
    if ledger.limit is None:
        return []
    more = f"and {failed} counted, not made" if failed else "each counts"
    return [
        Metric("Released from your table", str(len(ledger.entries) - failed), more),
        Metric("Spent", f"ε = {at_most(account.spent)}", f"of {ledger.limit.epsilon:g} declared"),
        Metric(
            "Left",
            f"ε = {at_least(account.left)}",
            "noises add in squares" if account.left > account.rest + _VISIBLE else "for one Gaussian release",
        ),
    ]


def about_left(account: Account) -> str:
    """Return why more is left than the total minus what is spent; "" if it is not."""
    ledger = account.ledger
    if ledger.limit is None or account.left <= account.rest + _VISIBLE:
        return ""
    return (
        f"ε = {at_least(account.left)} is left after ε = {at_most(account.spent)} of {ledger.limit.epsilon:g}, because "
        "independent noises add up in squares: two releases of Gaussian noise cost less than the sum of their ε."
    )


def sidebar(account: Account) -> None:
    """Draw the budget spent and left, the token if it is new, and the ways to another ledger."""
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
        new_token = OWN_LEDGER_TOKEN.find()
        if new_token is not None:
            st.info(_KEEP, icon=":material/key:")
            st.code(new_token, language=None, wrap_lines=True)
            st.button("I have kept it", on_click=session.forget, args=([OWN_LEDGER_TOKEN.key],))
        with st.popover("Continue or begin a ledger", icon=":material/receipt_long:", width="stretch"):
            _others(account)


def _others(account: Account) -> None:
    st.caption(_GUARDS)
    owner = st.text_input("Token of a ledger", type="password", key="own_owner", max_chars=100)
    if st.button("Go on with its ledger") and owner:
        with _reported():
            of_this_server().go_on(token(), owner)
            st.rerun()
    if account.ledger.entries:
        st.button("Make a new token; the old one ends", on_click=make_token)
    if environment.switched_on("DPGP_UPLOADS"):
        card = st.file_uploader("release.json of a ledger that this server has lost", type=["json"], key="own_card")
        if card is not None and st.button("Continue from its card"):
            with _reported():
                OWN_LEDGER_TOKEN.put(of_this_server().recover(token(), card.getvalue()))
                st.rerun()
    st.caption("A table about other people has a budget of its own; what was spent on the first stays spent.")
    st.button("Begin a new ledger", on_click=begin_anew)
