import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpgp_core.release.json_text import MAX_BYTES, check_keys, read_object, write_object

WRONG = {
    "array": (b"[]", "must be one JSON object"),
    "empty": (b"", "is not valid JSON at line 1"),
    "second line": (b'{\n"a": }', "is not valid JSON at line 2"),
    "Latin-1": (b'{"a": "\xe9"}', "is not UTF-8 text"),
    "UTF-16": ("{}".encode("utf-16"), "is not UTF-8 text"),
    "twice": (b'{"a": {"b": 1, "b": 1}}', "has the key 'b' twice"),
    "NaN": (b'{"a": NaN}', "holds NaN, which is not a JSON number"),
    "minus infinity": (b'{"a": -Infinity}', "holds -Infinity"),
    "beyond all numbers": (b'{"a": [1e400]}', "holds a number beyond 1.8e308"),
    "minus beyond all": (b'{"a": -1e999}', "holds a number beyond 1.8e308"),
    "5,000 digits": (b'{"a": ' + b"9" * 5000 + b"}", "holds a number beyond 1.8e308"),
    "deep": (b"[" * 100_000, "is nested too deeply"),
    "deep object": (b'{"a":' * 100_000, "is nested too deeply"),
    "long": (b" " * (MAX_BYTES + 1), f"is larger than {MAX_BYTES} bytes"),
}


@pytest.mark.parametrize(("text", "message"), WRONG.values(), ids=WRONG)
def test_anything_but_one_plain_object_is_refused(text, message):
    with pytest.raises(ValueError, match=f"^it {message}") as caught:
        read_object(text, "it")
    assert type(caught.value) is ValueError
    assert caught.value.__cause__ is None


def test_whole_numbers_that_only_a_float_holds_are_floats():
    digits = "9" * 300
    assert read_object(f'{{"a": {digits}, "b": -{digits}, "c": 123}}', "it") == {"a": 1e300, "b": -1e300, "c": 123}


def test_a_repeated_key_is_found_without_comparing_every_pair():
    """500,000 keys, the last one twice: compared in pairs they take hours, and the test does not end."""
    text = "{" + ",".join(f'"{number}":0' for number in range(500_000)) + ',"499999":0}'
    with pytest.raises(ValueError, match="has the key '499999' twice"):
        read_object(text, "it", most=10_000_000)


def test_a_byte_order_mark_is_accepted():
    assert read_object(b'\xef\xbb\xbf{"a": 1}', "it") == {"a": 1}


def test_keys_are_all_known_and_complete():
    check_keys({"a": 1, "c": 2}, "it", required=["a"], optional=["b", "c"])
    with pytest.raises(ValueError, match=r"it has the unknown key 'd'; its keys are a, b"):
        check_keys({"a": 1, "d": 2}, "it", required=["a"], optional=["b"])
    with pytest.raises(ValueError, match=r"it lacks 'b'; add it"):
        check_keys({"a": 1}, "it", required=["a", "b"])


def test_what_is_written_is_exact_and_refuses_nan():
    found = {"a": 0.1 + 0.2, "b": ["é", None, True], "c": {}}
    assert read_object(write_object(found), "it") == found
    with pytest.raises(ValueError, match="infinite or undefined"):
        write_object({"a": float("nan")})


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_text_is_an_object_or_a_sentence(text):
    try:
        found = read_object(text, "it")
    except ValueError as error:
        refusal = error
    else:
        assert isinstance(found, dict)
        return
    assert type(refusal) is ValueError
    assert str(refusal).startswith("it ")


words = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(words, values, max_size=5))
def test_reads_what_the_standard_library_reads(found):
    assert read_object(json.dumps(found), "it") == found


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_what_json_cannot_hold_is_refused_in_words_of_our_own(number):
    with pytest.raises(ValueError, match="a number is infinite or undefined, and JSON has none that is") as caught:
        write_object({"a": number})
    assert caught.value.__context__ is None
