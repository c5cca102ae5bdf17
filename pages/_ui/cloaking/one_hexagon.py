"""One hexagon of the map: a visitor changes its price, and the same privacy noise is added again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from datasets import london_hexes
from dpgp_core.arrays import FloatArray
from dpgp_core.figures.export import Panel
from pages._ui.cloaking import cells, computed, results
from pages._ui.cloaking.results import Result
from pages._ui.look import maps, pictures, redrawn_maps, settings, text
from pages._ui.look.controls import HERE, Range
from pages._ui.look.plots import RISK
from pages._ui.look.tables import NOT_PRIVATE
from pages._ui.work import cached

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_THOUSAND = 1000
_LOW, _HIGH = (round(math.exp(bound) / _THOUSAND) for bound in london_hexes.Y_BOUNDS)
# At first the lower bound, whatever the true price is
PRICE = Range("moved_price", "Its median price changed to [£ thousand]", _LOW, _LOW, _HIGH, 50, section=HERE)
_TITLES = ("This release", "Price changed, same noise", "Nothing changed, other noise")
_SWALLOWED = "The noise can move the published price of this hexagon further than its own true price does."
_VISIBLE = "The true price of this hexagon moves the published one further than the noise: it is too small to hide it."


@dataclass(frozen=True, eq=False)
class Moved:
    """Values of a release before and after the price of one hexagon is changed. Only ``before`` is public.

    Attributes:
        row: row of the hexagon in the scene.
        before: released values (P,).
        after: the values that the same noise gives with the changed price (P,).
        shift: their distance in standard deviations of the noise, along the direction in which it is most visible.
    """

    row: int
    before: FloatArray
    after: FloatArray
    shift: float

    @property
    def moves(self) -> FloatArray:
        """Distance by which each value moves (P,)."""
        return np.abs(self.after - self.before)


def move(result: Result, cell: str, price: float) -> Moved:
    """Return the first release of a mechanism that adds noise once, and the same with another price [GBP] of a cell."""
    data, (model, design, draw) = result.dataset, result.settings
    row = int(np.flatnonzero(data.labels["cell"] == cell)[0])
    y = data.y.copy()
    y[row] = math.log(price)
    given = replace(data, y=y), result.scene, result.linear_plan
    [after], _ = results.stage_draws(*given, model, design, replace(draw, draws=1))
    shift = result.shift_of(row, abs(y[row] - data.clipped_y[row]))
    return Moved(row, result.samples[0], after, shift)


def show(result: Result, table: pd.DataFrame, picked: str | None, overlay: bool) -> Result | None:
    """Let a visitor change the price of the picked hexagon, and draw what is published then.

    Needs the overlay, because the difference reveals the true price. Return the further release that is drawn, if any.
    """
    data = result.dataset
    if not overlay or data.name != london_hexes.NAME or picked is None or picked not in set(data.labels["cell"]):
        return None
    if result.plan is None:
        st.caption("To change the price of this hexagon, choose a method that adds noise once, such as cloaking.")
        return None
    price = settings.value_of(PRICE)
    model, design, draw = result.settings
    other = computed.run(model, design, replace(draw, draws=1, seed=draw.seed + draw.draws))
    moved, called = move(result, picked, price * _THOUSAND), maps.names(table)[picked]
    st.markdown(answer(result, moved, called, price))
    _draw(result, table, moved, other, picked, called, price)
    return other


def answer(result: Result, moved: Moved, called: str, price: int) -> str:
    """Return how far the published prices move, and how far the noise alone moves them."""
    assert result.intervals.noise is not None
    others = np.delete(moved.moves, moved.row).max()
    return (
        f"If the median price of {called} were **£{price:,}k** and the privacy noise stayed the same, its published "
        f"price would move by **{text.factor_of(moved.moves[moved.row])}**, and that of any other hexagon by at most "
        f"{text.factor_of(others)}. The privacy noise alone moves the published price of {called} by up to "
        f"**{text.factor_of(result.intervals.noise[moved.row])}**, in 95 of 100 releases. All hexagons together move "
        f"by {text.at_most(moved.shift)} standard deviations of the noise."
    )


def _draw(
    result: Result, table: pd.DataFrame, moved: Moved, other: Result, picked: str, called: str, price: int
) -> None:
    around = cached.value("Drawing the boroughs", maps.boroughs, here=True)
    shown = cells.map_rows(result.scene)
    values = [moved.before, moved.after, other.samples[0]]
    prices = [cells.released_prices(each, result.dataset)[shown] for each in values]
    column = cells.LAYERS["private"].column
    tables = [table.assign(**{column: each}) for each in prices]
    layer = cells.layer_of("private", *tables)
    at = int(np.flatnonzero(table["cell"] == picked)[0])
    panels = [
        Panel(
            draw=partial(_draw_map, each[layer.columns], layer, around, picked),
            title=title,
            caption=f"{called}: £{each[column][at] / _THOUSAND:,.0f}k",
        )
        for title, each in zip(_TITLES, tables, strict=True)
    ]
    named = (column, f"{column}, price changed ({NOT_PRIVATE})", f"{column}, other noise")
    numbers = table[["cell", "borough"]].assign(**dict(zip(named, prices, strict=True)))
    alt = f"Published prices: {'; '.join(f'{panel.title}, {panel.caption}' for panel in panels)}."
    below = partial(redrawn_maps.draw_scale, layer, any(layer.unsure(each).any() for each in tables))
    assert result.intervals.noise is not None
    caption = _SWALLOWED if result.intervals.noise[moved.row] > moved.moves[moved.row] else _VISIBLE
    of = (result.settings, other.settings, picked, price)
    pictures.panels(panels, below, "one_hexagon", alt, numbers, None, caption, of=of, are_maps=True)


def _draw_map(table: pd.DataFrame, layer: maps.Layer, around: maps.Boroughs, picked: str, ax: Axes) -> None:
    redrawn_maps.draw_map(table, layer, around, ax, named=False)
    ax.fill(*maps.mercator(maps.rings([picked])[0]).T, fill=False, edgecolor=RISK, linewidth=2)
