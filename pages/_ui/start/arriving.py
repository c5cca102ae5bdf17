"""The error of the release that is decided about, shown fold by fold while it is computed."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui.compare import foreseen
from pages._ui.folds import FOLDS
from pages._ui.look import frame, pictures
from pages._ui.start import computed, decision, words
from pages._ui.start.controls import Decision
from pages._ui.start.decision import Cost


def cost(chosen: Decision, data: Dataset) -> Cost:
    """The whole error; until it is done, the picture of the folds that are."""
    foreseen.foresee(chosen.contest, [chosen.mechanism])
    found: list[Cost] = []
    with frame.growing() as fresh:
        for so_far, folds in computed.costs(chosen):
            found.append(so_far)
            if folds < FOLDS:
                with fresh():
                    picture = decision.errors_figure(so_far, chosen.draw.epsilon)
                    pictures.chart(picture, f"errors_{folds}", words.errors_alt(data, folds))
    return found[-1]
