"""Tables as people have them, from file to zip without being edited: in a real browser, and by command line.

    python -m benchmarks own_tables --folder ../shared/cases
    python -m benchmarks own_tables --files table.dta table.xlsx

Actions are uploads, choices, entries and clicks, the release and the download included. Questions are those beyond what
a clean table of that outcome is asked. Seconds are of a visitor who never hesitates, on a server that runs already; of
the command line they are of the whole process. The table says what is asked, and which keys a configuration has beyond
the eight that all need. Files of the folder that have no row here are passed over. `table.dta` and the like are one
table of heights by age in every kind of file that is read; they need no folder.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from tests.e2e import browser as tool
from tests.e2e.own_table import Counted, answer, choose, download, fill, press, release, upload
from tests.odd_kinds import ODD, PLAIN

DATES, MISSING, NUMBERS = "the order of dates", "what means missing", "how numbers are written"
WORDS, ENCODING, GROUPS = "the words for yes and no", "the encoding", "whether words are groups"
BOTH = "the order of dates with how numbers are written, in one click"
_GRID = 11


@dataclass(frozen=True)
class Plan:
    """What is done with one file.

    Attributes:
        x, y: columns.
        box: a side for each input that is no category: two numbers, or two days.
        bounds: of the outcome; None for yes and no.
        asked: questions beyond a clean table's, with what is done about each: a button, or a control and its option.
        declared: what a configuration says beyond the eight keys that it needs.
    """

    x: tuple[str, ...]
    y: str
    box: tuple[tuple[Any, Any], ...]
    bounds: tuple[float, float] | None
    asked: tuple[tuple[str, tuple[str, ...]], ...] = ()
    declared: dict[str, Any] = field(default_factory=dict)


USUAL = "an empty cell, NA and the like"
AGES = ((18, 80),)
YEAR = "day/month/year"
PLANS = {
    "semicolon_decimal_point": Plan(("age",), "weight", AGES, (0, 200)),
    "semicolon_decimal_comma": Plan(
        ("age",), "weight", AGES, (0, 200), ((NUMBERS, ("numbers", "1234,5")),), {"numbers": "1234,5"}
    ),
    "latin1_header": Plan(
        ("Date",),
        "Bikes",
        (("2023-03-01", "2023-05-31"),),
        (0, 1000),
        ((ENCODING, ("encoding", "Windows, western Europe (cp1252)")), (DATES, (YEAR,))),
        {"encoding": "cp1252", "date_order": YEAR},
    ),
    "slashed_dates": Plan(
        ("sold",), "price", (("2021-01-01", "2022-12-31"),), (0, 1_000_000), ((DATES, (YEAR,)),), {"date_order": YEAR}
    ),
    "time_stamps": Plan(
        ("measured_at",), "height", (("2022-05-01", "2022-08-31"),), (100, 250), ((DATES, ("year-month-day",)),)
    ),
    "yes_no_words": Plan(
        ("age",),
        "survived",
        AGES,
        None,
        ((WORDS, ("yes", "yes")), (MISSING, ("missing", USUAL))),
        {"yes": "yes", "no": "no", "missing": []},
    ),
    "positive_negative_invalid": Plan(
        ("day",),
        "result",
        ((0, 100),),
        None,
        ((WORDS, ("yes", "positive")), (WORDS, ("no", "negative"))),
        {"yes": "positive", "no": "negative"},
    ),
    "missing_words": Plan(("age",), "bmi", AGES, (10, 60), ((MISSING, ("missing", USUAL)),), {"missing": []}),
    "missing_codes": Plan(("age",), "height", AGES, (100, 250), ((MISSING, ("missing", "-999")),), {"missing": [-999]}),
    "thousands": Plan(
        ("age",), "salary", AGES, (0, 200_000), ((NUMBERS, ("numbers", "1,234.5")),), {"numbers": "1,234.5"}
    ),
    "thousands_european": Plan(
        ("Alter",), "Gehalt", AGES, (0, 200_000), ((NUMBERS, ("numbers", "1.234,5")),), {"numbers": "1.234,5"}
    ),
    "empty_tail": Plan(
        ("day",),
        "CO",
        (("2024-03-01", "2024-06-30"),),
        (0, 20),
        ((BOTH, (YEAR,)), (MISSING, ("missing", "-200"))),
        {"date_order": YEAR, "numbers": "1234,5", "missing": [-200]},
    ),
    "unused_twins": Plan(("age",), "wage", AGES, (0, 100)),
    "text_groups": Plan(
        ("age", "smoking"),
        "stroke",
        AGES,
        None,
        ((GROUPS, ("Yes: formerly, never, smokes",)),),
        {"x_levels": [None, ["formerly", "never", "smokes"]]},
    ),
    "survey_years": Plan(("year",), "visits", ((1984, 1988),), (0, 20)),
    "claims_few_values": Plan(("ncd",), "claims", ((0, 50),), None),
    "education_years": Plan(("education",), "wage", ((8, 18),), (0, 100)),
    "towns": Plan(("lat", "long"), "price", ((50, 60), (-8, 2)), (0, 1_500_000)),
}


_OF_OTHER_PROGRAMS = {
    "dta": "a file of Stata",
    "sav": "a file of SPSS",
    "zsav": "a compressed file of SPSS",
    "xpt": "a transport file of SAS",
    "sas7bdat": "a file of SAS",
    "parquet": "a Parquet file",
    "feather": "an Arrow file",
    "arrow": "an Arrow file",
    "xlsx": "a workbook",
    "xls": "a workbook of old",
    "xlsb": "a binary workbook",
    "ods": "an OpenDocument spreadsheet",
    "csv.gz": "a table compressed by gzip",
    "zip": "a zipped table",
}
KINDS = {"table.csv": PLAIN} | {f"table.{end}": ODD[kind].content for end, kind in _OF_OTHER_PROGRAMS.items()}
"""One table in a file of each kind that is read, by the name of the file."""
HEIGHTS = Plan(("age",), "height", AGES, (100, 250))


def cases(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, str, bytes, Plan]]:
    """Name of a row, name of its file, content and what is done with it; files that are not there are passed over."""
    for name in names:
        path = folder / f"{name}.csv"
        if name in KINDS:
            yield name, name, KINDS[name], HEIGHTS
        elif path.is_file():
            yield name, path.name, path.read_bytes(), PLANS[name]


def numbers_of(plan: Plan) -> list[str]:
    """Inputs that are no groups."""
    levels = plan.declared.get("x_levels") or [None] * len(plan.x)
    return [name for name, each in zip(plan.x, levels, strict=True) if each is None]


def by_page(page: Any, name: str, content: bytes, plan: Plan) -> tuple[int, float, zipfile.ZipFile]:
    """Actions, seconds, and the release."""
    user, start = Counted(page), time.perf_counter()
    asked = [done for _, done in plan.asked]
    if asked and asked[0][0] == "encoding":
        user.do(_undecoded, name, content)
        user.do(_encoding, asked.pop(0)[1])
    else:
        user.do(upload, name, content)
    user.do(choose, "y", plan.y)
    for column in plan.x:
        user.do(choose, "x", column)
    user.do(answer, "No, every row is another person")
    if plan.bounds is None:
        user.do(choose, "kind", "Yes or no")
    for done in asked:
        user.do(press, *done) if len(done) == 1 else user.do(choose, *done)
    for key, value in zip(("low", "high"), plan.bounds or (), strict=False):
        user.do(fill, key, f"{value:.10g}")
    for column, side in zip(numbers_of(plan), plan.box, strict=True):
        dated = isinstance(side[0], str)
        for key, end in zip(("from_day", "to_day") if dated else ("box_low", "box_high"), side, strict=True):
            user.do(_type_day if dated else fill, f"{key}_{column}", _typed(end, plan) if dated else str(end))
    user.do(fill, "total", "1")
    user.do(release, 1, "Release 1 is made")
    archive = zipfile.ZipFile(io.BytesIO(user.do(download)))
    return user.actions, time.perf_counter() - start, archive


def _undecoded(page: Any, name: str, content: bytes) -> None:
    page.locator("[data-testid=stMain] input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    page.locator(".st-key-own_encoding input").wait_for()
    tool.settle(page)


def _encoding(page: Any, option: str) -> None:
    page.locator(".st-key-own_encoding input").click()
    page.get_by_role("option", name=option, exact=True).click()
    page.get_by_text("In memory:").wait_for()
    tool.settle(page)


def _type_day(page: Any, key: str, day: str) -> None:
    """A day's control has a part for each of day, month and year, and goes on to the next by itself."""
    page.locator(f".st-key-own_f_{key} [role=spinbutton]").first.click()
    page.keyboard.type("".join(filter(str.isdigit, day)))
    page.keyboard.press("Tab")
    tool.settle(page)


def _typed(day: str, plan: Plan) -> str:
    """A day as its control takes it."""
    year, month, of_month = day.split("-")
    return f"{of_month}/{month}/{year}" if plan.declared.get("date_order") == YEAR else day


def by_command(name: str, content: bytes, plan: Plan) -> tuple[list[str], float, zipfile.ZipFile]:
    """Keys of the configuration beyond eight, seconds, and the release."""
    numbers = numbers_of(plan)
    box = iter(plan.box)
    config = {
        "x": plan.x,
        "x_box": [next(box) if name in numbers else None for name in plan.x],
        "y": plan.y,
        "y_bounds": plan.bounds,
        "unit": f"one person's {plan.y}",
        "grid": [_GRID if name in numbers else None for name in plan.x],
        "epsilon": 1,
        "delta": 1e-5,
    }
    more = ({"y_kind": "yes/no"} if plan.bounds is None else {}) | plan.declared
    with tempfile.TemporaryDirectory() as folder:
        path, written, out = (Path(folder) / each for each in (name, "config.json", "release.zip"))
        path.write_bytes(content)
        written.write_text(json.dumps(config | more))
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "dpgp_core", "release", "--csv", path, "--config", written, "--out", out],
            check=True,
            capture_output=True,
        )
        seconds = time.perf_counter() - start
        return list(more), seconds, zipfile.ZipFile(io.BytesIO(out.read_bytes()))


def people_of(release: zipfile.ZipFile) -> tuple[int, int]:
    """How many rows were used, and left out."""
    public = json.loads(release.read("release.json"))["public"]
    return public["n"], public["left_out"]


def rows(given: Iterable[tuple[str, str, bytes, Plan]]) -> Iterator[dict[str, object]]:
    """One a file."""
    with tool.launch() as browser:
        for name, file, content, plan in given:
            keys, seconds, commanded = by_command(file, content, plan)
            with tool.serve() as address:  # one server would know a table in another kind of file, and its budget
                context = tool.new_context(browser, viewport={"width": 1440, "height": 900})
                page = tool.opened(context, f"{address}/your_data")
                actions, waited, shown = by_page(page, file, content, plan)
                context.close()
            complete, left_out = people_of(commanded)
            assert people_of(shown)[0] == complete
            yield {
                "file": name,
                "rows": f"{complete:,} of {complete + left_out:,}",
                "page: actions": actions,
                "page: seconds": waited,
                "questions beyond a clean table's": ", ".join(dict.fromkeys(each for each, _ in plan.asked)) or "none",
                "command: keys beyond eight": ", ".join(keys) or "none",
                "command: seconds": seconds,
            }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    options = options_of(__doc__, argv, {"files": [*PLANS, *KINDS]}, folder="../shared/cases")
    print(f"{machine()}\n")
    show(rows(cases(Path(options.folder), options.files)))
