"""Numbers and sentences as pages write them, and the meaning of each term."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from dpgp_core.accounting.gaussian import rounded_down, rounded_up
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.accounting.tradeoff import gaussian_tradeoff

TERMS = {
    "ε (epsilon)": "The privacy budget. Because of one person no event's probability can grow by more than a "
    "factor exp(ε), plus δ. 0 would be perfect privacy; smaller is more private and less accurate.",
    "δ (delta)": "How much a probability may grow in addition to that factor. It should be well below 1 / number of "
    "people.",
    "Differential privacy": "Noise is added so that what is published looks nearly the same whatever any one "
    "person answered.",
    "Unit": "What one row describes: a woman's height, or the median price of a hexagon. Only this much is protected. "
    "For somebody with three rows the promise is weaker: ε is three times as large, and δ grows by more than that.",
    "Neighbours": "Two tables that differ in one unit. The promise is that a release cannot tell them apart by more "
    "than (ε, δ), whatever else is known.",
    "Sensitivity": "How far one record can move the result. Noise is sized to hide exactly that.",
    "Gaussian process (GP)": "A method that fits a smooth curve or map to scattered data and states its uncertainty.",
    "Lengthscale": "The distance over which the curve may change. A longer one averages over more people, so that each "
    "counts less and less noise hides them.",
    "Cloaking": "Noise shaped like the moves that single records can cause, instead of equal noise everywhere "
    "(Smith et al. 2018).",
    "Error": "Root mean square error on people left out. Each fifth of the people is left out in turn, and predicted "
    "from a release about the others. It includes how much people differ from each other, so it is never 0.",
    "Without privacy": "The error without privacy noise: the best that any setting of the page can reach.",
    "Simulated release": "A release with pseudo-random noise, the same for everybody who opens a link. It is not "
    "private.",
    "Privacy noise": "What the mechanism adds to hide each person.",
    "Spread of people": "How much people differ from the curve. Privacy does not change it.",
    "Range for one more person": "The interval that contains one more person's value with the stated probability.",
    "Range for the curve": "The interval that contains the curve with the stated probability. It includes privacy "
    "noise.",
    "Method of 2018": "Cloaking as Smith et al. published it in 2018: log-det objective, Hall's calibration.",
    "True data shown": "A badge for what may be shown for teaching only: true data, and errors computed from them.",
    "Release": "Numbers that are published. Each release spends budget, even if its settings are those of an "
    "earlier one.",
    "Ledger": "The record of all releases of one table. It adds up what they spend together.",
}

ROWS = {  # rows of the guarantee card
    "Protects": "what of a record is hidden; the rest is public.",
    "Neighbours": "tables that a release must not tell apart.",
    "Unit": "what one record describes.",
    "Promise": "how much more probable one person can make anything that is seen.",
    "How sure": "whether a proof covers this setting.",
    "Rests on": "the theorem behind it.",
    "Assumes": "what must be true for it to hold.",
    "Does not cover": "what could still give someone away.",
}

ANCHOR = "words"  # where the start page lists them
_ALL = f"[All words](./#{ANCHOR})"


def help_of(term: str) -> str:
    """Return the meaning of a term, and a link to all terms."""
    return f"{term}: {TERMS[term]} {_ALL}"


def listed() -> str:
    """Return all terms as a Markdown list."""
    return "\n".join(f"- **{term}.** {meaning}" for term, meaning in TERMS.items())


def number(value: float, digits: int = 2) -> str:
    """Return a number with significant digits and without exponent: 8.5, 0.021, 150; "0" for zero."""
    return _written(Decimal(f"{value:.{digits - 1}e}"), digits)


def small(value: float) -> str:
    """Return delta or another small number, such as 0.01 or 1e-5."""
    return re.sub(r"e-0+", "e-", f"{value:g}")


def percent(share: float) -> str:
    """Return a share as a percentage with two significant digits."""
    return f"{number(100 * share)} %"


def round_step(most: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that does not exceed a positive number."""
    power: float = 10.0 ** math.floor(math.log10(most))
    return max(each * power for each in (1, 2, 5) if each * power <= most)


TWICE = 2.0  # from this change on, a factor is clearer than a percentage


def relative(log_change: float) -> float:
    """Return a change of a log price as a share of the price, exp(x) - 1."""
    return math.expm1(min(log_change, 20.0))


def factor_of(log_change: float) -> str:
    """Return a change of a log price: up to doubling as a percentage of the price, exp(x) - 1; beyond as a factor,
    exp(x).
    """
    if log_change > math.log(TWICE):
        return f"a factor of {number(math.exp(min(log_change, 20.0)))}"
    return percent(relative(log_change))


def at_most(value: float, digits: int = 3) -> str:
    """Return an upper bound (an epsilon spent, a factor) in significant digits, rounded up so that it is never too
    small.
    """
    return _written(rounded_up(value, digits), digits)


def at_least(value: float, digits: int = 3) -> str:
    """Return a lower bound (an epsilon that is left) in significant digits, rounded down."""
    return _written(rounded_down(value, digits), digits)


def _written(value: Decimal, digits: int) -> str:
    if value == 0 or not value.is_finite():
        return "0" if value == 0 else "unbounded"
    written = f"{value:,.{max(0, digits - 1 - value.adjusted())}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written  # 1, not 1.0 or 1.00


GROWTH = "no event's probability can grow by more than a factor exp(ε), plus δ, because of one person"
DELTA_HELP = (
    "How much any event's probability may grow in addition to the factor exp(ε). It must be well below 1 / number of "
    "people: a mechanism that reveals one person's row with probability δ keeps this promise too."
)
_MANY = 13  # largest epsilon for which exp(epsilon) is written; exp(13) is 442,413, and further digits mean nothing
_BLAMED = 0.05  # false-alarm rate at which the trade-off curve of Gaussian noise is quoted


def budget(guarantee: Guarantee) -> str:
    """Return (epsilon, delta) and their meaning; for Gaussian noise also a point of its trade-off curve."""
    epsilon, delta = guarantee.budget.epsilon, guarantee.budget.delta
    sentence = (
        f"ε = {at_most(epsilon)}, δ = {small(delta)}: {GROWTH}; here a factor {growth(epsilon)}, plus "
        f"{small(delta) if delta else 'nothing'}"
    )
    if isinstance(guarantee.loss, GaussianLoss):
        blamed = 1 - float(gaussian_tradeoff(np.array([_BLAMED]), guarantee.loss.mu)[0])
        sentence += (
            f". Gaussian noise promises more: whoever accuses {100 * _BLAMED:g} % of the innocent finds at most "
            f"{at_most(min(100.0, 100 * blamed))} % of those who are there"
        )
    return sentence


def growth(epsilon: float) -> str:
    """Return exp(epsilon), the largest factor by which one person can make any event more probable, rounded up."""
    return at_most(math.exp(epsilon)) if epsilon < _MANY else "over 400,000"


def bad_link_value(key: str, raw: str, reason: str, used: object) -> str:
    """Return a sentence about an unusable value in the address."""
    printable = "".join(ch for ch in raw[:40] if ch.isprintable() and ch not in "`$<>[]")
    return f"The link asks for {key} = `{printable}`: {reason} Showing {key} = {used} instead."


def in_sentence(title: str) -> str:
    """Return the name of a method within a sentence: proper names keep their capital letter."""
    return title if title.startswith(("Bayes", "GP", "Laplace")) else title[0].lower() + title[1:]


def plain(words: str) -> str:
    """Return words of a visitor, or of an error that quotes them, with all Markdown characters escaped."""
    return re.sub(r"([\\`*_{}\[\]()#+|<>$:~!])", r"\\\1", " ".join(words.split()))


class Metric(NamedTuple):
    """A number with its unit, and its difference from something named."""

    label: str
    value: str
    change: str | None = None
    help: str | None = None
