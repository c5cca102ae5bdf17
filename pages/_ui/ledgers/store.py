"""Ledgers in a database, one for each table: its releases, their sum, its owner and its total."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dpgp_core.accounting.guarantee import Budget, Guarantee
from dpgp_core.accounting.ledger import BudgetExceeded, Ledger
from dpgp_core.release.json_text import MAX_ENTRIES, entry_to_object, ledger_from_object, ledger_to_object, read_object
from pages._ui.ledgers.databases import LedgerUnavailable, Postgres, Run, Sqlite

_LETTERS = 1000  # characters of an owner's reason


class AlreadyCounted(ValueError):
    """Raised if a release is refused because another ledger counts the same table."""


def head_of(ledger: Ledger) -> str:
    """Return a ledger without its releases, as text."""
    return json.dumps(ledger_to_object(replace(ledger, entries=[])))


def loaded(run: Run, id: str) -> Ledger:
    """Return a ledger as it is in the database.

    Raises:
        LedgerUnavailable: a part of it is missing or unreadable.
    """
    [[head]] = run("SELECT head FROM ledgers WHERE id = ?", id)
    rows = run("SELECT number, entry FROM releases WHERE ledger = ? ORDER BY number", id)
    try:
        if [row[0] for row in rows] != list(range(1, len(rows) + 1)):
            raise ValueError("a release is missing")
        return ledger_from_object({**json.loads(head), "entries": [json.loads(row[1]) for row in rows]})
    except ValueError as error:
        raise LedgerUnavailable(
            f"this ledger is damaged ({error}); nothing was released. Ask whoever runs this server for its backup"
        ) from None


def count(run: Run, id: str, number: int, entry: tuple[str, Guarantee]) -> None:
    """Write a release into its ledger."""
    text = json.dumps(entry_to_object(*entry), allow_nan=False)
    run("INSERT INTO releases (ledger, number, entry) VALUES (?, ?, ?)", id, number, text)


def begin_again(ledger: Ledger, because: str) -> None:
    """Record why a table is counted from zero.

    Raises:
        AlreadyCounted: no reason is given.
    """
    reason = " ".join(because.split())
    if not reason:
        raise AlreadyCounted(
            "another ledger counts releases of this very table, and beginning again would hide what they cost. Go on "
            "with that ledger, or say why its count does not matter: the reason will be on the release's card"
        )
    reasons = f"{ledger.begun_again}; {reason}".removeprefix("; ")
    if len(reasons) > _LETTERS or not reasons.isprintable():
        raise ValueError(f"all reasons of a ledger must be a line of at most {_LETTERS} letters, got {len(reasons)}")
    ledger.begun_again = reasons


def spend(ledger: Ledger, entry: tuple[str, Guarantee], limit: Budget) -> None:
    """Spend under the declared total.

    Raises:
        ValueError: the ledger has another total.
        BudgetExceeded: the total would be exceeded.
        MixedProtection: the release would void the protection of inputs.
        MixedRows: the release has another privacy unit.
    """
    if ledger.limit is None or ledger.limit.epsilon != limit.epsilon:
        declared = "none" if ledger.limit is None else f"{ledger.limit.epsilon:g}"
        raise ValueError(f"the total was declared as {declared} and stays so, got {limit.epsilon:g}")
    if len(ledger.entries) >= MAX_ENTRIES:
        raise BudgetExceeded(f"the ledger is full: it has {MAX_ENTRIES} entries")
    ledger.spend([entry])


@dataclass(frozen=True, kw_only=True)
class Account:
    """Ledger of a browser.

    Attributes:
        id: identifier of the ledger, not a secret; None before the first release.
        ledger: its releases.
        counts: whether this ledger has counted a release of the table in question.
        elsewhere: whether another ledger has.
        unmade: numbers, from 1, of the releases that were counted but not handed out.
    """

    id: str | None
    ledger: Ledger
    counts: bool = False
    elsewhere: bool = False
    unmade: frozenset[int] = frozenset()

    @property
    def spent(self) -> float:
        """Epsilon of all releases together, at the delta that the first one declared."""
        limit = self.ledger.limit
        return 0.0 if limit is None else self.ledger.epsilon(limit.delta)

    @property
    def rest(self) -> float:
        """Declared total minus ``spent``. It is smaller than ``left`` if privacy losses add up in squares."""
        limit = self.ledger.limit
        return 0.0 if limit is None else limit.epsilon - self.spent

    @property
    def left(self) -> float:
        """Epsilon that a further Gaussian release may have; 0 before the first release declares a total."""
        return 0.0 if self.ledger.limit is None else self.ledger.epsilon_left()


@dataclass(frozen=True, kw_only=True)
class Spent:
    """A release that has been counted.

    Attributes:
        ledger: all releases including this one.
        token: token of the ledger if it began with this release. The token itself is not stored.
    """

    id: str
    name: str
    ledger: Ledger
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Ledgers:
    """All ledgers of a server, or of several servers that share a database."""

    database: Sqlite | Postgres
    key: Key

    def prepare(self) -> None:
        """Write the key's digest to a new database, or check that an existing one belongs to this key.

        Raises:
            LedgerUnavailable: the database cannot be used, or belongs to another key.
        """
        mine = self.key.digest("about", "key")
        with self.database.transaction() as run:
            run("INSERT INTO about (name, value) VALUES ('key', ?) ON CONFLICT DO NOTHING", mine)
            if run("SELECT value FROM about WHERE name = 'key'") != [(mine,)]:
                raise LedgerUnavailable(
                    "these ledgers were made with another key, so no token and no card of theirs would be known. Set "
                    "DPGP_LEDGER_KEY to that key, or restore the file 'key' of the state folder from a backup"
                )

    def find(self, browser: str, table: str | None = None, *, everywhere: bool = False) -> Account:
        """Return the ledger of a browser, and whether a table is counted anywhere.

        Args:
            browser: cookie of the browser.
            table: digest of the table.
            everywhere: whether to ask all ledgers about the table, not only those of this browser. The answer tells a
                stranger whether somebody has that very table.
        """
        with self.database.transaction(writes=False) as run:
            id = self._current(run, browser)
            ledger = Ledger() if id is None else loaded(run, id)
            counting = set() if table is None else self._counting(run, browser, table, everywhere)
            unmade = [] if id is None else run("SELECT number FROM unmade WHERE ledger = ?", id)
        return Account(
            id=id,
            ledger=ledger,
            counts=id in counting,
            elsewhere=bool(counting - {id}),
            unmade=frozenset(int(row[0]) for row in unmade),
        )

    def spend(
        self,
        browser: str,
        title: str,
        guarantee: Guarantee,
        limit: Budget,
        table: str,
        *,
        because: str = "",
        everywhere: bool = False,
    ) -> Spent:
        """Count a release before it is made.

        Args:
            browser: cookie of the browser; a ledger begins for it if it has none.
            title: title of the release, which is preceded by its number.
            guarantee: guarantee of the release.
            limit: total budget; that of the first release stays.
            table: digest of the table.
            because: why another ledger's count of this table does not matter; the reason is recorded.
            everywhere: see ``find``.

        Raises:
            AlreadyCounted: another ledger counts this table, and no reason was given; nothing was spent.
            BudgetExceeded: the release would exceed the total; nothing was spent.
            MixedProtection: the release would void the protection of inputs; nothing was spent.
            MixedRows: the release has another privacy unit, or identifies people by another column; nothing was spent.
            ValueError: the ledger has another total, or the reason is too long; nothing was spent.
            LedgerUnavailable: the database cannot be used; it may have been spent all the same.
        """
        with self.database.transaction() as run:
            counting = self._counting(run, browser, table, everywhere)
            id = self._current(run, browser)
            token = None
            if id is None:
                id, token = self._begun(run, browser, Ledger(limit=limit))
            ledger = loaded(run, id)
            if counting and id not in counting:
                begin_again(ledger, because)
            number = len(ledger.entries) + 1
            name = f"release {number}: {title}"
            spend(ledger, (name, guarantee), limit)
            count(run, id, number, (name, guarantee))
            run("INSERT INTO unmade (ledger, number) VALUES (?, ?)", id, number)
            run("UPDATE ledgers SET head = ? WHERE id = ?", head_of(ledger), id)
            run("INSERT INTO seen (digest, ledger) VALUES (?, ?) ON CONFLICT DO NOTHING", self._table(table), id)
            loaded(run, id)  # a release that could not be read again is neither counted nor made
        return Spent(id=id, name=name, ledger=ledger, token=token)

    def made(self, spent: Spent) -> None:
        """Record that a counted release is ready to be handed out."""
        with self.database.transaction() as run:
            run("DELETE FROM unmade WHERE ledger = ? AND number = ?", spent.id, len(spent.ledger.entries))

    def declare_inputs_public(self, browser: str) -> None:
        """Record that inputs are public from now on. This cannot be undone."""
        with self.database.transaction() as run:
            id = self._current(run, browser)
            if id is not None:
                ledger = loaded(run, id)
                ledger.inputs_public = True
                run("UPDATE ledgers SET head = ? WHERE id = ?", head_of(ledger), id)

    def go_on(self, browser: str, token: str) -> None:
        """Connect a browser to a token's ledger. The browser's own ledger becomes part of it if both count the same
        table.

        Raises:
            ValueError: there is no such ledger, or both together have more releases than a ledger holds.
        """
        with self.database.transaction() as run:
            owned = run("SELECT id FROM ledgers WHERE owner = ?", self.key.digest("owner", token.strip()))
            if not owned:
                raise ValueError("no ledger here has that token; copy the whole of it, as it was shown")
            id = str(owned[0][0])
            for other in twins(run, id, self._browser(browser)):
                join(run, other, id, self.key.digest("owner", secrets.token_urlsafe(24)))
            self._take(run, browser, id)

    def begin_anew(self, browser: str) -> None:
        """Disconnect a browser from its ledger, so that the next release begins one. All counts stay with their
        tables.
        """
        with self.database.transaction() as run:
            run("UPDATE browsers SET goes_on = 0 WHERE browser = ?", self._browser(browser))

    def new_token(self, browser: str) -> str:
        """Return a new token for a browser's ledger. The previous one stops working.

        Raises:
            ValueError: the browser has no ledger.
        """
        token = secrets.token_urlsafe(24)
        with self.database.transaction() as run:
            id = self._current(run, browser)
            if id is None:
                raise ValueError("there is no ledger yet; it begins with the first release")
            run("UPDATE ledgers SET owner = ? WHERE id = ?", self.key.digest("owner", token), id)
        return token

    def recover(self, browser: str, content: bytes) -> str:
        """Begin a lost ledger again from a card with its releases, and return its token.

        Raises:
            ValueError: the card was changed or was not signed here, or its ledger is not lost.
        """
        card = self.key.verified(content)
        id, ledger = str(card.get("ledger_id")), ledger_from_object(card.get("ledger"))
        with self.database.transaction() as run:
            if run("SELECT id FROM ledgers WHERE id = ?", id):
                raise ValueError(
                    "that ledger is kept here, and goes on by its token; a card goes on from a lost one only"
                )
            _, token = self._begun(run, browser, ledger, id)
            for number, entry in enumerate(ledger.entries, 1):
                count(run, id, number, entry)
        return token

    def sealed(self, card: dict[str, Any], id: str) -> dict[str, Any]:
        """Return a release's card with the number of its ledger and a signature."""
        return self.key.signed({**card, "ledger_id": id})

    def _begun(self, run: Run, browser: str, ledger: Ledger, id: str | None = None) -> tuple[str, str]:
        id, token = id or secrets.token_hex(8), secrets.token_urlsafe(24)
        owner = self.key.digest("owner", token)
        run("INSERT INTO ledgers (id, owner, head) VALUES (?, ?, ?)", id, owner, head_of(ledger))
        self._take(run, browser, id)
        return id, token

    def _take(self, run: Run, browser: str, id: str) -> None:
        run("UPDATE browsers SET goes_on = 0 WHERE browser = ?", self._browser(browser))
        run("DELETE FROM browsers WHERE browser = ? AND ledger = ?", self._browser(browser), id)
        run("INSERT INTO browsers (browser, ledger, goes_on) VALUES (?, ?, 1)", self._browser(browser), id)

    def _current(self, run: Run, browser: str) -> str | None:
        row = run("SELECT ledger FROM browsers WHERE browser = ? AND goes_on = 1", self._browser(browser))
        return str(row[0][0]) if row else None

    def _counting(self, run: Run, browser: str, table: str, everywhere: bool) -> set[str]:
        """Return the ledgers that count a table."""
        everybodys = {str(row[0]) for row in run("SELECT ledger FROM seen WHERE digest = ?", self._table(table))}
        if everywhere:
            return everybodys
        return everybodys & {
            str(row[0]) for row in run("SELECT ledger FROM browsers WHERE browser = ?", self._browser(browser))
        }

    def _browser(self, token: str) -> str:
        return self.key.digest("browser", token)

    def _table(self, digest: str) -> str:
        return self.key.digest("table", digest)


def twins(run: Run, id: str, browser: str) -> list[str]:
    """Return other ledgers of a browser that count one of this ledger's tables, unless their owner has given a reason.

    Args:
        id: ledger to which the browser is connected.
        browser: digest of the browser's cookie.
    """
    rows = run(
        "SELECT DISTINCT theirs.ledger FROM seen AS theirs JOIN seen AS ours ON ours.digest = theirs.digest "
        "JOIN browsers ON browsers.ledger = theirs.ledger "
        "WHERE ours.ledger = ? AND theirs.ledger <> ? AND browsers.browser = ? ORDER BY theirs.ledger",
        *(id, id, browser),
    )
    if loaded(run, id).begun_again:
        return []
    return [other for (other,) in rows if not loaded(run, other).begun_again]


def join(run: Run, other: str, id: str, nobody: str) -> None:
    """Count the releases of another ledger in this one, and connect the other's browsers to it.

    The total of this ledger stays. If both sums together exceed it, nothing more can be released. The other ledger's
    token stops working, and it cannot be recovered from its cards.

    Args:
        other: ledger that ends.
        id: ledger that continues.
        nobody: digest of a token that nobody has.

    Raises:
        ValueError: together they have more releases than a ledger holds.
    """
    ours, theirs = loaded(run, id), loaded(run, other)
    total = len(ours.entries) + len(theirs.entries)
    if total > MAX_ENTRIES:
        raise ValueError(
            f"this browser's ledger counts the same table. The two have {total} releases together, more than the "
            f"{MAX_ENTRIES} of a ledger. Go on with the one you have"
        )
    for number, (text, guarantee) in enumerate(theirs.entries, len(ours.entries) + 1):
        count(run, id, number, (f"joined: {text}", guarantee))
    run("INSERT INTO unmade SELECT ?, number + ? FROM unmade WHERE ledger = ?", id, len(ours.entries), other)
    run("DELETE FROM unmade WHERE ledger = ?", other)
    ours.inputs_public = ours.inputs_public or theirs.inputs_public
    run("UPDATE ledgers SET head = ? WHERE id = ?", head_of(ours), id)
    run("UPDATE ledgers SET owner = ? WHERE id = ?", nobody, other)
    run("INSERT INTO seen SELECT digest, ? FROM seen WHERE ledger = ? ON CONFLICT DO NOTHING", id, other)
    run("DELETE FROM seen WHERE ledger = ?", other)
    run(
        "INSERT INTO browsers (browser, ledger, goes_on) SELECT browser, ?, goes_on FROM browsers WHERE ledger = ? "
        "ON CONFLICT (browser, ledger) DO UPDATE SET goes_on = browsers.goes_on + excluded.goes_on",  # one is 0
        *(id, other),
    )
    run("DELETE FROM browsers WHERE ledger = ?", other)
    loaded(run, id)


ALGORITHM = "HMAC-SHA256"
_LEAST_BYTES = 32


@dataclass(frozen=True)
class Key:
    """A secret of this server, or of all servers that share their ledgers.

    Args:
        secret: at least 32 random bytes.
    """

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, text: str) -> Key:
        """Read a key from hexadecimal digits.

        Raises:
            ValueError: there are fewer than 64 digits, or they are not hexadecimal. The message does not repeat them.
        """
        secret = bytes.fromhex(text.strip())
        if len(secret) < _LEAST_BYTES:
            raise ValueError(f"a key has at least {_LEAST_BYTES} bytes, got {len(secret)}")
        return cls(secret)

    def digest(self, kind: str, text: str) -> str:
        """Return the HMAC-SHA256 of a text, different for every kind. Without the key nobody can guess or check the
        text.
        """
        return hmac.new(self.secret, f"{kind}\0{text}".encode(), "sha256").hexdigest()

    def signed(self, card: Mapping[str, Any]) -> dict[str, Any]:
        """Return a card with this server's signature after all its fields."""
        return {**card, "signature": {"algorithm": ALGORITHM, "value": self._signature(card)}}

    def verified(self, content: bytes) -> dict[str, Any]:
        """Return a card that was signed with this key, without the signature.

        Raises:
            ValueError: it is not a card, was not signed with this key, or was changed afterwards.
        """
        card = read_object(content, "release.json")
        signature = card.pop("signature", None)
        value = signature.get("value") if isinstance(signature, dict) else None
        if not isinstance(value, str) or not value.isascii() or not hmac.compare_digest(value, self._signature(card)):
            raise ValueError(
                "that release.json is not as this server signed it, so what it counts is not believed. Use the file "
                "as it was downloaded here, or the token of its ledger"
            )
        return card

    def _signature(self, card: Mapping[str, Any]) -> str:
        plain = {name: value for name, value in card.items() if name != "signature"}
        return self.digest("card", json.dumps(plain, sort_keys=True, ensure_ascii=True, allow_nan=False))
