"""The commands of ``python -m dpgp_core``, their options and their help."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from .json_text import spec_to_json
from .specification import EXAMPLE

OK, BAD_CONFIG, BAD_DATA, REFUSED, NOT_WRITTEN = 0, 2, 3, 4, 5

EPILOG = f"""\
exit codes: {OK} success; {BAD_CONFIG} the command, the configuration or the ledger is wrong; {BAD_DATA} the table is
wrong; {REFUSED} refused, because the release would exceed the budget or expose protected inputs; {NOT_WRITTEN} a file
cannot be written; 128 + n stopped by signal n.

'python -m dpgp_core template' prints a configuration to start from; a release.json is one too. Begin with --check,
which spends nothing.

a categorical input has its categories in the configuration, and null instead of a box, a lengthscale and points:
"x": ["age", "sex"], "x_levels": [null, ["women", "men"]], "x_box": [[0, 100], null], "lengthscale": [25, null],
"grid": [51, null]. There is then a curve for each category. Any other text counts as "other" if that is a category.
"""
WRITING_EPILOG = """\
the table is a text with a header line; a workbook (.xlsx, .xls, .xlsb, .ods); a file of Stata (.dta), SPSS (.sav,
.zsav) or SAS (.xpt, .sas7bdat); a Parquet or Arrow file (.parquet, .arrow, .feather); or one of these packed (.gz, or
a .zip with no other table). The extra "files" installs what reads them.
the configuration declares how the table is written, and release.json repeats it. 'python -m dpgp_core look TABLE.csv'
proposes these declarations to the owner of the table:
  "separator"   ",", ";", "\\t", "|", " ", "^", "~" or ":"; null: the most frequent one in the header line
  "numbers"     "1234.5", "1,234.5", "1234,5", "1.234,5", "1 234,5", "1 234.5" or "1'234.5"
                null: "1234.5", unless all fractions of a column have exactly three digits: 2.400 may be 2,400
  "notations"   further ways of writing numbers, as ["censored"]: "censored" for <5, >90 and 80+, which count as their
                limit; "feet and inches" for 5'10", in inches; "multiples" for 12k and 1.2bn; "times" for 8:30 and 1h20,
                in hours
  "encoding"    null for UTF-8, or the encoding of a byte order mark; "cp1252" and "latin-1" are other usual ones
  "missing"     words and codes for a missing value, such as [-999, "refused"], in addition to empty cells, NA, N/A,
                NaN, null, none, unknown and the like. Rows that lack a value in a column that is used are left out,
                and the number of complete rows is public. null: a table with missing values is refused
  "yes", "no"   words or codes of a yes/no outcome ("y_kind": "yes/no"); any other cell counts as missing; "any date"
                stands for every date
  "date_order"  order of day, month and year in inputs that are dates
  "ignore"      lines that are not rows: titles, units, notes or sums, such as [2] or ["1-3", "63-"]
  "sheet"       name of the sheet with the table, for a workbook with several; its rows count as lines
a configuration needs x, x_box, y, y_bounds, unit, grid, epsilon and delta; everything else has a default.
"""
DATES_EPILOG = """\
dates: "x_box": [["2019-01-01", "2023-12-31"]] makes an input one of dates, written like 2024-03-01;
"date_order": "day/month/year" is for dates such as 1/03/2024 or 01.03.2024, with or without a time of day
("month/day/year" and "year-month-day" are the other orders); "dates": {"day": {"period": "year"}} declares that the
curve may repeat every year ("year", "week" or a number of days; mechanisms bayes_cells and bayes); "format" there is
the order of this input alone.
"""


class Failure(Exception):
    """Raised to end a command with an exit code and a sentence."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(code, sentence)
        self.code = code

    def __str__(self) -> str:
        return str(self.args[1])


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Failure(BAD_CONFIG, f"{message}; see {self.prog} --help")


Option = tuple[str, str, dict[str, Any]]
"""Name of an option, its help, and how ``argparse`` reads it."""
_LOOK: Sequence[Option] = (
    ("table", "the table: text with a header line, or one of the kinds below", {"metavar": "TABLE.csv"}),
    ("--sheet", "name of the sheet with the table, for a workbook with several", {"metavar": "NAME"}),
    ("--x", "an input; proposed if left out", {"action": "append", "default": [], "metavar": "COLUMN"}),
    ("--y", "the private outcome; proposed if left out", {"metavar": "COLUMN"}),
)
_WHOSE: Sequence[Option] = (
    (
        "--person",
        "the column that identifies people, if they may have several rows: all rows of one person are protected "
        "together, and the column is neither an input nor released; overrides the configuration",
        {"metavar": "COLUMN"},
    ),
    (
        "--rows-per-person",
        "largest number of rows of one person, if no column identifies people: the noise protects all of them; "
        "1 says that every row is another person; overrides the configuration",
        {"type": int, "metavar": "K"},
    ),
)
"""Options of ``release`` that exclude each other."""
_RELEASE: Sequence[Option] = (
    ("--csv", "the table: text, or one of the kinds below", {"required": True, "metavar": "FILE"}),
    ("--config", "what to release: JSON, or a release.json", {"required": True, "metavar": "FILE"}),
    ("--out", "the zip to write; needed unless --check is given", {"metavar": "FILE"}),
    (
        "--check",
        "a dry run, and the first step: read the table, and say what its owner should know before a release and "
        "whether the ledger would allow it; no budget is spent and no file is written",
        {"action": "store_true"},
    ),
    (
        "--anyway",
        "release even if more than half of the table lies outside the bounds or the box, lacks a value or is of "
        "another kind, or if a column of names or identifiers repeats; without this option it is refused, because the "
        "declaration is probably wrong",
        {"action": "store_true"},
    ),
    (
        "--degrees",
        "input columns in degrees: distances are in km, and so are their lengthscales; their box stays in degrees",
        {"nargs": 2, "metavar": ("LONGITUDE", "LATITUDE")},
    ),
    (
        "--log",
        "measure the natural logarithm of the output, as for prices: bounds are in the output's unit and must "
        "lie above 0, released values are in the output's unit too, and errors are factors",
        {"action": "store_true"},
    ),
    (
        "--buy-bounds",
        "if bounds of the output are unknown: buy them with a share of the budget (bounds_share of the "
        "configuration), from noisy counts in cells that end at 1, 2, 3, 5, 10, ... UNIT; UNIT is the "
        "smallest size that matters, for example 0.01. Cells end at 10^12 UNIT: if many values are larger, "
        "the release is useless and says so, and its budget is spent all the same. Bounds of the "
        "configuration are not used",
        {"type": float, "metavar": "UNIT"},
    ),
    (
        "--tolerance",
        "values are marked as useful if the curve is known to within this, in the output's unit, or within this "
        "factor with --log; overrides the configuration",
        {"type": float, "metavar": "NUMBER"},
    ),
    ("--ledger", "count what is spent in this file, and refuse to exceed the total", {"metavar": "FILE"}),
    (
        "--new-ledger",
        "make the file of --ledger, which must not exist; it starts with the releases that the configuration lists",
        {"action": "store_true"},
    ),
    (
        "--inputs-public",
        "treat the inputs as public from now on, and record that in the ledger. This is needed before a ledger "
        "can contain both releases that protect inputs and releases that protect outputs only, because the "
        "noise of the latter depends on the inputs",
        {"action": "store_true"},
    ),
    ("--force", "overwrite the zip if it exists", {"action": "store_true"}),
)


def parser_of(look: Callable[..., str], release: Callable[..., str]) -> argparse.ArgumentParser:
    """Return the parser of the command line; its results have a function ``run`` that takes them.

    Args:
        look: function that proposes declarations to the owner of a table.
        release: function that releases; it is the only one that spends budget.
    """
    described = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="python -m dpgp_core",
        description="Differentially private releases of Gaussian process predictions.",
        epilog=EPILOG,
        formatter_class=described,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    template = commands.add_parser("template", allow_abbrev=False, help="print a configuration to start from")
    template.set_defaults(run=lambda options: spec_to_json(EXAMPLE).rstrip())
    looking = commands.add_parser(
        "look",
        allow_abbrev=False,
        help="propose declarations of a table to its owner; the output is not private",
        epilog=WRITING_EPILOG,
        formatter_class=described,
    )
    looking.set_defaults(run=look)
    releasing = commands.add_parser(
        "release",
        allow_abbrev=False,
        help="read a table, spend the budget, write a zip",
        epilog=f"{EPILOG}\n{WRITING_EPILOG}\n{DATES_EPILOG}\na configuration:\n{spec_to_json(EXAMPLE)}",
        formatter_class=described,
    )
    releasing.set_defaults(run=release)
    whose = releasing.add_mutually_exclusive_group()
    for group, options in ((looking, _LOOK), (releasing, _RELEASE), (whose, _WHOSE)):
        for name, said, settings in options:
            group.add_argument(name, help=said, **settings)
    return parser
