"""The budget of a visitor's own table: a ledger that outlives a reload, kept by this server for one browser."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

import streamlit as st

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.release import ReleaseSpec, ledger_from_json
from pages._ui.serve.visitors import VISITORS, Issued, Record
from pages._ui.session import OWN_TOKEN
from pages._ui.visitor import token_in


@dataclass(frozen=True)
class Account:
    """What stands in the ledger now.

    Attributes:
        entries: (what, guarantee) of every release so far.
        limit: declared total epsilon; None before the first release.
        delta: at which everything is added up; None before the first release.
        spent, left: epsilon.
        inputs_public: the visitor declared the inputs public.
        protects: what releases so far protect, each kind once.
        past: digests of tables that ledgers before this one were about.
        interrupted: this server does not know what this browser released before.
        digest: of the table that the ledger belongs to; None before the first release.
        last: the latest release, to download again.
    """

    entries: tuple[tuple[str, Guarantee], ...]
    limit: float | None
    delta: float | None
    spent: float
    left: float
    inputs_public: bool
    protects: frozenset[str]
    past: frozenset[str]
    interrupted: bool
    digest: str | None
    last: Issued | None


def account() -> Account:
    """The ledger of this browser."""
    with VISITORS.open(token()) as record:
        ledger = record.ledger
        limit = ledger.limit
        return Account(
            entries=tuple(ledger.entries),
            limit=None if limit is None else limit.epsilon,
            delta=None if limit is None else limit.delta,
            spent=0.0 if limit is None else ledger.epsilon(limit.delta),
            left=0.0 if limit is None else ledger.epsilon_left(),
            inputs_public=ledger.inputs_public,
            protects=frozenset(guarantee.protects for _, guarantee in ledger.entries),
            past=frozenset(record.past),
            interrupted=record.interrupted,
            digest=record.digest,
            last=record.last,
        )


def spend(token: str, spec: ReleaseSpec, digest: str) -> tuple[str, Ledger]:
    """Count a release before it is made; return its name and the ledger that counts it.

    Raises:
        BudgetExceeded: it would pass the declared total; nothing was spent.
        MixedProtection: it would void the protection of inputs; nothing was spent.
        ValueError: the ledger has another total.
    """
    with VISITORS.open(token) as record:
        _declare(record, spec)
        name = f"release {len(record.ledger.entries) + 1}: {spec.y} by {spec.built.label.lower()}"
        record.ledger.spend([(name, spec.guarantee)])
        record.digest = record.digest or digest
        return name, replace(record.ledger, entries=list(record.ledger.entries))


def keep(token: str, issued: Issued) -> None:
    """Remember the latest release, so that a reload does not lose what was paid for."""
    with VISITORS.open(token) as record:
        record.last = issued


def carry_on(card: bytes) -> None:
    """Continue the ledger of an earlier ``release.json``.

    Raises:
        ValueError: it is no such file, or it counts less than is counted here already.
    """
    earlier = ledger_from_json(card)
    with VISITORS.open(token()) as record:
        if len(earlier.entries) < len(record.ledger.entries):
            raise ValueError(
                f"that file counts {len(earlier.entries)} releases and the ledger here {len(record.ledger.entries)}; "
                "use the release.json of the latest release"
            )
        record.ledger, record.interrupted, record.digest = earlier, False, None


def make_inputs_public() -> None:
    """Record that inputs are public from now on; there is no way back."""
    with VISITORS.open(token()) as record:
        record.ledger.inputs_public = True


def begin_anew() -> None:
    """An empty ledger, for a table about other people. What the old one was about is remembered by its digest."""
    with VISITORS.open(token()) as record:
        if record.digest is not None:
            record.past.add(record.digest)
        record.ledger, record.interrupted, record.digest, record.last = Ledger(), False, None, None


def _declare(record: Record, spec: ReleaseSpec) -> None:
    if record.ledger.limit is None:
        record.ledger.limit = spec.limit
    elif record.ledger.limit.epsilon != spec.total_epsilon:
        raise ValueError(
            f"the total was declared as {record.ledger.limit.epsilon:g} and stays so, got {spec.total_epsilon:g}"
        )


def token() -> str:
    """Which browser this is: its cookie, or the session where there are no cookies."""
    cookies = st.context.cookies.to_dict()
    cookie = token_in(cookies, secure=True) or token_in(cookies, secure=False)  # the first one comes by https only
    if cookie is not None:
        return cookie
    # Without cookies the ledger lasts as long as the session
    found = OWN_TOKEN.find() or VISITORS.issue(secrets.token_urlsafe(24))
    OWN_TOKEN.put(found)
    return found
