import pytest

from pages._ui.visitor import fresh, known_by, well_formed

A, B, C = ("a" * 22, "b" * 32, "c" * 64)


@pytest.mark.parametrize("token", [A, B, C, "-_" * 11])
def test_tokens_of_at_least_128_bits_are_accepted(token):
    assert well_formed(token)


@pytest.mark.parametrize(
    "token", [None, "", "a" * 21, "a" * 65, "a" * 21 + "\n", "a" * 22 + "\n", "a" * 21 + ";", "é" * 22]
)
def test_anything_else_is_not(token):
    assert not well_formed(token)


def test_fresh_tokens_differ_and_are_well_formed():
    tokens = {fresh() for _ in range(100)}
    assert len(tokens) == 100
    assert all(map(well_formed, tokens))


def test_a_proposal_is_taken_only_if_well_formed():
    assert fresh(B) == B
    assert fresh("short") != "short"
    assert well_formed(fresh("short"))


def test_the_https_cookie_takes_precedence():
    assert known_by({"dpgp_session": A, "__Host-dpgp_session": B}) == B
    assert known_by({"dpgp_session": A}) == A
    assert known_by({"dpgp_session": "short"}) is None
