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
    assert dates == "column 'when' holds dates; say so, and it is read as dates"
    assert "remove" not in dates  # no remedy for a column of dates
    assert not any("SECRET" in str(each) for each in found.values())


def test_columns_of_dates():
    found = surveyed("iso,day_first,mixed,n\n2020-01-01,1.1.2020,2020-01-01,73\n2020-01-02,2.1.2020,SECRET,74\n")
    assert found["iso"].as_dates("iso", "iso") == ""
    assert found["day_first"].as_dates("day_first", "day.month.year") == ""
    assert found["mixed"].as_dates("mixed", "iso") == (
        "column 'mixed' has text instead of a date in line 3 of the file; write dates as 2024-03-01"
    )
    said = found["day_first"].as_dates("day_first", "iso")
    assert "a date written like 01.03.2024 in line 2 of the file; declare dates as day.month.year" in said
    assert said.endswith("(1 more such rows)")
    assert "a number instead of a date in line 2" in found["n"].as_dates("n", "iso")
    assert not any("SECRET" in str(each) or "73" in str(each) for each in found.values())


def test_columns_of_people():
    found = surveyed(TABLE)
    assert "is empty in 1 of 4 rows, first in line 5" in found["who"].as_people("who")
    assert found["who"].values == 2
    assert "all rows are one person's" in found["code"].as_people("code")
    assert found["when"].as_people("when") == ""
    assert "names nobody" in surveyed("a,b\n,1\n,2\n")["a"].as_people("a")


def test_columns_of_levels():
    found = surveyed("sex,many\nwoman,0\n man ,1\nSECRET,2\n,3\n" + "".join(f"man,{k}\n" for k in range(4, 1100)))
    said = found["sex"].as_levels("sex", ("woman", "man"))
    assert said.startswith("column 'sex' has none of its levels in line 4 of the file (1 more such rows); correct")
    assert "declare a level 'other'" in said
    assert found["sex"].as_levels("sex", ("woman", "man", "other")) == ""
    assert found["sex"].as_levels("sex", ("woman", "man", "SECRET", "")) == ""
    assert "in any row; write them as the file does" in found["sex"].as_levels("sex", ("Woman", "Man"))
    assert found["many"].as_levels("many", ("1", "2")).startswith("column 'many' has 1,100 different values, and 2")
    assert not any("SECRET" in str(each) for each in found.values())


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
