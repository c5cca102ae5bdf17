"""What could be declared of a table, and what each of its columns can be read as, for its owner's eyes."""

import io

import pytest

from dpgp_core.reading.look import described, look, numbers_of, order_of_dates, proposal, usual_delta, yes_and_no
from dpgp_core.reading.rows import column_names
from dpgp_core.reading.survey import survey, words_of
from dpgp_core.reading.writing import Writing
from tests.kinds import KINDS

MIXED = b"id;born;sex;wage;note\n" + b"".join(
    f"{i};{i % 28 + 1}/02/19{50 + i % 40};{'wm'[i % 2]};{1000 + i},5;free text {i}\n".encode() for i in range(60)
)


def test_outcome_and_input_are_proposed():
    found, columns = proposal(io.BytesIO(MIXED))
    assert (found["x"], found["y"], found["numbers"], found["date_order"]) == (
        ["born"],
        "wage",
        "1234,5",
        "day/month/year",
    )
    assert (found["x_box"], found["y_bounds"], found["missing"]) == (None, None, None)
    assert columns[1] == "born: dates, day/month/year"
    assert columns[-1] == "note: 60 different words"


def test_only_columns_that_are_used_say_how_numbers_are_written():
    rows = (f"{at % 9};1.{at:03},5;2.{at:03},5;{at}.25\n" for at in range(60))
    found, _ = proposal(io.BytesIO(b"age;rent;wage;height\n" + "".join(rows).encode()))
    assert (found["x"], found["y"], found["numbers"]) == (["age"], "height", "1234.5")


def test_an_encoding_is_tried_where_utf_8_fails():
    assert look(io.BytesIO("größe,b\n1,2\n3,4\n".encode("cp1252"))).writing.encoding == "cp1252"
    assert look(io.BytesIO(b"a\x81,b\n1,2\n3,4\n")).writing.encoding == "latin-1"
    assert look(io.BytesIO("größe,b\n1,2\n".encode("utf-16"))).writing.encoding == "utf-16"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["no", "yes"], ("yes", "no")),
        (["negative", "positive", "invalid"], ("positive", "negative")),
        (["TRUE", "FALSE"], ("TRUE", "FALSE")),
        (["survived", "no"], ("survived", "no")),
        (["died", "survived"], (None, None)),
        (["1", "2"], ("1", "2")),
        ([], (None, None)),
    ],
)
def test_which_words_may_mean_yes_and_no(words, found):
    assert yes_and_no(words) == found


def test_what_reads_most_columns_is_proposed():
    columns = look(io.BytesIO(b"a;b;c;d\n1,5;1;3/4/2024;x\n2;2;13/4/2024;y\n")).columns
    assert numbers_of([*columns.values()]) == "1234,5"
    assert numbers_of([columns["b"]]) == "1234.5"
    assert order_of_dates([*columns.values()]) == "day/month/year"
    assert order_of_dates([columns["a"]]) is None
    assert described(columns["d"]) == "2 different words"


def test_what_may_mean_missing_is_counted():
    columns = look(io.BytesIO(KINDS["codes for missing"].content)).columns
    assert described(columns["height"]) == "numbers; -999 in 10 rows may mean missing"
    columns = look(io.BytesIO(KINDS["words for missing"].content)).columns
    assert described(columns["height"]) == "numbers; 10 of 60 rows lack a value"


@pytest.mark.parametrize(("rows", "delta"), [(60, 1e-5), (10**4, 1e-5), (10**5, 1e-6), (0, 1e-5)])
def test_proposed_delta_is_far_below_one_in_n(rows, delta):
    assert usual_delta(rows) == pytest.approx(delta)


# ---- What each column of a table can be read as, for its owner's eyes, before anything is declared.


TABLE = "who,when,wage,code\nann,2020-01-01,1.5,7\n ann ,2020-01-02,SECRET,7\nbob,2020-01-03,,7\n,2020-01-04,2,7\n"


def surveyed(text, **writing):
    content, how = text.encode(), Writing(**writing)
    return survey(io.BytesIO(content), column_names(io.BytesIO(content), how), how)


def of(*cells):
    return surveyed("a;b\n" + "".join(f"{cell};1\n" for cell in cells))["a"]


def test_columns_of_numbers_and_others():
    found = surveyed(TABLE)
    assert {each.rows for each in found.values()} == {4}
    assert found["code"].as_numbers("code") == ""
    assert found["wage"].usual == 1
    assert found["wage"].as_numbers("wage") == (
        "column 'wage' has text instead of a number in line 3 of the file; declare these cells as missing if they "
        "mean that, or correct these rows"
    )
    dates = found["when"].as_numbers("when")
    assert dates == "column 'when' holds dates; say so, and it is read as dates"
    assert not any("SECRET" in str(each) for each in found.values())


@pytest.mark.parametrize(
    ("cells", "ways"),
    [
        (["1", "2"], "1234.5"),
        (["1.5", "2"], "1234.5"),
        (["1,5", "2"], "1234,5"),
        (["1,500", "2,250"], "1,234.5"),
        (["1,500.5", "2"], "1,234.5"),
        (["1.500,5", "2"], "1.234,5"),
        (["1 500,5", "2"], "1 234,5"),
        (["NA", "", "1,5"], "1234,5"),
    ],
)
def test_the_best_number_format_comes_first(cells, ways):
    column = of(*cells)
    assert column.ways[0] == ways
    assert column.as_numbers("a", ways) == ""
    if column.two_readings:
        assert "can be read in two ways; say which is meant" in column.as_numbers("a")
    elif ways != "1234.5":
        assert f'written otherwise: say that they are "{ways}"' in column.as_numbers("a")


@pytest.mark.parametrize(
    ("cells", "orders"),
    [
        (["3/4/2024", "5/6/2024"], ["day/month/year", "month/day/year"]),
        (["13/4/2024", "5/6/2024"], ["day/month/year"]),
        (["4/13/2024", "4/14/2024"], ["month/day/year"]),
        (["2024-04-13T08:30:00Z", ""], ["year-month-day"]),
        (["1", "2"], []),
    ],
)
def test_the_orders_that_read_dates(cells, orders):
    column = of(*cells)
    assert [each for each in column.orders if not column.undated[each][0]] == orders
    if orders:
        assert column.as_dates("a", orders[0]) == ""
        assert column.as_dates("a", "year.month.day" if orders != ["year-month-day"] else "day.month.year")


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ([*range(150, 180), -999, -999], {-999: 2}),
        ([*range(150, 180), -999, -999, -998, -888, -888], {-999: 2, -998: 1, -888: 2}),
        ([*range(18, 80), 99, 99, 99], {99: 3}),
        ([*range(18, 99), 99, 99], {}),
        ([*range(4, 10), -200, -200], {-200: 2}),
        ([*range(4, 10), -200], {}),
        ([0, 1, 9, 9], {9: 0}),
        ([5.5, 6.5, "x", 7], {}),
    ],
)
def test_missing_value_codes_are_far_from_values(cells, codes):
    assert of(*cells).codes == {code: count for code, count in codes.items() if count}


def test_columns_of_people():
    found = surveyed(TABLE)
    assert found["who"].as_people("who") == ""
    assert found["who"].values == 2
    assert "all rows are one person's" in found["code"].as_people("code")
    assert "names nobody" in surveyed("a,b\n,1\n,2\n")["a"].as_people("a")


def test_columns_of_categories_and_words():
    found = surveyed("sex,many\nwoman,0\n man ,1\nSECRET,2\n,3\n" + "".join(f"man,{k}\n" for k in range(4, 1100)))
    assert found["sex"].holds_words
    assert not found["many"].holds_words
    said = found["sex"].as_levels("sex", ("woman", "man"))
    assert said.startswith("column 'sex' has none of its levels in 1 of 1,100 rows, first in line 4 of the file; name")
    assert "declare a level 'other'" in said
    assert found["sex"].as_levels("sex", ("woman", "man", "other")) == ""
    assert "in any row; write them as the file does" in found["sex"].as_levels("sex", ("Woman", "Man"))
    assert found["many"].as_levels("many", ("1", "2")).startswith("column 'many' has 1,100 different values, and 2")
    assert not any("SECRET" in str(each) for each in found.values())


def test_kept_digests_cannot_be_looked_up():
    one, other = (of("woman", "man").texts for _ in range(2))
    assert len(one.rows) == len(other.rows) == 2
    assert one.rows.keys().isdisjoint(other.rows)


def test_words_are_sorted_by_frequency_without_missing_ones():
    content = b"a,b\n1,x\nNA,x\nrefused,y\n,n/a\n-7,y\nrefused,y\n"
    assert words_of(io.BytesIO(content), "b", Writing(), 9) == ["y", "x"]
    assert words_of(io.BytesIO(content), "b", Writing(), 1) == ["y"]
    assert words_of(io.BytesIO(content), "a", Writing(), 9, numbers="1234.5") == ["refused"]
