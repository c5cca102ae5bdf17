"""Tables of people that are easily read wrong: each is proposed right, asked about, or refused with a remedy."""

import io

import numpy as np
import pytest

from dpgp_core.reading.csv_file import read_csv
from dpgp_core.reading.look import proposal
from dpgp_core.reading.notations import READERS, as_noted, notation_of
from dpgp_core.reading.survey import survey
from dpgp_core.reading.writing import NOTATIONS, TwoReadings, Writing

AGES = [20 + at % 60 for at in range(90)]
RATES = [f"{at % 90 + 2}.{at % 9 + 1}" for at in range(90)]


def table(header, *columns, sep=";"):
    rows = zip(*columns, strict=True)
    return "\n".join([header, *(sep.join(map(str, row)) for row in rows), ""]).encode()


def by_age(values, sep=";"):
    return table(f"age{sep}y", AGES, values, sep=sep)


def replaced(values, every, *others):
    return [others[at // every % len(others)] if at % every == 0 else value for at, value in enumerate(values)]


def proposed(content, x=(), y=None):
    found, lines = proposal(io.BytesIO(content), x, y)
    return found, "\n".join(lines)


def read(content, x="age", y="y", bounds=(-1e12, 1e12), **writing):
    return read_csv(io.BytesIO(content), x=[x], y=y, y_bounds=bounds, x_box=[(0, 5000)], **writing)


def read_as_proposed(content):
    found, _ = proposed(content)
    keys = ("numbers", "notations", "missing", "yes", "no", "ignore")
    return read(content, **{key: found[key] for key in keys})


# ---- A factor of a thousand


PAY = [f"{at % 8 + 1}.{at * 37 % 1000:03d}" if at % 4 else str(900 + at) for at in range(90)]


@pytest.mark.parametrize(("mark", "thousands", "fraction"), [(".", "1.234,5", "1234.5"), (",", "1,234.5", "1234,5")])
def test_ambiguous_thousands_must_be_declared(mark, thousands, fraction):
    cells = [cell.replace(".", mark) for cell in PAY]
    content = by_age(cells)
    found, said = proposed(content)
    assert found["numbers"] is None
    assert f'declare "numbers": "{thousands}" for the first, or "{fraction}" for the second' in said
    [line] = [line for line in said.split("\n") if " is " in line]
    example = line.split()[1]
    assert example in cells
    assert f"{example} is {int(example.replace(mark, '')):,} or {float(example.replace(mark, '.')):g}?" in line
    with pytest.raises(ValueError, match=f'declare numbers "{thousands}" if 1{mark}234 means one thousand') as refused:
        read(content)
    assert not any(cell in str(refused.value) for cell in cells)
    whole = [float(cell.replace(".", "")) for cell in PAY]
    np.testing.assert_array_equal(read(content, numbers=thousands).y, whole)
    less = [float(cell) for cell in PAY]
    np.testing.assert_array_equal(read(content, numbers=fraction).y, less)


@pytest.mark.parametrize(
    ("cells", "mark"),
    [
        (["2.400", "950"], "."),
        (["2,400", "12000"], ","),
        (["-2.400 €", "(1.500)"], "."),
        (["2.400", "0.500"], ""),
        (["2.400", "2.5"], ""),
        (["2.400", "1.500.000"], ""),
        (["2400.500", "2.400"], ""),
        (["2.400", "2,400"], ""),
        (["2.400", "1.234e5"], ""),
        (["24", "950"], ""),
    ],
)
def test_one_number_that_has_one_reading_decides(cells, mark):
    readings = TwoReadings()
    for cell in cells:
        readings.take(cell)
    assert readings.mark == mark


def test_a_small_box_excludes_thousands():
    content = table("lat;y", [f"51.{at:03d}" for at in range(100, 190)], AGES)
    assert read_csv(io.BytesIO(content), x=["lat"], y="y", y_bounds=(0, 100), x_box=[(51, 52)]).X.max() < 52
    with pytest.raises(ValueError, match="column 'lat' has numbers with exactly three digits behind the point"):
        read(content, x="lat")


# ---- Censored values and other notations


@pytest.mark.parametrize(
    ("cells", "notation", "values"),
    [
        (["<5", "≤0.1", ">= 90", "80+", "80 or more", "under 5", "=<3"], "censored", [5, 0.1, 90, 80, 80, 5, 3]),
        (["5'10\"", "5 ft 10", "6'", "5’11½", "5'12\""], "feet and inches", [70, 70, 72, None, None]),
        (["12k", "$56.7M", "1.2 bn", "€3 Mio.", "2K€", "5 K"], "multiples", [12e3, 56.7e6, 1.2e9, 3e6, 2e3, None]),
        (
            ["8:30", "8:30 pm", "12:15 AM", "1h20", "1 h", "45 min", "1:00:36", "5 m", "8:75", "13:00 pm"],
            "times",
            [8.5, 20.5, 0.25, 4 / 3, 1, 0.75, 1.01, None, None, None],
        ),
    ],
)
def test_numbers_in_other_notations(cells, notation, values):
    found = [as_noted(cell, (notation,), "1234.5") for cell in cells]
    assert [each is None for each in found] == [each is None for each in values]
    np.testing.assert_allclose([each or 0 for each in found], [each or 0 for each in values])
    assert {notation_of(cell)[0] for cell, value in zip(cells, values, strict=True) if value} == {notation}


@pytest.mark.parametrize("cell", ["A+", "<LOD", "room 5", "2024-03-01", "1_000", "", "5'10\" or so", "about 80+"])
def test_a_text_is_no_number_in_any_notation(cell):
    assert notation_of(cell) == ("", frozenset())


@pytest.mark.parametrize(
    ("content", "notation", "values"),
    [
        (by_age(replaced(RATES, 3, "<5", "> 90")), "censored", [5.0, 90.0]),
        (by_age([f"{5 + at % 2}'{at % 12}\"" for at in range(90)]), "feet and inches", [60.0, 73.0]),
        (by_age([f"${at + 1}.5k" for at in range(90)]), "multiples", [1500.0, 2500.0]),
        (by_age([f"{at % 24}:30" for at in range(90)]), "times", [0.5, 1.5]),
    ],
)
def test_a_declared_notation_is_proposed_and_read(content, notation, values):
    found, said = proposed(content)
    assert (found["notations"], found["missing"]) == ([notation], None)
    assert READERS[notation].about in said
    with pytest.raises(ValueError, match=rf'declare "notations": \["{notation}"\]'):
        read(content)
    data = read_as_proposed(content)
    assert {*values} <= {*data.y}
    assert (data.n, data.left_out) == (90, 0)
    [column] = [each for name, each in survey(io.BytesIO(content), ["y"], Writing()).items()]
    assert f'"notations": ["{notation}"]' in column.as_numbers("y")
    assert column.as_numbers("y", notations=[notation]) == ""


def test_a_top_coded_input_counts_as_its_limit():
    content = table("age;y", ["80+" if age > 79 - 5 else age for age in AGES], RATES)
    assert read_as_proposed(content).X.max() == 80


def test_declared_missing_words_win_over_notations():
    data = read(by_age(replaced(RATES, 3, "<5", ">90")), notations=["censored"], missing=["<5"])
    assert (data.n, data.left_out) == (75, 15)
    assert READERS.keys() == {*NOTATIONS}


def test_survey_weights_are_said_to_be_ignored():
    content = table("age;y;pspwght;weight_kg;wt", AGES, RATES, RATES, RATES, RATES)
    _, said = proposed(content, ["age"], "y")
    assert "pspwght: if these are survey weights, a release ignores them: every row counts once" in said
    assert "wt: if these are" in said


@pytest.mark.parametrize(
    ("names", "x", "y"),
    [
        ("age;income;pspwght", "age", "income"),
        ("age;sampling_weight;income", "age", "income"),
        ("wgt;age;income", "age", "income"),
        ("age;height;weight", "age", "weight"),  # of the body
        ("age;height;birth_weight", "age", "birth_weight"),
        ("age;wgt", "age", "wgt"),  # nothing else is left
    ],
)
def test_survey_weights_are_the_last_guess(names, x, y):
    content = table(names, *[AGES if name == "age" else RATES for name in names.split(";")])
    found, _ = proposed(content)
    assert (found["x"], found["y"]) == ([x], y)


def test_a_stray_line_is_named_in_the_singular():
    _, said = proposed(table("age;y", ["Age in years", *AGES], ["Body mass index", *RATES]))
    assert "line 2: proposed to be no rows of the table" in said
    _, said = proposed(table("age;y", ["Age in years", *AGES, "Mean"], ["Body mass index", *RATES, "9"]))
    assert "lines 2, 93: proposed to be no rows of the table" in said


# ---- An outcome of 0, 1 and dates


RECOVERED = ["1/5/2020" if at % 7 == 1 else "13/12/2020" if at % 7 == 2 else at % 2 for at in range(90)]


@pytest.mark.parametrize(
    ("cells", "yes", "no"),
    [
        (RECOVERED, ["1", "any date"], ["0"]),
        (["no" if cell == 0 else "2/2/2021" for cell in RECOVERED], ["any date"], ["no"]),
    ],
)
def test_dates_among_words_for_no_may_mean_yes(cells, yes, no):
    assert proposed(by_age(cells)) == proposed(by_age(cells), ["age"], "y")
    found, said = proposed(by_age(cells), ["age"], "y")
    assert (found["y_kind"], sorted(found["yes"]), found["no"], found["missing"]) == ("yes/no", sorted(yes), no, None)
    assert "any date means yes" in said
    data = read(by_age(cells), bounds=(0, 1), yes=found["yes"], no=found["no"])
    np.testing.assert_array_equal(data.y, [float(str(cell) not in ("0", "no")) for cell in cells])
    assert data.left_out == 0


def test_an_outcome_with_dates_has_a_valid_remedy():
    with pytest.raises(ValueError, match=r'"yes": \[1, "any date"\], "no": \[0\]') as refused:
        read(by_age(RECOVERED))
    assert "box" not in str(refused.value)
    assert read(by_age(RECOVERED), bounds=(0, 1), yes=[1, "any date"], no=[0]).n == 90


def test_dates_among_numbers_are_not_proposed_as_missing():
    found, said = proposed(by_age(replaced(RATES, 30, "1/5/2020")), ["age"], "y")
    assert found["missing"] is None
    assert "y: dates in 3 of 90 rows among numbers" in said


# ---- Columns of one name, whose rows these are, and the first proposal


def test_columns_of_one_name_are_numbered():
    content = table("age;score;score", AGES, range(90), range(100, 190))
    found, said = proposed(content)
    assert (found["x"], found["y"]) == (["age"], "score (column 3)")
    assert "score (column 2), score (column 3): several columns have one name" in said
    assert read(content, y="score (column 2)").y.max() == 89
    assert read(content, y="score (column 3)").y.min() == 100
    with pytest.raises(ValueError, match=r"columns 2 and 3 .* choose one by its number, as 'score \(column 2\)'"):
        read(content, y="score")
    with pytest.raises(ValueError, match=r"columns 2 and 3 .* choose one by its number, as 'score \(column 2\)'"):
        proposed(content, ["age"], "score")


@pytest.mark.parametrize("column", ["name", "patient_id"])
def test_a_repeating_column_asks_for_its_people(column):
    cells = [f"P{at // 2}" if column == "name" else 5000 + at // 2 for at in range(90)]
    found, said = proposed(table(f"{column};year;hours", cells, [1990 + at % 40 for at in range(90)], RATES))
    assert (
        f'{column}: 45 different values in 90 rows. Whose rows are these? If each value is a person, declare "person": '
        in said
    )
    assert (found["x"], found["y"]) == (["year"], "hours")


def test_unique_columns_and_categories_ask_nothing():
    content = table("note;sex;year;hours", [f"n{at}" for at in range(90)], ["f", "m"] * 45, AGES, RATES)
    assert "Whose rows" not in proposed(content, ["year"], "hours")[1]


@pytest.mark.parametrize("first", [0, 1])
def test_a_number_of_the_row_is_never_proposed(first):
    content = table("row;y", range(first, 90 + first), RATES)
    with pytest.raises(ValueError, match="no column of numbers or dates is left for an input"):
        proposed(content)
    assert proposed(content, ["row"])[0]["x"] == ["row"]  # its owner may know better
    found, _ = proposed(table("id;sex;y;age", range(first, 90 + first), ["f", "m"] * 45, RATES, AGES))
    assert (found["x"], found["y"]) == (["y"], "age")


def test_words_are_the_outcome_without_further_numbers():
    found, _ = proposed(table("id;age;smokes", range(90), AGES, ["yes", "no"] * 45))
    assert (found["x"], found["y"], found["y_kind"]) == (["age"], "smokes", "yes/no")


@pytest.mark.parametrize("x", [(), ("region",)])
def test_a_table_without_numbers_is_refused(x):
    content = table("region;answer", ["north", "south"] * 45, ["often", "never", "never"] * 30)
    with pytest.raises(ValueError, match="no column of numbers or dates is left for an input, and a curve needs one"):
        proposed(content, x)


# ---- Second lines of names

ROWS = [[age, rate, "x"] for age, rate in zip(AGES, RATES, strict=True)]


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([["Age in years", "index", "a note"], *ROWS], (2,)),
        ([["years", "kg", ""], *replaced(ROWS, 9, [1, "refused", "x"])], (2,)),
        ([*ROWS, ["age", "y", "note"], [1, 2.5, "x"]], (92,)),
    ],
)
def test_second_header_lines_are_proposed_as_ignored(rows, lines):
    content = "\n".join(["age;y;note", *(";".join(map(str, row)) for row in rows), ""]).encode()
    found, _ = proposed(content, ["age"], "y")
    assert found["ignore"] == lines
    assert found["missing"] in (None, ["refused"])
    assert read_as_proposed(content).n == len(rows) - 1 - 10 * (rows[0][1] == "kg")
