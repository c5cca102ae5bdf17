"""A ledger in a file, and one in a database, by the same calls; each call opens it anew, as a restart does."""

from __future__ import annotations

import secrets
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from dpgp_core.accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.release import ledger_file
from dpgp_core.release.ledger_file import read_ledger_file, spend_in_file
from pages._ui.ledgers import databases, state, store
from pages._ui.ledgers.databases import Postgres, Sqlite
from pages._ui.ledgers.store import Key, Ledgers

A, B, C = "a" * 32, "b" * 32, "c" * 32  # browsers
TABLE, OTHER = "1" * 64, "2" * 64
KEY = Key(b"k" * 32)
LIMIT, NO_LIMIT = Budget(epsilon=1.5, delta=0.01), Budget(epsilon=1e5, delta=0.01)
ONE = Guarantee(
    budget=Budget(epsilon=1.0, delta=0.01),
    loss=GaussianLoss(0.4),
    protects="outputs",
    neighbours=ONE_OUTPUT,
    unit="one value",
    theorem="made up",
    assumptions=(),
    not_covered=(),
)


def spend(ledgers, browser=A, table=TABLE, limit=LIMIT, guarantee=ONE, **options):
    return ledgers.spend(browser, "y by a mechanism", guarantee, limit, table, **options)


def counted(ledgers, browser=A):
    return len(ledgers.find(browser).ledger.entries)


class InFile(NamedTuple):
    """For the command line."""

    path: Path
    modules: tuple[ModuleType, ...] = (ledger_file,)  # of what counts

    def spend(self, guarantee=ONE, limit=LIMIT, inputs_public=False):
        start = Ledger(limit=limit, inputs_public=inputs_public)
        return spend_in_file(str(self.path), start, ("y by a mechanism", guarantee), new=not self._begun())

    def declare_inputs_public(self):
        self.spend(inputs_public=True)  # counted with the release that says so

    def ledger(self):
        return read_ledger_file(str(self.path)) if self._begun() else Ledger()

    def _begun(self):
        return self.path.exists() and self.path.stat().st_size > 0

    def begin_anew(self):
        self.path.unlink(missing_ok=True)

    def spenders(self):
        return [self.spend] * 8


class InDatabase(NamedTuple):
    """For a browser, on a server of several replicas."""

    database: Sqlite | Postgres
    modules: tuple[ModuleType, ...] = (store, databases, state)

    def _ledgers(self):
        found = Ledgers(self.database, KEY)
        found.prepare()
        return found

    def spend(self, guarantee=ONE, limit=LIMIT):
        return spend(self._ledgers(), limit=limit, guarantee=guarantee, because="a new ledger").ledger

    def declare_inputs_public(self):
        self._ledgers().declare_inputs_public(A)
        self.spend()

    def ledger(self):
        return self._ledgers().find(A).ledger

    def begin_anew(self):
        self._ledgers().begin_anew(A)

    def spenders(self):
        browsers, token = [secrets.token_hex(16) for _ in range(4)], self._ledgers().new_token(A)
        for browser in browsers:
            self._ledgers().go_on(browser, token)
        return [partial(spend, self._ledgers(), browser) for browser in browsers * 2]
