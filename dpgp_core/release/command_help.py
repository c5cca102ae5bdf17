"""What the options of the command line do, in words."""

LEDGER_HELP = "count what is spent in this file, and refuse to pass the total"
NEW_LEDGER_HELP = (
    "make the file of --ledger, which must not be there yet; it starts with the releases that the configuration lists"
)
DIALECT_HELP = "how the table is written; semicolons go with decimal commas; default: %(default)s"
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
DATES_EPILOG = """\
dates: "x_box": [["2019-01-01", "2023-12-31"]] makes an input one of dates, written like 2024-03-01;
"dates": {"day": {"format": "day.month.year", "period": "year"}} says that its dates are written like 01.03.2024, and
that the curve may come again every year ("year", "week" or a number of days; mechanisms bayes_cells and bayes).
"""
