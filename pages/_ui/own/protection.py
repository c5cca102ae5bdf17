"""What a release on this page would expose beside earlier ones, in sentences, and the choice that it needs."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpgp_core.accounting.ledger import BudgetExceeded, MixedRows
from dpgp_core.release import ReleaseSpec
from pages._ui.ledgers.store import Standing
from pages._ui.own import session

_SAME_TABLE = (
    "Another ledger counts releases of this very table. Its people are the same, so what was spent on them stays "
    "spent, and what is spent now comes on top of it. Go on with that ledger by its token, in the sidebar. A release "
    "here is refused, unless you say below why the other count does not matter; the reason will be on the release's "
    "card."
)
_OTHER_TABLE = (
    "This ledger has not counted this file before. If it is about the same people, the ledger goes on, as it should. "
    "If it is about other people, begin a new ledger in the sidebar."
)
_MIXING = (
    "This ledger holds releases that protect **{before}**, and this one protects **{now}**. A release that protects "
    "outputs only publishes functions of the inputs without noise, such as where the model is sure. So beside it no "
    "release protects inputs, whatever its own card says. It is refused, unless the inputs are public."
)
INPUTS_PUBLIC = (
    "Inputs count as public in this ledger, as declared on this page. So only outputs are protected, whatever a "
    "release promises by itself."
)


def said(spec: ReleaseSpec, account: Standing) -> str:
    """Before a release: whether the table has a past, and whether inputs are private in one release but not in another.

    A ledger that would hold both kinds refuses; the visitor may declare the inputs public, which stays.

    Returns:
        Why another ledger's count of this table does not matter, in the visitor's words; "" if they said nothing.
    """
    because = ""
    if account.elsewhere and not account.counts:
        st.warning(_SAME_TABLE, icon=":material/history:")
        because = st.text_input("Why the other count does not matter", key="own_because", max_chars=300)
    elif account.ledger.entries and not account.counts:
        st.info(_OTHER_TABLE, icon=":material/help:")
    if account.ledger.inputs_public:
        st.info(INPUTS_PUBLIC, icon=":material/lock_open:")
    elif (protects := {guarantee.protects for _, guarantee in account.ledger.entries}) - {spec.guarantee.protects}:
        before = " and ".join(sorted(protects))
        st.warning(_MIXING.format(before=before, now=spec.guarantee.protects), icon=":material/lock_open:")
        st.button("Treat inputs as public from now on", on_click=session.make_inputs_public, key="own_inputs_public")
    return because


def refusal(spec: ReleaseSpec, account: Standing) -> str:
    """Why the ledger would refuse a release, in a sentence; "" if it would not.

    Whether inputs are private in one release and not in another has a choice of its own.
    """
    ledger = account.ledger
    if ledger.limit is None:
        return ""
    try:
        replace(ledger, entries=list(ledger.entries), inputs_public=True).spend([("release", spec.guarantee)])
    except (BudgetExceeded, MixedRows) as error:
        return str(error)
    return ""
