"""The picture of an explored release, for the page and to take along: all of it may be published."""

from __future__ import annotations

import plotly.graph_objects as go

from dpgp_core.bayes.reading import Difference
from pages._ui.explore import computed, figures, words
from pages._ui.explore.computed import EXPLORED
from pages._ui.explore.controls import Chosen
from pages._ui.look import frame, pictures, sheet
from pages._ui.look.picture import as_it_is
from pages._ui.look.sheet import About
from pages._ui.work import cached


def picture(chosen: Chosen) -> None:
    """What the view asks for."""
    _chart(chosen, _drawn(chosen), "explored", words.caption(chosen))


def lengthscales(chosen: Chosen) -> None:
    """How probable each lengthscale is, as bars and as a table."""
    labels = figures.share_labels(chosen.explored.statistics)
    drawn = figures.lengthscales(labels, chosen.read, chosen.view.lengthscale)
    _chart(chosen, drawn, "explored_lengthscales", words.LENGTHSCALE_CAPTION)
    frame.table(words.likely(chosen), "explored_likely")


def table(chosen: Chosen) -> None:
    """The numbers behind the picture; of two groups their difference."""
    note = "Computed from released numbers: all of it may be published."
    rows = words.table(chosen) if chosen.view.apart is None else words.apart_table(chosen, _apart(chosen))
    frame.table(rows, "explored_curve", note)


def _chart(chosen: Chosen, drawn: go.Figure, key: str, said: str) -> None:
    pictures.chart(drawn, key, said, as_it_is(drawn, _about(chosen, said)))


def _drawn(chosen: Chosen) -> go.Figure:
    statistics, view, names = chosen.explored.statistics, chosen.view, chosen.read.groups
    if view.apart is None:
        return figures.picture(statistics, chosen.read, view)
    first, second = (names[at] for at in view.apart)
    return figures.difference(statistics, _apart(chosen), view.level, f"{first} less {second}")


def _apart(chosen: Chosen) -> Difference:
    assert chosen.view.apart is not None
    return computed.apart(chosen.explored, chosen.taught, EXPLORED.find(), chosen.view.apart)


def _about(chosen: Chosen, shows: str) -> About:
    guarantee, statistics = chosen.explored.guarantee, chosen.explored.statistics
    if chosen.taught is not None:
        data = cached.dataset(chosen.taught.dataset)
        return sheet.of_release(data, guarantee, f"Bayes cloaking, {chosen.name}", shows)
    inputs = " and ".join(statistics.x_names)
    return About(f"Published: {statistics.y_name} by {inputs}; Bayes cloaking.", shows, guarantee, taught=False)
