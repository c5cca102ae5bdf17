"""What may be published of the figures of a release: drawn without true data, and what is said beside them."""

from __future__ import annotations

from functools import partial

from pages._ui.cloaking import figures, words
from pages._ui.cloaking.growth import Growth
from pages._ui.cloaking.results import Result
from pages._ui.look import offers, sheet
from pages._ui.look.picture import Public
from pages._ui.look.sheet import About


def curves(result: Result, *, other: bool = False, kept: Result | None = None) -> Public:
    """Of the curves, and a pinned release over them."""
    said = words.curves_alt(result, "purple" if other else "orange", overlay=False)
    if kept is not None:
        beside = about(kept, "").release.removeprefix("Published: ")
        said += f" Brown: another release, {beside} at ε = {kept.draw.epsilon:g}: both together cost more."
    return Public(partial(figures.curves, result, False, other, kept), about(result, said))


def growth(result: Result, chart: Growth, person: tuple[float, float], shows: str, *, other: bool = False) -> Public:
    """Of the growth chart; the person on it is anybody, moved by hand."""
    return Public(partial(figures.growth, chart, result.dataset, person, None, other), about(result, shows))


def about(result: Result, shows: str) -> About:
    """What is said of a release."""
    first, count = result.draw.seed, result.draw.draws
    drawn = f"example draw {first}" if count == 1 else f"example draws {first} to {first + count - 1}"
    made = f"{offers.MECHANISM.titles[result.design.mechanism]}, {drawn}"
    return sheet.of_release(result.dataset, result.outcome.guarantee, made, shows)
