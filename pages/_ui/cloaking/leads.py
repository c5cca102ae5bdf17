"""Title and lead of the page about a growth curve."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui.cloaking import words
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.words import Shown
from pages._ui.left_out import Trio


def question(data: Dataset) -> str:
    """The title: heights grow, other outcomes have a curve."""
    return f"What does privacy do to a {'growth ' if data.y_name == 'height' else ''}curve?"


def of_curve(ours: Result, paper: Result, errors: Trio | None, shown: Shown) -> str:
    """The plain sentences under the question."""
    if errors is None:
        return words.without_overlay(ours, paper, shown)
    return (
        f"At epsilon = {ours.draw.epsilon:g} the published curve has an error of "
        f"**{words.error(errors.ours, shown)}**. Without privacy it is {shown(errors.without)}, because people differ. "
        f"With the method of 2018 it is {words.error(errors.paper, shown)}."
    )
