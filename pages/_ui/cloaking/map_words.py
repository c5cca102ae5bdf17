"""Lead of the page about a map."""

from __future__ import annotations

from pages._ui.cloaking import words
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.words import Shown
from pages._ui.left_out import Trio


def lead(ours: Result, paper: Result, errors: Trio | None, shown: Shown) -> str:
    """The plain sentences under the question."""
    if errors is None:
        return words.without_overlay(ours, paper, shown)
    return (
        f"At epsilon = {ours.asked[2].epsilon:g} a published price is wrong by "
        f"**{words.error(errors.ours, shown)}** (typical error); without privacy by {shown(errors.without)}."
    )
