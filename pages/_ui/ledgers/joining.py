"""Two ledgers of one owner for the same table: each would let out as much as it was given, so they become one.

A browser that nobody knows begins a ledger of its own, also for a table that its owner released elsewhere. As soon as
it shows the token of the other one, both are known to be its owner's: from then on one ledger counts what either did.
"""

from __future__ import annotations

from dpgp_core.release.json_text import MAX_ENTRIES
from pages._ui.ledgers.database import Run
from pages._ui.ledgers.rows import count, head_of, loaded


def twins(run: Run, id: str, browser: str) -> list[str]:
    """Ledgers of a browser that count a table which this one counts too, unless an owner has said why that is right.

    Args:
        run: the transaction.
        id: the ledger that the browser goes on with now.
        browser: digest of its cookie.
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
    """Count in one ledger what another did, and have whoever went on with the other go on with it.

    The total stays that of the ledger that goes on; what the two have spent together may be above it, and then nothing
    more is released. The other's token opens nothing from now on, and its cards begin nothing.

    Args:
        run: the transaction.
        other: the ledger that ends.
        id: the ledger that goes on.
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
