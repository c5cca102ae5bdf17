"""Ledgers in a database, of both kinds: tables, browsers, tokens and cards."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dpgp_core.accounting.ledger import BudgetExceeded, MixedProtection
from dpgp_core.accounting.losses import GaussianLoss, compose
from dpgp_core.release.json_text import ledger_to_object
from pages._ui.ledgers.databases import LedgerUnavailable, Postgres, Sqlite
from pages._ui.ledgers.store import AlreadyCounted, Key, Ledgers
from tests.ledgers.stores import KEY, LIMIT, NO_LIMIT, ONE, OTHER, TABLE, A, B, C, counted, spend


def card(ledgers, spent):
    found = {"schema": 1, "ledger": ledger_to_object(spent.ledger), "values": {"rows": 3}}
    return json.dumps(ledgers.sealed(found, spent.id)).encode()


def test_spending_survives_a_restart_for_one_browser(ledgers, database):
    first = spend(ledgers)
    second = spend(ledgers)
    assert (first.name, second.name) == ("release 1: y by a mechanism", "release 2: y by a mechanism")
    assert first.token is not None
    assert second.token is None
    assert first.id == second.id
    again = Ledgers(database, KEY)
    again.prepare()
    assert again.find(A).ledger == second.ledger
    assert again.find(A).ledger.limit == LIMIT
    other = again.find(B, OTHER, everywhere=True)
    assert (other.id, other.ledger.entries, other.counts, other.elsewhere) == (None, [], False, False)


def test_a_token_takes_a_ledger_to_another_browser(ledgers):
    token = spend(ledgers).token
    ledgers.go_on(B, f"  {token}\n")
    assert ledgers.find(B) == ledgers.find(A)
    spend(ledgers, B)
    assert counted(ledgers, A) == counted(ledgers, B) == 2
    for wrong in ("", token[:-1], A, token.swapcase()):
        with pytest.raises(ValueError, match="no ledger here has that token"):
            ledgers.go_on(B, wrong)


def test_a_new_token_ends_the_old_one(ledgers):
    old = spend(ledgers).token
    new = ledgers.new_token(A)
    with pytest.raises(ValueError, match="no ledger here"):
        ledgers.go_on(B, old)
    ledgers.go_on(B, new)
    assert counted(ledgers, B) == 1
    with pytest.raises(ValueError, match="there is no ledger yet"):
        ledgers.new_token("c" * 32)


def test_two_ledgers_of_a_table_become_one(ledgers):
    token, second = spend(ledgers).token, spend(ledgers, B).token  # as strangers: each may spend its whole total
    spend(ledgers, C, OTHER)
    ledgers.go_on(C, second)
    ledgers.go_on(B, token)
    joined = ledgers.find(B, TABLE)
    assert [name for name, _ in joined.ledger.entries] == [
        "release 1: y by a mechanism",
        "joined: release 1: y by a mechanism",
    ]
    assert joined.ledger.epsilon(0.01) == compose([ONE.loss] * 2, 0.01)
    assert (joined.counts, joined.elsewhere) == (True, False)
    assert ledgers.find(A, TABLE) == ledgers.find(C, TABLE) == joined  # also for those who went on with either
    for browser in (A, B, C):
        with pytest.raises(BudgetExceeded):
            spend(ledgers, browser, limit=LIMIT, guarantee=replace(ONE, loss=GaussianLoss(0.6)))
    with pytest.raises(ValueError, match="no ledger here has that token"):
        ledgers.go_on(A, second)
    ledgers.go_on(B, token)
    assert counted(ledgers, B) == 2  # once


def test_joined_ledgers_never_release_more_than_they_count(ledgers):
    made = [spend(ledgers, browser, limit=NO_LIMIT) for browser in (A, B, A, B, B)]
    ledgers.go_on(A, made[1].token)
    for browser in (A, B):
        spend(ledgers, browser, limit=NO_LIMIT)
    assert counted(ledgers, A) == counted(ledgers, B) == len(made) + 2


def test_ledgers_of_other_tables_stay_separate(ledgers):
    token = spend(ledgers).token
    spend(ledgers, B, OTHER)
    ledgers.go_on(B, token)
    assert counted(ledgers, B) == 1
    ledgers.begin_anew(A)
    assert ledgers.find(A).id is None
    apart = spend(ledgers, because="a rehearsal").token
    for each in (token, apart):  # a browser comes back to a ledger that it left
        ledgers.go_on(A, each)
        assert counted(ledgers, A) == 1


def test_a_public_declaration_is_kept_when_ledgers_join(ledgers):
    token = spend(ledgers).token
    spend(ledgers, B, guarantee=replace(ONE, protects="inputs and outputs"))
    ledgers.go_on(B, token)
    with pytest.raises(MixedProtection):
        spend(ledgers, B)
    ledgers.declare_inputs_public(C)  # nothing to declare yet
    third = spend(ledgers, C).token
    assert not ledgers.find(C).ledger.inputs_public
    ledgers.declare_inputs_public(C)
    ledgers.go_on(A, third)
    assert ledgers.find(A).ledger.inputs_public


def test_ledgers_with_too_many_releases_are_not_joined(ledgers, monkeypatch):
    monkeypatch.setattr("pages._ui.ledgers.store.MAX_ENTRIES", 1)
    token = spend(ledgers).token
    spend(ledgers, B)
    with pytest.raises(ValueError, match="2 releases together, more than the 1 of a ledger"):
        ledgers.go_on(B, token)
    assert counted(ledgers, A) == counted(ledgers, B) == 1


def test_a_card_of_a_joined_ledger_recovers_nothing(ledgers):
    token, second = spend(ledgers).token, spend(ledgers, B)
    content = card(ledgers, second)
    ledgers.go_on(B, token)
    with pytest.raises(ValueError, match="that ledger is kept here"):
        ledgers.recover(C, content)


def test_a_table_counted_elsewhere_needs_a_reason(ledgers):
    spend(ledgers)
    ledgers.begin_anew(A)
    found = ledgers.find(A, TABLE)
    assert (found.counts, found.elsewhere) == (False, True)
    assert not ledgers.find(A, OTHER).elsewhere
    for because in ("", "  \n "):
        with pytest.raises(AlreadyCounted, match="Go on with that ledger, or say why"):
            spend(ledgers, because=because)
    for because in ("x" * 1001, "a\x00b", "\ud800"):
        with pytest.raises(ValueError, match="all reasons of a ledger must be a line"):
            spend(ledgers, because=because)
    assert ledgers.find(A).id is None
    assert spend(ledgers, because=" a  rehearsal ").ledger.begun_again == "a rehearsal"
    assert spend(ledgers).ledger.begun_again == "a rehearsal"  # it need not be said twice
    spend(ledgers, table=OTHER, because="not needed")
    assert ledgers.find(A).ledger.begun_again == "a rehearsal"
    found = ledgers.find(A, TABLE)
    assert (found.counts, found.elsewhere) == (True, True)


def test_a_counted_release_never_made_is_remembered(ledgers):
    made, failed = spend(ledgers), spend(ledgers)
    assert ledgers.find(A).unmade == {1, 2}
    ledgers.made(made)
    assert ledgers.find(A).unmade == {2}
    ledgers.made(made)
    assert ledgers.find(A).unmade == {2}
    token = spend(ledgers, B).token
    ledgers.go_on(A, token)  # the ledger of A becomes part of that of B
    assert ledgers.find(A).unmade == {1, 3}
    assert len(failed.ledger.entries) == 2


def test_all_ledgers_are_asked_only_if_allowed(ledgers):
    spend(ledgers)
    assert not ledgers.find(B, TABLE).elsewhere
    assert ledgers.find(B, TABLE, everywhere=True).elsewhere
    with pytest.raises(AlreadyCounted):
        spend(ledgers, B, everywhere=True)
    assert spend(ledgers, B).name.startswith("release 1")


def test_secrets_and_tables_are_not_in_the_database(ledgers, database):
    token = spend(ledgers).token
    with database.transaction(writes=False) as run:
        found = [
            run(f"SELECT * FROM {name}") for name in ("about", "ledgers", "releases", "unmade", "seen", "browsers")
        ]
    text = repr(found)
    assert "y by a mechanism" in text  # it is the right database
    for secret in (token, A, TABLE):
        assert secret not in text


def test_another_key_is_refused(ledgers, database):
    with pytest.raises(LedgerUnavailable, match="made with another key"):
        Ledgers(database, Key(b"x" * 32)).prepare()
    ledgers.prepare()


def test_what_goes_wrong_inside_a_transaction_is_undone(database):
    def fail():
        with database.transaction() as run:
            run("INSERT INTO about (name, value) VALUES ('x', 'y')")
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        fail()
    with database.transaction() as run:
        assert run("SELECT * FROM about") == []


def test_a_count_is_stored_before_noise_is_drawn(database):
    asked = ("PRAGMA synchronous", 2) if isinstance(database, Sqlite) else ("SHOW synchronous_commit", "on")
    with database.transaction() as run:
        assert run(asked[0]) == [asked[1:]]


def test_a_missing_or_unreadable_release_is_noticed(ledgers, database):
    for _ in range(2):
        spend(ledgers, limit=NO_LIMIT)
    with database.transaction() as run:
        run("UPDATE releases SET entry = ? WHERE number = 2", json.dumps({"what": "x"}))
    with pytest.raises(LedgerUnavailable, match="this ledger is damaged"):
        ledgers.find(A)
    with database.transaction() as run:
        run("DELETE FROM releases WHERE number = 1")
    with pytest.raises(LedgerUnavailable, match="a release is missing"):
        spend(ledgers, limit=NO_LIMIT)


def test_an_unreadable_count_is_refused(ledgers):
    with pytest.raises(LedgerUnavailable, match="damaged"):
        spend(ledgers, guarantee=replace(ONE, unit="x" * 3000))
    assert ledgers.find(A).id is None


def test_a_signed_card_recovers_a_lost_ledger(ledgers, database):
    spend(ledgers)
    spent = spend(ledgers)
    content = card(ledgers, spent)
    with pytest.raises(ValueError, match="that ledger is kept here, and goes on by its token"):
        ledgers.recover(B, content)
    with database.transaction() as run:
        for name in ("browsers", "seen", "unmade", "releases", "ledgers"):
            run(f"DELETE FROM {name}")
    token = ledgers.recover(B, content)
    assert ledgers.find(B).ledger == spent.ledger
    ledgers.go_on(A, token)
    assert counted(ledgers) == 2
    with pytest.raises(ValueError, match="is kept here"):
        ledgers.recover(B, content)


@pytest.mark.parametrize(
    "edit",
    [
        lambda card: card["ledger"]["entries"].pop(),
        lambda card: card["ledger"]["limit"].update(epsilon=2.5),
        lambda card: card.update(ledger_id="0" * 16),
        lambda card: card.pop("signature"),
        lambda card: card["signature"].update(value="0" * 64),
        lambda card: card["signature"].update(value="é"),
        lambda card: card.update(signature="x"),
        lambda card: card.update(more=1),
    ],
)
def test_an_edited_card_is_not_believed(ledgers, edit):
    found = json.loads(card(ledgers, spend(ledgers)))
    assert ledgers.key.verified(json.dumps(found, indent=1).encode())  # other spaces are the same card
    edit(found)
    with pytest.raises(ValueError, match="is not believed"):
        ledgers.recover(B, json.dumps(found).encode())


def test_two_tabs_begin_one_ledger(ledgers):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: spend(ledgers, limit=NO_LIMIT), range(8)))
    assert len({spent.id for spent in found}) == 1
    assert sorted(spent.name.split(":")[0] for spent in found) == [f"release {k}" for k in range(1, 9)]
    assert sum(spent.token is not None for spent in found) == 1


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_lost_file_is_not_made_anew(ledgers, database):
    spend(ledgers)
    database.path.unlink()
    with pytest.raises(LedgerUnavailable, match=r"cannot be used now .* nothing was released"):
        spend(ledgers)
    assert not database.path.exists()


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"x" * 4000])
def test_a_file_that_is_no_database_is_explained(tmp_path, content):
    path = tmp_path / "l"
    path.write_bytes(content)
    with pytest.raises(LedgerUnavailable, match="cannot be used now"):
        spend(Ledgers(Sqlite(path), KEY))


def test_an_unreachable_database_is_explained_without_its_address(tmp_path):
    away = Ledgers(Postgres(f"host={tmp_path} user=somebody password=hidden7316 dbname=x"), KEY)
    with pytest.raises(LedgerUnavailable, match=r"cannot be used now \(OperationalError\)") as refused:
        spend(away)
    assert "hidden7316" not in str(refused.value) + repr(away)


def test_a_card_with_a_huge_number_is_explained(ledgers):
    with pytest.raises(
        ValueError, match=r"^release.json holds a number beyond 1\.8e308, which nobody can compute with;"
    ):
        ledgers.recover(B, b'{"schema": 1, "ledger_id": 1e400, "signature": {"value": "ab"}}')
