"""What each column of a table can be read as, said before anything is declared."""

import io

import pytest

from dpgp_core.reading.csv_rows import column_names, read_columns
from dpgp_core.reading.dialect import dialect_of
from dpgp_core.reading.survey import survey

TABLE = "who,when,wage,code\nann,2020-01-01,1.5,7\n ann ,2020-01-02,SECRET,7\nbob,2020-01-03,,7\n,2020-01-04,2,7\n"


def surveyed(text, dialect="comma"):
    content, how = text.encode(), dialect_of(dialect)
    return survey(io.BytesIO(content), column_names(io.BytesIO(content), how), how)


def test_columns_of_numbers_and_others():
    found = surveyed(TABLE)
    assert {each.rows for each in found.values()} == {4}
    assert found["code"].as_numbers("code") == ""
    wage = found["wage"].as_numbers("wage")
    assert wage.startswith(
        "column 'wage' has text instead of a number in line 3 of the file; correct or remove that row"
    )
    assert wage.endswith("(1 more such rows)")
    dates = found["when"].as_numbers("when")
    assert "holds no numbers in 4 of 4 rows" in dates
    assert "remove" not in dates  # no remedy for a column of dates
    assert not any("SECRET" in str(each) for each in found.values())


def test_columns_of_people():
    found = surveyed(TABLE)
    assert "is empty in 1 of 4 rows, first in line 5" in found["who"].as_people("who")
    assert found["who"].values == 2
    assert "all rows are one person's" in found["code"].as_people("code")
    assert found["when"].as_people("when") == ""
    assert "names nobody" in surveyed("a,b\n,1\n,2\n")["a"].as_people("a")


@pytest.mark.parametrize(("dialect", "text"), [("semicolon", "a;b\n1,5;x\n2;y\n"), ("tab", "a\tb\n1.5\tx\n2\ty\n")])
def test_as_the_table_is_written(dialect, text):
    found = surveyed(text, dialect)
    assert not found["a"].unread
    assert found["b"].unread == 2


def test_what_is_said_to_be_readable_is_read():
    found = surveyed(TABLE)
    good = [name for name, each in found.items() if not each.unread]
    assert good == ["code"]
    assert read_columns(io.BytesIO(TABLE.encode()), good, max_rows=9).shape == (4, 1)
    for name in found.keys() - {*good}:
        with pytest.raises(ValueError, match=f"column '{name}'"):
            read_columns(io.BytesIO(TABLE.encode()), [name], max_rows=9)


def test_a_ragged_line_is_named_and_not_shown():
    with pytest.raises(ValueError, match="line 3 has 1 fields where the header has 2") as wrong:
        surveyed("a,b\n1,2\nSECRET\n")
    assert "SECRET" not in str(wrong.value)
