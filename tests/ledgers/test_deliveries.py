from pages._ui.ledgers.state import Deliveries, Issued


def test_the_latest_release_of_a_ledger_is_found_again_and_nobody_elses():
    kept = Deliveries()
    kept.keep("a", Issued("one", b"1"))
    kept.keep("a", Issued("two", b"2"))
    assert kept.find("a") == Issued("two", b"2")
    assert kept.find("b") is None
    assert kept.find(None) is None


def test_memory_is_bounded_and_the_least_recently_used_goes_first():
    kept = Deliveries(most_bytes=10)
    kept.keep("a", Issued("a", b"1234"))
    kept.keep("b", Issued("b", b"1234"))
    kept.find("a")
    kept.keep("c", Issued("c", b"1234"))
    assert [kept.find(name) is not None for name in "abc"] == [True, False, True]
    kept.keep("d", Issued("d", b"x" * 100))  # the latest can always be fetched
    assert [kept.find(name) is not None for name in "abcd"] == [False, False, False, True]
