import pytest

from dpgp_core import checks


@pytest.mark.parametrize("value", ["a\nb", "a\x00", "\ud800", "\u2028", "\x85", "\x7f", "a\tb"])
def test_text_must_be_one_visible_line(value):
    with pytest.raises(ValueError, match="one line of visible text"):
        checks.text("unit", value)


@pytest.mark.parametrize("value", ["age", "=age", "größe (cm)", "身長", "€/m²", 'O\'Neil "x"', "a\u200cb"])
def test_text_of_any_language_is_accepted(value):
    assert checks.text("unit", value) == value


@pytest.mark.parametrize(
    ("value", "message"), [(3, "must be text in quotes, got 3"), (" a", "start or end with a space")]
)
def test_other_text_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        checks.text("unit", value)


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, 10**5000, -(10**400), [[1] * 10**5], {"a": {}}, None, 1e308, True],
    ids=lambda value: type(value).__name__,
)
def test_any_value_is_shown_briefly(value):
    assert 0 < len(checks.shown(value)) <= 70


@pytest.mark.parametrize(
    "value",
    [True, "3", None, [1], float("nan"), float("inf"), 10**5000, -1, 5.1],
    ids=lambda value: type(value).__name__,
)
def test_numbers_out_of_range_or_of_another_kind_are_refused(value):
    with pytest.raises(ValueError, match=r"^size must"):
        checks.number("size", value, 0, 5)


def test_numbers_become_floats():
    assert checks.number("size", 5, 0, 5) == 5.0
    assert isinstance(checks.number("size", 5, 0, 5), float)


@pytest.mark.parametrize("value", [1.0, True, "1", None, 0, 10, 10**30])
def test_whole_numbers(value):
    with pytest.raises(ValueError, match=r"^cells must"):
        checks.whole("cells", value, 1, 9)
    assert checks.whole("cells", 9, 1, 9) == 9
