"""The error of the release that is decided about, shown fold by fold while it is computed."""

from __future__ import annotations

from dpgp_core.data import Dataset
from pages._ui import left_out
from pages._ui.compare import computed, foreseen
from pages._ui.compare.words import scale_of
from pages._ui.left_out import FOLDS
from pages._ui.look import frame, pictures
from pages._ui.start import decision, words
from pages._ui.start.controls import Decision
from pages._ui.start.decision import Cost


def cost(chosen: Decision, data: Dataset) -> Cost:
    """Held-out errors against epsilon, and without privacy, as the Compare page has them. Not private.

    Until they are whole, the picture of the folds that are done.
    """
    contest, scale = chosen.contest, scale_of(data)
    foreseen.foresee(contest, [chosen.mechanism])
    plain = float(scale.show(left_out.without_privacy(contest.model.dataset, contest.model)))
    with frame.growing() as fresh:
        for grown in computed.growing(contest, chosen.mechanism):
            curve_cost = Cost(scale.show(grown.curve.mean), plain, scale)
            if grown.folds < FOLDS:
                with fresh():
                    picture = decision.errors_figure(curve_cost, chosen.draw.epsilon)
                    pictures.chart(picture, f"errors_{grown.folds}", words.errors_alt(data, curve_cost, grown.folds))
    return curve_cost
