"""What is known of a ledger: before a release, and when one has been counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpgp_core.accounting.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a browser's ledger says.

    Attributes:
        id: of the ledger, which says nothing else and opens nothing; None before the first release.
        ledger: what was spent.
        counts: whether this ledger has counted a release of the table that was asked about.
        elsewhere: whether another one has.
        unmade: numbers of the releases that were counted and not handed out, the first being 1.
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
        """The declared total less what is spent: less than ``left`` where losses add up in squares."""
        limit = self.ledger.limit
        return 0.0 if limit is None else limit.epsilon - self.spent

    @property
    def left(self) -> float:
        """Epsilon that a further Gaussian release may have; 0 before the first release declares a total."""
        return 0.0 if self.ledger.limit is None else self.ledger.epsilon_left()


@dataclass(frozen=True, kw_only=True)
class Spent:
    """A release that counts from now on.

    Attributes:
        id: of its ledger.
        name: of the release.
        ledger: all that is spent, this release included.
        token: of the ledger, if it began with this release; it is kept nowhere.
    """

    id: str
    name: str
    ledger: Ledger
    token: str | None = field(default=None, repr=False)
