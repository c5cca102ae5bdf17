"""Curves over one input: what was released, group by group, and the fit without noise. No streamlit here."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.reading import Difference, difference
from dpgp_core.release import CENTILES, Published, ReleaseSpec
from dpgp_core.release.handout.figure import are_years, marks
from dpgp_core.release.handout.groups import COLOURS, Group, Rows, grouped
from pages._ui.look.palette import NON_PRIVATE, PRIVATE
from pages._ui.look.plots import HEIGHT, axis, band, centile_lines, finish, mark_dates

OF_NO_USE = "#8a8a8a"  # values that are not known well enough; dotted, or crosses, so that grey is not the only sign
_DASHES = ("solid", "8px,3px", "2px,2px", "8px,3px,2px,3px", "12px,4px", "4px,2px", "16px,3px")
_FEW = 6  # whole numbers between bounds, each of which has a mark
_BAND, _BANDS = 0.22, 0.15  # opacity of one, of several that lie over each other


def in_per_cent(spec: ReleaseSpec, values: FloatArray) -> FloatArray:
    """Shares of yes in per cent; other outcomes as they are, in ``y_unit``."""
    return 100 * values if spec.y_kind == "yes/no" else values


def unit(spec: ReleaseSpec) -> str:
    """Of the output, as drawn."""
    return "% yes" if spec.y_kind == "yes/no" else spec.y_unit


def title(name: str, unit: str) -> str:
    """Of an axis."""
    return html.escape(axis(name, unit))  # plotly reads tags in titles, and these are a visitor's words


def released(groups: Sequence[Group], spec: ReleaseSpec) -> go.Figure:
    """Released values with the curve's 95 % interval, for each group on the same axes; grey where of no use.

    Args:
        groups: one or more.
        spec: without levels.
    """
    figure, opacity = go.Figure(), _BAND if len(groups) == 1 else _BANDS
    looks = [(group, COLOURS[at % len(COLOURS)], _dash(at // len(COLOURS))) for at, group in enumerate(groups)]
    for group, colour, _ in looks:
        _band(figure, spec, group, colour, opacity)
    for group, colour, dash in looks:
        values, x = in_per_cent(spec, group.published.values), group.published.X_test[:, 0]
        kept = np.where(group.within, values, np.nan)
        _line(figure, x, kept, html.escape(group.name) or "released", colour, dash)
        if group.published.centiles:
            lines = dict(zip(CENTILES, group.published.centiles, strict=True))
            centile_lines(figure, x, lines, colour, _of(group, "half of people below"))
        _of_no_use(figure, group, values)
    return _finished(figure, spec)


def previewed(groups: Sequence[Rows], spec: ReleaseSpec, values: FloatArray) -> go.Figure:
    """The fit without noise, for each group on the same axes. Not private.

    Args:
        groups: one or more.
        spec: without levels.
        values: at all points (P,).
    """
    figure, values = go.Figure(), in_per_cent(spec, values)
    for at, group in enumerate(groups):
        name = "not private: fit without noise" + (f", {html.escape(group.name)}" if group.name else "")
        _line(figure, group.places[:, 0], values[group.rows], name, NON_PRIVATE, _dash(at))
    return _finished(figure, spec)


def apart(published: Published, spec: ReleaseSpec, first: str, second: str) -> Difference:
    """The first group's curve less the second's, from what was released.

    Args:
        published: over one input that is a number and one that is groups.
        spec: what was published.
        first: a group.
        second: another.
    """
    groups, _ = grouped(spec)
    return difference(published.statistics[0], first, second, published.X_test[groups[0].rows])


def difference_figure(compared: Difference, spec: ReleaseSpec, name: str) -> go.Figure:
    """A difference of two groups with its 95 % interval; where logarithms were measured, a factor.

    Args:
        compared: the difference.
        spec: what was published.
        name: of the difference.
    """
    _, plain = grouped(spec)
    mean, low, high = (
        np.exp(each) if spec.log else in_per_cent(spec, each) for each in (compared.mean, *compared.interval())
    )
    x = compared.X[:, spec.x.index(plain.x[0])]
    figure = go.Figure()
    band(figure, x, low, high, PRIVATE, _BAND, "the difference, 95 %")
    _line(figure, x, mean, html.escape(name), PRIVATE, "solid")
    figure.add_hline(1.0 if spec.log else 0.0, line={"color": OF_NO_USE, "width": 1})
    _finished(figure, plain)
    y_unit = "percentage points" if spec.y_kind == "yes/no" else spec.y_unit
    return figure.update_yaxes(title="factor" if spec.log else title("difference", y_unit))


def _band(figure: go.Figure, spec: ReleaseSpec, group: Group, colour: str, opacity: float) -> None:
    x, (low, high) = group.published.X_test[:, 0], (in_per_cent(spec, end) for end in group.published.curve)
    band(figure, x, low, high, colour, opacity, _of(group, "the curve, 95 %"))
    figure.data[-1].showlegend = not group.name


def _line(figure: go.Figure, x: FloatArray, y: FloatArray, name: str, colour: str, dash: str) -> None:
    figure.add_scatter(x=x, y=y, name=name, line={"color": colour, "width": 2, "dash": dash}, showlegend=True)


def _of_no_use(figure: go.Figure, group: Group, values: FloatArray) -> None:
    """The rest of the curve; it reaches to the neighbours that are of use, so that there is no gap."""
    if group.within.all():
        return
    outside = np.pad(~group.within, 1)
    reached = outside[1:-1] | outside[:-2] | outside[2:]
    name = _of(group, "released, of no use")
    _line(figure, group.published.X_test[:, 0], np.where(reached, values, np.nan), name, OF_NO_USE, "dot")


def _finished(figure: go.Figure, spec: ReleaseSpec) -> go.Figure:
    figure.update_xaxes(title=title(spec.x[0], spec.x_units[0]))
    figure.update_yaxes(title=title(spec.y, unit(spec)))
    mark_whole(figure, spec)
    return mark_dates(finish(figure, HEIGHT), title(spec.x[0], ""), spec.dates_of(spec.x[0]), spec.x_box[0])


def mark_whole(figure: go.Figure, spec: ReleaseSpec, of: int = 0) -> None:
    """Marks at whole years across, as 1984 and not 1,984.5, and at whole numbers up where the outcome is a count."""
    if are_years(spec.x[of], spec.x_units[of], spec.x_box[of]):
        places, texts = zip(*marks(*spec.x_box[of], whole=True), strict=True)
        figure.update_xaxes(tickvals=places, ticktext=texts, hoverformat=".4~g")
    if spec.y_kind == "count" and len(spec.x) == 1:
        few = spec.y_bounds[1] - spec.y_bounds[0] <= _FEW
        figure.update_yaxes(tickformat=",d", **({"dtick": 1} if few else {}))


def _of(group: Group, subject: str) -> str:
    return f"{html.escape(group.name)}: {subject}" if group.name else subject


def _dash(at: int) -> str:
    return _DASHES[at % len(_DASHES)]
