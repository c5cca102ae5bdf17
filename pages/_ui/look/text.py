"""Plain-language sentences and number formats."""

from __future__ import annotations

import math
import re

from dpgp_core.accounting.guarantee import Guarantee


def number(value: float, digits: int = 2) -> str:
    """A number with significant digits and no exponent: 8.5, 0.021, 150; '0' for zero."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "unbounded"
    rounded = float(f"{value:.{digits - 1}e}")
    return f"{rounded:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"


def percent(share: float) -> str:
    """A share as a percentage with two significant digits."""
    return f"{number(100 * share)} %"


def factor_of(log_change: float) -> str:
    """A change of a log price as a percentage of the price: exp(x) - 1."""
    return percent(math.expm1(min(log_change, 20.0)))


def budget(guarantee: Guarantee) -> str:
    """(epsilon, delta) with the meaning of each next to it."""
    epsilon, delta = guarantee.budget.epsilon, guarantee.budget.delta
    return (
        f"ε = {number(epsilon, 3)} (one person can change the odds of any outcome by a factor of at most "
        f"{odds(epsilon)[2:]}), " + (f"except with probability δ = {delta:g}" if delta else "without exception (δ = 0)")
    )


def odds(epsilon: float) -> str:
    """exp(epsilon) in words: the largest factor by which one person can change the odds of an outcome."""
    return f"× {number(math.exp(epsilon))}" if epsilon < 13 else "× over 400,000"


def bad_link_value(key: str, raw: str, reason: str, used: object) -> str:
    """What a page says about a value in its address that it cannot use."""
    shown = "".join(ch for ch in raw[:40] if ch.isprintable() and ch not in "`$<>[]")
    return f"The link asks for {key} = `{shown}`: {reason} Showing {key} = {used} instead."


def plain(words: str) -> str:
    """Words of a visitor, or of an error that quotes them, with every sign escaped that markdown would act on."""
    return re.sub(r"([\\`*_{}\[\]()#+|<>$:~!])", r"\\\1", " ".join(words.split()))
