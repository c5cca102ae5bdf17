"""What the options of the command line do, in words."""

LEDGER_HELP = "count what is spent in this file, and refuse to pass the total"
NEW_LEDGER_HELP = (
    "make the file of --ledger, which must not be there yet; it starts with the releases that the configuration lists"
)
COLUMNS_HELP = "proposed, too, if left out"
DEGREES_HELP = (
    "input columns in degrees: distances are in km, and so are their lengthscales; their box stays in degrees"
)
LOG_HELP = (
    "measure the natural logarithm of the output, as prices need: bounds stay in the output's unit and must lie above "
    "0, values come back by exp, and errors are factors"
)
BUY_HELP = (
    "nobody knows bounds of the output: buy them with a share of the budget (bounds_share of the configuration), from "
    "noisy counts in cells that end at 1, 2, 3, 5, 10, ... UNIT; UNIT is the smallest size that matters, for example "
    "0.01. Cells end at 10^12 UNIT: where people lie beyond, the release is of no use and says so, and is spent all "
    "the same. Bounds of the configuration are not used"
)
PERSON_HELP = (
    "the column that says whose row it is, where people may have several: all rows of one person are hidden together, "
    "and the column is neither an input nor released; goes before the configuration's"
)
ROWS_HELP = (
    "nobody has more than so many rows, and no column says whose they are: noise for all of them; goes before the "
    "configuration's"
)
TOLERANCE_HELP = (
    "values are of use where the curve is known to within this much, in the output's unit, or this factor with --log: "
    "the table marks which are; goes before the configuration's"
)
INPUTS_PUBLIC_HELP = (
    "treat the inputs as public from now on, and record that in the ledger: needed before releases that protect inputs "
    "and outputs stand beside releases that protect outputs only, whose noise depends on the inputs"
)
WRITING_EPILOG = """\
how the table is written, declared in the configuration and written to release.json; 'python -m dpgp_core look
TABLE.csv' prints a configuration with all of it filled in, for the eyes of who owns the table:
  "separator"   ",", ";", "\\t", "|", " ", "^", "~" or ":"; null: the one that the header line has most of
  "numbers"     "1234.5", "1,234.5", "1234,5", "1.234,5", "1 234,5", "1 234.5" or "1'234.5"
  "encoding"    null for UTF-8 or what a byte order mark says; "cp1252" and "latin-1" are usual elsewhere
  "missing"     words and codes that mean that a value is missing, as [-999, "refused"], beside empty cells, NA, N/A,
                NaN, null, none, unknown and the like: rows that lack a value in a column that is used are left out,
                and the number of complete rows is public. null: a row that lacks a value is refused
  "yes", "no"   the words, or codes, of an outcome of yes and no ("y_kind": "yes/no"); what is neither is missing
  "date_order"  of inputs that are dates
  "ignore"      lines that are no rows: titles above the names, units below them, notes, sums; as [2] or ["1-3", "63-"]
  "sheet"       of a workbook (.xlsx) with several sheets, the one that holds the table; its rows count as lines
a configuration needs x, x_box, y, y_bounds, unit, grid, epsilon and delta; all else has a default.
"""
DATES_EPILOG = """\
dates: "x_box": [["2019-01-01", "2023-12-31"]] makes an input one of dates, written like 2024-03-01;
"date_order": "day/month/year" says that the table has 1/03/2024 or 01.03.2024, with a time of day or not
("month/day/year" and "year-month-day" are the others); "dates": {"day": {"period": "year"}} says that the curve may
come again every year ("year", "week" or a number of days; mechanisms bayes_cells and bayes), "format" there is the
order of this input alone.
"""
