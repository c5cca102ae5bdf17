"""Questions of the form for a visitor's table, as data: each once, with its label, help, range and default.

``{}`` in a question stands for the name of a column.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from dpgp_core.accounting.guarantee import MOST_ROWS
from dpgp_core.bounds.buying import SHARE
from dpgp_core.bounds.cells import LEAST_UNIT, MOST_UNIT
from dpgp_core.dates import ORDERS, Format, example
from dpgp_core.reading.writing import NUMBERS as WAYS
from dpgp_core.table import KINDS, Kind
from pages._ui.look.controls import HERE, Number
from pages._ui.look.text import DELTA_HELP, GROWTH
from pages._ui.own.slots import Question

# What the columns are, and how they are written

MOST_INPUTS = 3  # largest number in the form; the command line accepts ten
Y = Question(
    "y",
    "selectbox",
    "Private column: the output y",
    help="The value that the noise hides, for example a height, a wage, or yes and no.",
)
X = Question(
    "x",
    "multiselect",
    "Inputs x",
    default=[],
    help="What the curve depends on, for example age. Two inputs give a map, for example longitude and latitude.",
    look={"max_selections": MOST_INPUTS},
)
PLAIN_NUMBERS = "1234.5"
NUMBERS = Question(
    "numbers",
    "selectbox",
    "How are numbers written?",
    default=PLAIN_NUMBERS,
    help="Declared, never guessed: 1,234 is a thousand to some and little more than one to others. Marks between "
    "thousands may be left out in the table; currency and per cent signs are ignored.",
    look={"options": list(WAYS)},
)
READING = Question(
    "reading",
    "selectbox",
    "How are numbers read?",
    help="Every fraction of this column has exactly three digits, so that the mark before them may stand between "
    "thousands or before a fraction. Declared, never guessed.",
)
NOTATIONS = Question(
    "notations",
    "multiselect",
    "Also read as numbers",
    default=[],
    help="Censored values such as <5 or 80+ count as their limit. Feet and inches are read in inches, times in hours, "
    "and 12k is 12,000. It is published with the release.",
)
AS_NUMBERS, AS_GROUPS = "numbers", "groups"
DATES: dict[str, Format] = {f"dates, as {example(order)} ({order})": order for order in ORDERS}
HOLDS = Question(
    "holds_{}",
    "selectbox",
    "{} holds",
    default=AS_NUMBERS,
    help="Declared, never guessed. Dates are read only in this order, with any of . / - between day, month and "
    "year, and "
    "with a time of day or not, which is left out. Groups, for example women and men, get a curve each from one "
    "budget.",
    look={"options": [AS_NUMBERS, *DATES, AS_GROUPS]},
)
GROUPS = Question(
    "levels_{}",
    "text_input",
    "Groups of {}",
    default="",
    look={"placeholder": "women, men", "max_chars": 1000},
)
ABOUT_GROUPS = (
    "For example: women, men. Name the groups that you knew before, as the table writes them, because which groups "
    "there are is published. A value that is none of them counts as *other* if you name a group other."
)
USUAL = "an empty cell, NA and the like"
MISSING = Question(
    "missing",
    "multiselect",
    "Which of these mean that a value is missing?",
    default=[],
    help="Rows that hold one of these in a column that is used are left out. What is not chosen counts as an outcome, "
    "for example -999 as the lowest. You may type another word or number. How many rows are complete is published.",
    look={"accept_new_options": True, "placeholder": "Choose, or type a word or a number"},
)

# Whose rows they are

ONE_ROW, COLUMN, AT_MOST = "no", "column", "at most"
_WHOSE = {
    ONE_ROW: "No, every row is another person",
    COLUMN: "Yes, a column says whose row it is",
    AT_MOST: "Yes, but nobody has more than a few rows",
}
WHOSE = Question(
    "whose",
    "radio",
    "Can somebody have more than one row?",
    help="The noise hides a person only if it covers all of that person's rows. For example, children who were "
    "measured several times have several rows.",
    look={"options": list(_WHOSE), "format_func": _WHOSE.__getitem__, "horizontal": True},
)
PERSON = Question(
    "person",
    "selectbox",
    "Whose row it is",
    help="A number or name that is the same in all rows of one person, for example a patient number. It is used to "
    "count everybody once, and is never released.",
)
ABOUT_PEOPLE = "The card states the number of people. The number of rows stays hidden if inputs are private."
ROWS = Question(
    "most_rows",
    "number_input",
    "Most rows of one person",
    help="For example 4, if everybody was asked in at most four years. The noise is made for this number of rows: "
    "twice as many need twice the noise. Somebody with more rows is protected less.",
    look={"min_value": 2, "max_value": MOST_ROWS},
)

# The output

_KINDS: dict[Kind, str] = {"number": "A number", "amount": "An amount", "count": "A count", "yes/no": "Yes or no"}
ABOUT_KINDS: dict[Kind, str] = {
    "number": "Any number, with about as many people far above the usual as far below it: a height, a temperature.",
    "amount": "0 or more, with a few far above the rest: a wage, a price, a duration.",
    "count": "A whole number of 0 or more: visits a year, children, accidents.",
    "yes/no": "1 and 0, or two words for these: vaccinated, employed. The curve is then the share of yes, in per cent.",
}
KIND = Question(
    "kind",
    "selectbox",
    "What kind of outcome is it?",
    default="number",
    help="Declared, never guessed. The kind helps the method to fit the outcome. Privacy is the same whatever you "
    "choose.",
    look={"options": KINDS, "format_func": _KINDS.__getitem__},
)
YES = Question("yes", "selectbox", "Yes is written", help="Rows with any other word are left out.")
NO = Question("no", "selectbox", "No is written")
DATES_MEAN = Question(
    "dates_mean",
    "radio",
    "What does a date in this column mean?",
    help="For example, the day on which somebody recovered means yes.",
    look={"options": ["yes", "no", "a missing value"], "horizontal": True},
)
UNIT = Question(
    "unit",
    "text_input",
    "What is hidden",
    default="",
    help="What the card says is hidden, for example one woman's wage or one hexagon's median price. Left empty, it "
    "says: {}.",
)
Y_UNIT = Question(
    "y_unit",
    "text_input",
    "Unit of y",
    default="",
    help="For the axis and the card, for example cm or €.",
    look={"placeholder": "cm"},
)
LOW = Question(
    "low",
    "number_input",
    "y is at least",
    help="What you knew before you saw the table, for example 0 for a wage. Lower values are moved up to it. A narrow "
    "range needs less noise.",
)
HIGH = Question(
    "high",
    "number_input",
    "y is at most",
    help="What you knew before, for example 80 for an hour's wage. Higher values are moved down to it.",
)
BUY = Question(
    "buy_bounds",
    "checkbox",
    "I do not know the bounds: buy them for a tenth of the budget",
    default=False,
    help="The release first counts, with noise, how many people lie in 0 to 1, 1 to 2, 2 to 3, 3 to 5, 5 to 10, ... "
    "times the size that you give, and takes bounds from these counts alone. It is part of the same release: nothing "
    "is spent twice.",
)
ABOUT_BUYING = (
    f"Everything else is then measured with {100 * ((1 - SHARE) ** -0.5 - 1):.0f} % more noise. About one person in "
    "a hundred "
    "lies outside the bounds, more in small tables, and is moved to the nearer one. About two hundred people are "
    "needed at ε = 1, and a thousand if there are gains and losses; the page says so before anything is spent."
)
SMALLEST = Question(
    "bounds_unit",
    "number_input",
    "Smallest y that matters",
    help="A public guess, for example 0.01 for a wage in pounds, 1 for a count. Smaller values count as 0 for the "
    "bounds. They can be found up to 10^12 times this size. If many values are larger, the release is "
    "useless, and its budget is spent all the same.",
    look={"min_value": LEAST_UNIT, "max_value": MOST_UNIT, "format": "%g"},
)
LOG = Question(
    "log",
    "checkbox",
    "Measure the logarithm of y: for prices, incomes and the like",
    default=False,
    help="Errors are then factors, the same for cheap and dear. The bounds are those of y itself and must lie above 0; "
    "released values are medians of y. It costs no privacy.",
)

# Each input

NO_DEGREES = "No"
DEGREES = Question(
    "degrees",
    "selectbox",
    "Are two of them degrees?",
    default=NO_DEGREES,
    help="Distances between degrees are measured in kilometres, and so are lengthscales. The map is drawn with east "
    "across. For example, longitude -0.1 and latitude 51.5 are in London: longitude is east.",
)
X_UNIT = Question("x_unit_{}", "text_input", "Unit of {}", default="")
FROM = Question(
    "box_low_{}",
    "number_input",
    "{} from",
    help="Where the curve begins, for example 18 years. Say what you knew before, not the least in the table.",
)
TO = Question(
    "box_high_{}",
    "number_input",
    "{} to",
    help="Where the curve ends, for example 90 years. Rows outside are moved to the edge where inputs are private, and "
    "refused where they are public.",
)
PERIODS = {"never": None, "week": "week", "year": "year"}
PERIOD = Question(
    "period_{}",
    "selectbox",
    "Repeats every",
    default="never",
    help="After which time the curve along {} repeats, for example every year for clinic visits. The domain must be at "
    "least twice as long.",
    look={"options": list(PERIODS)},
)
_ORDERS = dict(zip(ORDERS, ("YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY"), strict=True))
_FIRST_DAY = Question(
    "from_day_{}",
    "date_input",
    "{} from",
    help="The first day of the curve. Say what you knew before, not the first in the table.",
    look={"min_value": date(1000, 1, 1), "max_value": date(2999, 12, 31)},
)
_LAST_DAY = replace(
    _FIRST_DAY,
    key="to_day_{}",
    label="{} to",
    help="The last day of the curve. Say what you knew before, not the last in the table.",
)


def days(column: str, order: Format) -> list[Question]:
    """Return the questions about first and last day of a column of dates, in its own order."""
    pair = (_FIRST_DAY.of(column), _LAST_DAY.of(column))
    return [replace(each, look={**each.look, "format": _ORDERS[order]}) for each in pair]


LENGTHSCALE = Question(
    "length_{}",
    "number_input",
    "Lengthscale",
    help="Over what distance in {} the curve can change, for example 20 years of age for a wage. Longer needs less "
    "noise. Choosing it by looking at results is not covered by the guarantee.",
)
_GRIDS = (51, 20, 9)  # points along each input, for one, two or three inputs
_POINTS = Question(
    "grid_{}",
    "number_input",
    "Points",
    help="How many values are published along it, for example 51. They are evenly spaced, never at a person's own "
    "value.",
    look={"min_value": 2, "max_value": 2000},
)


def points(column: str, inputs: int) -> Question:
    """Return the question about the number of points along an input, which is smaller if there are more inputs."""
    of_many = "" if inputs == 1 else str(inputs)
    return replace(_POINTS.of(column), key=f"grid{of_many}_{column}", default=_GRIDS[min(inputs, len(_GRIDS)) - 1])


# Mechanism and budget

MECHANISM = Question(
    "mechanism",
    "selectbox",
    "Mechanism",
    help="The first hides inputs and outputs. It is the right choice if inputs are private. If they are public, for "
    "example places of weather stations, the second hides outputs alone with less noise. The card says which one was "
    "used.",
)
ABOUT_MODELS = (
    "Several lengthscales and noises, made from domain and bounds, are averaged by how well they explain the released "
    "numbers. Any other model can be tried after the release, at no budget."
)
ONLY_BAYES = "Only Bayes cloaking can use groups, so the other mechanisms are not offered."
KERNEL = Question("kernel", "selectbox", "Kernel")
NOISE = Question(
    "noise",
    "number_input",
    "Spread of people",
    default=0.3,
    help="Variance of people about the curve, as a share of the curve's own variance: a public guess, for example 0.3.",
    look={"min_value": 0.001, "max_value": 100.0},
)
CELLS = Question(
    "cells",
    "number_input",
    "Cells along each input",
    default=6,
    help="How finely the mechanism divides the domain, for example 6. Finer cells show more and need more people.",
    look={"min_value": 1, "max_value": 400},
)
EPSILON = Question(
    "epsilon",
    "number_input",
    "ε of this release",
    default=1.0,
    help=f"{GROWTH.capitalize()}.",
    look={"min_value": 0.001, "max_value": 100.0},
)
DELTA = Question(
    "delta",
    "number_input",
    "δ",
    default=1e-5,
    help=DELTA_HELP,
    look={"min_value": 1e-12, "max_value": 0.1, "format": "%.1e"},
)
TOTAL = Question(
    "total",
    "number_input",
    "Total ε for all releases",
    help="All releases from this table together, for example 2. It is fixed by the first release, and a release that "
    "would exceed it is refused.",
    look={"min_value": 0.001, "max_value": 1000.0},
)
CENTILES = Question(
    "centiles",
    "checkbox",
    "Publish centiles of people too, as in a growth chart",
    default=False,
    help="The values below which 3, 15, 50, 85 and 97 in 100 further people are, if the model is right. They are "
    "computed from what is measured anyway, so they cost nothing more.",
)
# Part of the link, unlike the declaration of the table, because it says nothing about the table
TOLERANCE: Number[float | None] = Number(
    "tolerance",
    "Precision you need (optional), {}",
    None,
    0.0,
    None,
    help="A value is useful if the curve is known to within this with 95 % probability. Other values are grey, and "
    "marked in the file. It changes nothing else, and costs nothing.",
    section=HERE,
)
