"""What a release on this page would expose beside earlier ones, in sentences, and the choice that it needs."""

from __future__ import annotations

import streamlit as st

from dpgp_core.release import ReleaseSpec
from pages._ui.own import session
from pages._ui.own.session import Account
from pages._ui.own.upload import Table

_SAME_FILE = (
    "This is the same file as one that an earlier ledger of this browser was about. Its people are the same, so what "
    "was spent on them stays spent, and what is spent now comes on top of it: a new ledger is for other people only."
)
_MIXING = (
    "This ledger holds releases that protect **{before}**, and this one protects **{now}**. A release that protects "
    "outputs only publishes functions of the inputs without noise (where the noise is large, where the model is sure), "
    "so beside it no release protects inputs, whatever its own card says. It is refused, unless the inputs are public."
)
INPUTS_PUBLIC = (
    "Inputs count as public in this ledger, as declared on this page: only outputs are protected, whatever a release "
    "promises by itself."
)


def said(held: Table, spec: ReleaseSpec, account: Account) -> None:
    """Before a release: whether the file has a past, and whether inputs are private in one release but not in another.

    A ledger that would hold both kinds refuses; the visitor may declare the inputs public, which stays.
    """
    if held.digest in account.past:
        st.warning(_SAME_FILE, icon=":material/history:")
    if account.inputs_public:
        st.info(INPUTS_PUBLIC, icon=":material/lock_open:")
    elif account.protects - {spec.guarantee.protects}:
        before = " and ".join(sorted(account.protects))
        st.warning(_MIXING.format(before=before, now=spec.guarantee.protects), icon=":material/lock_open:")
        st.button("Treat inputs as public from now on", on_click=session.make_inputs_public, key="own_inputs_public")
