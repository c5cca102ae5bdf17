"""Curves of the comparison as they are done, shown meanwhile in a place that is emptied at the end."""

from __future__ import annotations

from collections.abc import Sequence

from pages._ui.compare import computed, figures, foreseen, notes, words
from pages._ui.compare.contenders import CONTENDERS, Contest, Curve
from pages._ui.left_out import FOLDS
from pages._ui.look import frame, pictures


def curves(
    contest: Contest, names: Sequence[str], question: str, epsilon: float, nonprivate: float, target: float
) -> dict[str, Curve]:
    """Curves in the order of the table; until the slowest is done, question, answer and picture of what is there.

    Args:
        contest: settings.
        names: of the contenders, in the order of computing.
        question: the page's title.
        epsilon: where mechanisms are ranked.
        nonprivate, target: lines of the picture, in the output's unit.
    """
    foreseen.foresee(contest, names)
    arrived, scale = dict[str, Curve](), words.scale_of(computed.dataset(contest))
    with frame.growing() as fresh:

        def show(name: str, folds: int) -> None:
            with fresh():
                frame.heading_so_far(question, words.so_far(arrived, epsilon, scale, name, folds, len(names)))
                picture = figures.errors(arrived, nonprivate, epsilon, target, scale)
                pictures.chart(picture, f"so_far_{name}_{folds}", notes.SO_FAR)

        for number, name in enumerate(names, 1):
            if arrived and not computed.is_ready(contest, name):
                show(name, 0)
            progress = f"Comparing, {number} of {len(names)}: "
            for grown in computed.growing(contest, name, progress):
                arrived[name] = grown.curve
                if grown.folds < FOLDS:
                    show(name, grown.folds)
    return {name: arrived[name] for name in CONTENDERS if name in arrived}
