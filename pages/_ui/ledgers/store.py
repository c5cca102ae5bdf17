"""Ledgers that last: a release is counted in a transaction before its noise is drawn, whatever happens after that.

A ledger belongs to whoever holds its token; a browser goes on with one at a time. Tokens, cookies and tables are known
by keyed digests only. It guards honest users and accidents, not the owner of the data.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from dpgp_core.accounting.guarantee import Budget, Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.release.json_text import ledger_from_object
from pages._ui.ledgers.database import Database, LedgerUnavailable, Run
from pages._ui.ledgers.joining import join, twins
from pages._ui.ledgers.keys import Key
from pages._ui.ledgers.rows import begin_again, count, head_of, loaded, spend
from pages._ui.ledgers.standing import Spent, Standing


@dataclass(frozen=True)
class Ledgers:
    """All ledgers of a server, or of several.

    Args:
        database: where they are kept.
        key: of the server.
    """

    database: Database
    key: Key

    def prepare(self) -> None:
        """Leave the key's digest in a new database, or make sure that it is this key's.

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

    def find(self, browser: str, table: str | None = None, *, everywhere: bool = False) -> Standing:
        """What the ledger of a browser says, and what is known of a table.

        Args:
            browser: its cookie.
            table: digest of the table.
            everywhere: ask all ledgers about the table, not only those that this browser went on with. To a stranger
                the answer would say whether somebody holds that very table.
        """
        with self.database.transaction(writes=False) as run:
            id = self._current(run, browser)
            ledger = Ledger() if id is None else loaded(run, id)
            counting = set() if table is None else self._knowing(run, browser, table, everywhere)
            unmade = [] if id is None else run("SELECT number FROM unmade WHERE ledger = ?", id)
        return Standing(
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
            browser: its cookie; a ledger begins for it if it has none.
            title: of what is released; the release's number comes before it.
            guarantee: of the release.
            limit: the total; that of the first release stays.
            table: digest of the table.
            because: why another ledger's count of this table does not matter; recorded.
            everywhere: see ``find``.

        Raises:
            TableKnown: another ledger counts this table, and no reason was given; nothing was spent.
            BudgetExceeded: it would pass the total; nothing was spent.
            MixedProtection: it would void the protection of inputs; nothing was spent.
            MixedRows: it hides other rows together, or says by another column whose they are; nothing was spent.
            ValueError: the ledger has another total, or the reason is too long; nothing was spent.
            LedgerUnavailable: the database cannot be used; it may have been spent all the same.
        """
        with self.database.transaction() as run:
            counting = self._knowing(run, browser, table, everywhere)
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
            loaded(run, id)  # what cannot be read again is not counted, and not released
        return Spent(id=id, name=name, ledger=ledger, token=token)

    def made(self, spent: Spent) -> None:
        """Record that a release that was counted is there to be handed out."""
        with self.database.transaction() as run:
            run("DELETE FROM unmade WHERE ledger = ? AND number = ?", spent.id, len(spent.ledger.entries))

    def declare_inputs_public(self, browser: str) -> None:
        """Record that inputs are public from now on; there is no way back."""
        with self.database.transaction() as run:
            id = self._current(run, browser)
            if id is not None:
                ledger = loaded(run, id)
                ledger.inputs_public = True
                run("UPDATE ledgers SET head = ? WHERE id = ?", head_of(ledger), id)

    def go_on(self, browser: str, token: str) -> None:
        """Have a browser go on with a token's ledger; one of its own that counts the same table becomes part of it.

        Raises ValueError if there is none, or if the two have more releases than a ledger holds.
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
        """Have a browser go on with no ledger: the next release begins one. What was counted stays, with its tables."""
        with self.database.transaction() as run:
            run("UPDATE browsers SET goes_on = 0 WHERE browser = ?", self._browser(browser))

    def new_token(self, browser: str) -> str:
        """Another token for a browser's ledger; the one before opens nothing from now on. Raises ValueError."""
        token = secrets.token_urlsafe(24)
        with self.database.transaction() as run:
            id = self._current(run, browser)
            if id is None:
                raise ValueError("there is no ledger yet; it begins with the first release")
            run("UPDATE ledgers SET owner = ? WHERE id = ?", self.key.digest("owner", token), id)
        return token

    def recover(self, browser: str, content: bytes) -> str:
        """Begin a ledger that was lost from a card that counts what it did, and return its token.

        Raises:
            ValueError: the card is not as it was signed here, or its ledger is not lost.
        """
        card = self.key.believed(content)
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
        """A release's card with the number of its ledger, signed."""
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

    def _knowing(self, run: Run, browser: str, table: str, everywhere: bool) -> set[str]:
        """The ledgers that count a table."""
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
