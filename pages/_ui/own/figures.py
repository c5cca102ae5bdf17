"""Figures and sentences of a visitor's own release: curves, groups and values."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.io.formats.style import Styler

from dpgp_core.arrays import BoolArray, FloatArray
from dpgp_core.figures.drawing import COLOURS
from dpgp_core.figures.ticks import are_years, marks
from dpgp_core.gp.regression import Inference
from dpgp_core.release import CENTILES, Published, ReleaseSpec
from dpgp_core.release.bundle import safe_text
from dpgp_core.release.picture import Group, groups_of
from dpgp_core.release.publishing import about, bounds_bought, is_off_scale, known_share, useful, within_tolerance
from pages._ui.look.plots import (
    HEIGHT,
    axis,
    band,
    centile_lines,
    draw_line,
    finish,
    grid_map,
    mark_dates,
)
from pages._ui.look.tables import decimals_within
from pages._ui.look.text import number, plain

N = TypeVar("N", float, FloatArray)

OF_NO_USE = "#8a8a8a"  # values that are too uncertain; also dotted or crosses, so that colour is not the only sign
_DASHES = ("solid", "8px,3px", "2px,2px", "8px,3px,2px,3px", "12px,4px", "4px,2px", "16px,3px")
_FEW = 6  # largest number of whole numbers between bounds that each have a mark
_BAND, _BANDS = 0.22, 0.15  # opacity of one band, and of several that overlap


def in_per_cent(spec: ReleaseSpec, values: N) -> N:
    """Return shares of yes in per cent; other outcomes as they are, in ``y_unit``."""
    return 100 * values if spec.y_kind == "yes/no" else values


def unit_of_change(spec: ReleaseSpec) -> str:
    """Return the unit of a difference of two outputs as it is drawn."""
    return "percentage points" if spec.y_kind == "yes/no" else spec.y_unit


def title(name: str, unit: str) -> str:
    """Return the title of an axis."""
    return html.escape(axis(name, unit))  # plotly reads tags in titles, and these are a visitor's words


def y_title(spec: ReleaseSpec) -> str:
    """Return the title of the output's axis."""
    return title(spec.y, "% yes" if spec.y_kind == "yes/no" else spec.y_unit)


def release_curve(groups: Sequence[Group], published: Published, within: BoolArray, spec: ReleaseSpec) -> go.Figure:
    """Draw released values of each group with the curve's 95 % interval on the same axes; useless values are grey.

    Args:
        groups: the groups.
        published: the release.
        within: which values are useful (P,).
        spec: specification with which it is drawn.
    """
    figure, opacity = go.Figure(), _BAND if len(groups) == 1 else _BANDS
    values = in_per_cent(spec, published.values)
    for group in groups:
        low, high = (in_per_cent(spec, end[group.rows]) for end in published.curve)
        band(figure, group.X[:, 0], low, high, group.colour, opacity, _of(group, "the curve, 95 %"))
        figure.data[-1].showlegend = not group.name
    for group in groups:
        line, x, useful = values[group.rows], group.X[:, 0], within[group.rows]
        kept = np.where(useful, line, np.nan)
        name = html.escape(group.name) or "released"
        draw_line(figure, x, kept, name, group.colour, _dash(group.number // len(COLOURS)), showlegend=True)
        if published.centiles:
            lines = {name: each[group.rows] for name, each in zip(CENTILES, published.centiles, strict=True)}
            centile_lines(figure, x, lines, group.colour, _of(group, "half of people below"))
        if not useful.all():  # the rest of the curve extends to useful neighbours, so that there is no gap
            outside = np.pad(~useful, 1)
            rest = np.where(outside[1:-1] | outside[:-2] | outside[2:], line, np.nan)
            draw_line(figure, x, rest, _of(group, "released, of no use"), OF_NO_USE, "dot", showlegend=True)
    return _finished(figure, spec)


def _finished(figure: go.Figure, spec: ReleaseSpec) -> go.Figure:
    """Return a figure with titles and marks: years as 1984 instead of 1,984.5, and whole numbers for counts."""
    name, x_unit, side = spec.x[0], spec.x_units[0], spec.x_box[0]
    figure.update_xaxes(title=title(name, x_unit))
    figure.update_yaxes(title=y_title(spec))
    if are_years(name, x_unit, side):
        ticks, texts = zip(*marks(*side, whole=True), strict=True)
        figure.update_xaxes(tickvals=ticks, ticktext=texts, hoverformat=".4~g")
    if spec.y_kind == "count":
        few = spec.y_bounds[1] - spec.y_bounds[0] <= _FEW
        figure.update_yaxes(tickformat=",d", **({"dtick": 1} if few else {}))
    return mark_dates(finish(figure, HEIGHT), html.escape(name), spec.dates_of(name), side)


def _of(group: Group, subject: str) -> str:
    return f"{html.escape(group.name)}: {subject}" if group.name else subject


def _dash(at: int) -> str:
    return _DASHES[at % len(_DASHES)]


_HUGE = math.log(1e6)
_ABOUT_GROUPS = " One curve for each group; what the groups share was learnt from all of them."
_ABOUT_FADING = " Colours fade where little is known, as where few people are."
_ABOUT_FIRST = " The map is of the first group; the table and the file have all groups."
_ABOUT_CENTILES = " The number at a thin line says how many in 100 further people are below it, if the model is right."


def interval_sentence(spec: ReleaseSpec, half_width: FloatArray | None, step: float) -> str:
    """Return how wide the intervals will be, before anything is released. It depends on public values only."""
    if half_width is None:
        stages = "It measures in stages, each around the curve that those before it released."
        why = "This mechanism protects the inputs too." if spec.protects_inputs else stages
        return f"{why} How wide its intervals come out is known only with the release, and is part of it."
    low, middle, high = (error(spec, float(width)) for width in np.quantile(half_width, [0.1, 0.5, 0.9]))
    return (
        f"The curve will be known to about **{middle}** with 95 % probability ({low} to {high} over most of the "
        "grid). This includes privacy noise, and assumes that the model is right. Values will be rounded to multiples "
        "of "
        f"{step:g}."
    )


def error(spec: ReleaseSpec, width: float) -> str:
    """Return half of an interval, in the measured unit, in words: ± 8.5 cm, or a factor of 1.23."""
    if spec.log:
        return f"a factor of {factor(width)}"
    return f"± {number(in_per_cent(spec, width))} {plain(unit_of_change(spec))}".strip()


def factor(width: float) -> str:
    """Return half of an interval of logarithms as a factor."""
    return number(math.exp(width), 3) if width < _HUGE else "over a million"


def fits(published: Published) -> bool:
    """Return whether the measurements fit the models that read them."""
    return published.fit is None or published.fit.fits


def worth(published: Published) -> str:
    """Return how useful the released values are. Useless values are not offered for publication."""
    if within_tolerance(published).all():
        more = published.spec.tolerance or published.detail or published.outliers or not fits(published)
        return "These values may be published." + (f" {plain(useful(published))}" if more else "")
    in_file = published.spec.tolerance or is_off_scale(published)
    marked = "grey here, and 0 under `within_tolerance` in the file" if in_file else "grey here"
    return f"It protects as promised, but: {plain(useful(published))} They are {marked}."


def bought(published: Published) -> str:
    """Return a sentence about bought bounds; "" if they were declared."""
    words = plain(bounds_bought(published))
    return f" {words}" if words else ""


def released(published: Published) -> go.Figure:
    """Draw the released values with the curve's 95 % interval, a curve for each group; or a map of the first group.

    Useless values are grey.
    """
    within = within_tolerance(published)
    groups, drawn = groups_of(published.spec)
    if len(drawn.x) == 1:
        return release_curve(groups, published, within, drawn)
    rows = groups[0].rows
    values = np.where(within, published.values, np.nan)
    shares = np.where(within, known_share(published), 0.0)
    figure = _map(drawn, values[rows], shares[rows])
    if groups[0].name:
        figure.update_layout(title=html.escape(f"of {groups[0].name}"))
    if not within[rows].all():  # crosses in the cells that the map leaves empty
        cells = figure.data[0]
        at_y, at_x = np.nonzero(np.isnan(cells.z))
        figure.add_scatter(
            x=cells.x[at_x],
            y=cells.y[at_y],
            mode="markers",
            marker={"symbol": "x", "color": OF_NO_USE, "size": 6},
            name="of no use",
            showlegend=True,
        )
    return figure


def released_caption(spec: ReleaseSpec) -> str:
    """Return a sentence that says what to see in the figure."""
    if len(spec.numbers) > 1:
        return "Colours fade where little is known."
    return "The band contains the curve with 95 % probability if the model is right."


def released_alt(spec: ReleaseSpec) -> str:
    """Return the meaning of the band and the data of the figure. Private inputs are measured with noise too."""
    one = len(spec.numbers) == 1
    lines = _ABOUT_FADING if not one else _ABOUT_CENTILES if spec.centiles else ""
    if spec.levels:
        lines = f"{_ABOUT_GROUPS if one else _ABOUT_FIRST}{lines}"
    measured = (
        "Released values. The band contains the curve with 95 % probability if the model is right. It includes privacy "
        f"noise.{lines} All of it was computed from the numbers measured with noise"
    )
    if spec.protects_inputs:
        return f"{measured}, which is all that was used of inputs and outputs, and from the public settings."
    return f"{measured} and from what is public here: the settings and the inputs."


def inference_sentence(inference: Inference | None) -> str:
    """Return how the model was computed, if the computation was not exact."""
    if inference is None or inference.residual is None:
        return ""
    return (
        f"For this many records, a low-rank form of the model is used: rank {inference.rank}, leaving out "
        f"{inference.residual:.1g} of its variance. That costs accuracy, never privacy."
    )


def _map(spec: ReleaseSpec, values: FloatArray, shares: FloatArray) -> go.Figure:
    """Draw values (P,) as colours, which fade by ``shares``."""
    first, second = (np.linspace(*box, count) for box, count in zip(spec.x_box[:2], spec.grid[:2], strict=True))
    z, share = (_slice(spec, each) for each in (in_per_cent(spec, values), shares))
    figure = grid_map(first, second, z, y_title(spec), share)
    if spec.degrees is not None:  # a kilometre has the same length in both directions
        east, north = spec.degrees.kilometres
        figure.update_yaxes(scaleanchor="x", scaleratio=north / east, constrain="domain")
        figure.update_xaxes(constrain="domain")
    for along, name, x_unit, side in zip("xy", spec.x, spec.x_units, spec.x_box, strict=False):
        figure.update_layout({f"{along}axis_title": title(name, x_unit)})
        mark_dates(figure, html.escape(name), spec.dates_of(name), side, along)
    return finish(figure, HEIGHT)


def _slice(spec: ReleaseSpec, values: FloatArray) -> FloatArray:
    """Return values (T, S) over the first two inputs; a third is at the middle of its grid."""
    cube = values.reshape(spec.grid)
    for size in reversed(spec.grid[2:]):
        cube = cube[..., size // 2]
    return cube.T


def values(published: Published) -> pd.DataFrame:
    """Return released values and their intervals, as in the downloaded file; shares of yes in per cent."""
    spec, columns = published.spec, dict[str, Any]()
    for each, unit, x in zip(spec.columns, spec.x_units, published.X_test.T, strict=True):
        is_number = each.levels is None and each.dates is None
        columns[safe_text(axis(each.name, unit))] = x if is_number else [safe_text(each.text(value)) for value in x]
    rate = spec.y_kind == "yes/no"
    unit = "%" if rate else spec.y_unit

    def named(what: str) -> str:
        return safe_text(axis(what, unit))

    columns[named("share of yes" if rate else "released value")] = in_per_cent(spec, published.values)
    intervals = {"curve": published.curve} if rate else {"curve": published.curve, "output": published.outputs}
    for of, (low, high) in intervals.items():
        columns[named(f"{of}, 95 % from")], columns[named(f"{of}, to")] = (
            in_per_cent(spec, end) for end in (low, high)
        )
    for centile, line in zip(CENTILES, published.centiles, strict=False):
        columns[named(f"{centile} % are below")] = line
    if spec.tolerance is not None:
        columns[safe_text(f"within {about(spec, spec.tolerance)}")] = within_tolerance(published)
    return pd.DataFrame(columns)


def greyed(published: Published) -> Styler:
    """Return the table of ``values`` for the screen: only meaningful digits, and useless values in grey."""
    predicted, within, spec = values(published), within_tolerance(published), published.spec
    digits = decimals_within(*(in_per_cent(spec, end) for end in published.curve))
    inputs = list(predicted)[: len(spec.x)]
    formats: dict[Any, Any] = {
        name: "{:.10g}" if name in inputs else f"{{:.{digits}f}}" for name in predicted.select_dtypes("number")
    }
    return predicted.style.format(formats).apply(lambda _: np.where(within, "", f"color: {OF_NO_USE}").tolist())
