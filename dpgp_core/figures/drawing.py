"""Draw curves, grids and cells on matplotlib axes, and keep their labels apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from ..arrays import BoolArray, FloatArray
from ..levels import Interval
from .ticks import Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # for annotations elsewhere too
    from matplotlib.figure import Figure
    from matplotlib.text import Text

COLOURS = ("#E69F00", "#56B4E9", "#A65628", "#CC79A7", "#009E73", "#D55E00")
"""Colours of released curves (Okabe & Ito 2008). The blue of values without privacy is not among them."""
GREY = "#8a8a8a"  # values that are too uncertain to be useful
NOT_USEFUL = "too uncertain to be useful"
_DASHES = ("solid", (0, (8, 3)), (0, (2, 2)), (0, (8, 3, 2, 3)), (0, (12, 4)))
_BAND, _BANDS = 0.22, 0.15  # opacity of a single band, and of several that overlap
_FAINTEST = 0.15  # opacity of a value about which nothing is known
_AT_END, _IF_FREE, _APART = "_at an end", "_if there is room", "_apart"  # texts that ``settle`` moves or hides
_FULL = 600.0  # px across a map from which on borders are as thick as on a screen
_ENTRY = 4.0  # width of a legend entry without its words, in sizes of type
_LETTER = 0.62  # average width of a letter in sizes of type


@dataclass(frozen=True)
class Side:
    """An axis: its title, its ends and its tick marks."""

    title: str
    ends: Interval
    marks: Sequence[Mark]


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """A released curve of one group, with its interval.

    Attributes:
        number: number of the group, from 0, which determines colour and dashes.
        name: name of the group; "" if there is only one.
        x: inputs (P,), ascending.
        values: values of the curve (P,).
        low: lower end of its interval (P,).
        high: upper end (P,).
        useful: which values are certain enough to be useful (P,); None for all of them.
        centiles: values (P,) of each centile of people.
    """

    number: int
    name: str
    x: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    useful: BoolArray | None = None
    centiles: Mapping[int, FloatArray] = field(default_factory=dict)

    @property
    def colour(self) -> str:
        """Colour of the line."""
        return COLOURS[self.number % len(COLOURS)]


def draw_curves(ax: Axes, curves: Sequence[Curve], across: Side, up: Side) -> None:
    """Draw each curve with its band and centiles, and a legend of the groups, bands and centiles."""
    opacity, handles, others = _BANDS if len(curves) > 1 else _BAND, dict[str, Any](), dict[str, Any]()
    for curve in curves:
        band = ax.fill_between(curve.x, curve.low, curve.high, color=curve.colour, alpha=opacity, linewidth=0)
        others.setdefault("95 % interval for the curve", band)
    for curve in curves:
        _draw_line(ax, curve, handles, others)
        for centile, values in curve.centiles.items():
            [thin] = ax.plot(curve.x, values, color=curve.colour, linewidth=0.9)
            others.setdefault("centiles of people", thin)
            write_at_end(ax, float(values[-1]), str(centile), curve.colour)
    set_side(ax, "x", across)
    set_side(ax, "y", up)
    write_legend(ax, handles | others)


def _draw_line(ax: Axes, curve: Curve, handles: dict[str, Any], others: dict[str, Any]) -> None:
    """Draw the line of a curve, dotted and grey where its values are not useful; note both for the legend."""
    useful = np.ones(len(curve.x), dtype=bool) if curve.useful is None else curve.useful
    if not useful.all():  # this part reaches to its neighbours, so that the line has no gaps
        outside = np.pad(~useful, 1)
        rest = np.where(outside[1:-1] | outside[:-2] | outside[2:], curve.values, np.nan)
        [dotted] = ax.plot(curve.x, rest, color=GREY, linewidth=1.8, linestyle=(0, (1, 1.5)))
        others.setdefault(NOT_USEFUL, dotted)
    dash: Any = _DASHES[curve.number // len(COLOURS) % len(_DASHES)]
    kept = np.where(useful, curve.values, np.nan)
    [line] = ax.plot(curve.x, kept, color=curve.colour, linewidth=2.0, linestyle=dash)
    handles[curve.name or "released curve"] = line


def draw_grid(
    ax: Axes,
    values: FloatArray,
    shares: FloatArray,
    across: Side,
    up: Side,
    title: str,
    *,
    ratio: float | None = None,
) -> None:
    """Draw released values on a grid as colours; they fade where little is known, and useless values are grey.

    Args:
        ax: the axes.
        values: (T, S), the first input across.
        shares: how much is known of each value (T, S): 1 for all of it; 0 if the value is not useful.
        across: the first input.
        up: the second input.
        title: title of the colour bar.
        ratio: length of a unit of the second input over one of the first; None to fill the axes.
    """
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Patch

    well, useful = shares >= 0.5, shares > 0
    ranged = values[well] if well.any() else values[useful] if useful.any() else values
    scale = ScalarMappable(Normalize(float(ranged.min()), float(ranged.max())), matplotlib.colormaps["viridis"])
    colours = scale.to_rgba(values)
    colours[..., 3] = np.where(shares < 1, np.maximum(shares, _FAINTEST), 1.0)
    colours[~useful] = matplotlib.colors.to_rgba(GREY)
    edges = [_edges(len_, side.ends) for len_, side in zip(values.shape, (across, up), strict=True)]
    mesh = ax.pcolormesh(*edges, np.swapaxes(colours, 0, 1), edgecolors="none", linewidth=0)
    mesh.set_antialiased(False)  # else the background shows between the cells
    set_side(ax, "x", across)
    set_side(ax, "y", up)
    if ratio is not None:
        ax.set_aspect(ratio)
    draw_colour_bar(ax, scale, title)
    if not useful.all():
        write_legend(ax, {NOT_USEFUL: Patch(color=GREY)})


def root_of(ax: Axes) -> Figure:
    """Return the figure that axes are in."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def draw_colour_bar(ax: Axes, scale: Any, title: str, marks: Sequence[Mark] | None = None) -> None:
    """Draw a colour bar to the right of axes, which moves with them.

    Args:
        ax: the axes.
        scale: colours and range, as a ``ScalarMappable``.
        title: title of the bar, with the unit.
        marks: tick marks; None for those that matplotlib chooses.
    """
    bar = root_of(ax).colorbar(scale, cax=ax.inset_axes((1.02, 0.0, 0.025, 1.0)))
    bar.set_label(title, parse_math=False)
    bar.outline.set_visible(False)
    if marks is not None:
        bar.set_ticks([value for value, _ in marks], labels=[text for _, text in marks])


def _edges(count: int, ends: Interval) -> FloatArray:
    """Return the edges (count + 1,) of cells around regular points; the first and last cell end with the axis."""
    middles = np.linspace(*ends, count)
    return np.concatenate([[ends[0]], (middles[1:] + middles[:-1]) / 2, [ends[1]]])


def draw_cells(
    ax: Axes,
    outlines: Sequence[FloatArray],
    colours: FloatArray,
    *,
    hatched: BoolArray | None = None,
    hatching: str = GREY,
    borders: Sequence[FloatArray] = (),
    names: Sequence[tuple[str, float, float]] = (),
) -> None:
    """Draw the polygons of a map without axes, with one scale in both directions, as large as the axes allow.

    Args:
        ax: the axes.
        outlines: corners (k, 2) of each of the polygons.
        colours: red, green, blue and opacity from 0 to 1 (n, 4).
        hatched: which of them are hatched (n,), because their values are not useful.
        hatching: colour of the hatching.
        borders: outlines (k, 2) of districts, drawn over the polygons.
        names: names of districts, each with x and y. If there is no room for all, the first ones are drawn.
    """
    from matplotlib.collections import PolyCollection

    ax.add_collection(PolyCollection(list(outlines), facecolors=colours, edgecolors=colours, linewidths=0.4))
    if hatched is not None and hatched.any():
        these = [outline for outline, is_hatched in zip(outlines, hatched, strict=True) if is_hatched]
        ax.add_collection(PolyCollection(these, facecolors="none", edgecolors=hatching, linewidths=0, hatch="////"))
    if borders:
        thin = min(1.0, ax.bbox.width / _FULL)
        for colour, width in (("#191919", 2.4), ("#f0f0f0", 1.0)):  # light on dark shows on every colour
            lines = thin * width
            ax.add_collection(PolyCollection(list(borders), facecolors="none", edgecolors=colour, linewidths=lines))
    box = {"facecolor": "#ffffff", "alpha": 0.65, "linewidth": 0, "pad": 1.0}
    for name, x, y in names:
        style: dict[str, Any] = {"ha": "center", "va": "center", "color": "#191919", "bbox": box, "clip_on": True}
        ax.text(x, y, name, fontsize="small", parse_math=False, **style).set_label(_IF_FREE)
    ax.set_aspect("equal")
    points = np.vstack(list(outlines))
    for limits, ends in ((ax.set_xlim, points[:, 0]), (ax.set_ylim, points[:, 1])):
        air = 0.01 * float(np.ptp(ends))
        limits(float(ends.min()) - air, float(ends.max()) + air)
    ax.axis("off")


def set_side(ax: Axes, along: str, side: Side) -> None:
    """Set title, ends, marks and a light grid of an axis ("x" or "y")."""
    values, texts = [value for value, _ in side.marks], [text for _, text in side.marks]
    ticks, limits, label = (getattr(ax, f"set_{along}{part}") for part in ("ticks", "lim", "label"))
    ticks(values, texts, parse_math=False)
    limits(*side.ends)
    label(side.title, parse_math=False)
    ax.grid(True, axis="x" if along == "x" else "y", color="#808080", alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def write_legend(ax: Axes, handles: Mapping[str, Any], *, within: bool = False) -> None:
    """Write names and samples of what is drawn above axes or within them, as many in a row as there is room for."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="medium").get_size_in_points() * root_of(ax).dpi / 72
    longest = max(map(len, handles)) * _LETTER * size + _ENTRY * size
    columns = max(1, min(len(handles), int(0.95 * ax.bbox.width / longest)))
    legend = ax.legend(
        list(handles.values()),
        list(handles),
        loc="upper left" if within else "lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.4,
        borderpad=0,
        handlelength=1.6,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def write_at_end(ax: Axes, height: float, words: str, colour: str, *, x: float | None = None) -> None:
    """Write a line's name to the right of its end; ``settle`` moves names apart.

    Args:
        ax: the axes.
        height: height of the end on the vertical axis.
        words: the name.
        colour: colour of the line and its name.
        x: x of the end; None for the right edge.
    """
    style: Any = {"ha": "left", "va": "center", "color": colour, "fontweight": "bold", "annotation_clip": False}
    place = (1.0, height) if x is None else (x, height)
    coordinates: Any = ax.get_yaxis_transform() if x is None else "data"
    written = ax.annotate(
        words,
        place,
        xycoords=coordinates,
        xytext=(6 if x is None else 10, 0),
        textcoords="offset points",
        parse_math=False,
        **style,
    )
    written.set_label(_AT_END)


def keep_apart(text: Text) -> None:
    """Let ``settle`` move a note down if it would overlap one that was declared before it."""
    text.set_label(_APART)


def settle(axes: Sequence[Axes]) -> None:
    """Move names at the ends of lines apart, and hide names without room. The layout must be final."""
    for ax in axes:
        ends = [each for each in ax.texts if each.get_label() == _AT_END]
        boxes = [each.get_window_extent() for each in ends]
        for place in {round(box.x0) for box in boxes}:
            own = [(each, box) for each, box in zip(ends, boxes, strict=True) if round(box.x0) == place]
            own.sort(key=lambda pair: pair[1].y0)
            middles = [(box.y0 + box.y1) / 2 for _, box in own]
            gap = max(box.height for _, box in own)
            low, high = ax.bbox.y0, ax.bbox.y1
            for (each, _), old, new in zip(own, middles, spread(middles, gap, low, high), strict=True):
                x, y = each.get_position()
                each.set_position((x, y + (new - old) * 72 / root_of(ax).dpi))
        kept: list[Any] = []
        for text in ax.texts:
            if text.get_label() not in (_IF_FREE, _APART):
                continue
            box = text.get_window_extent()
            while text.get_label() == _APART and any(box.overlaps(other) for other in kept) and box.y0 > ax.bbox.y0:
                x, y = text.get_position()
                text.set_position((x, y - box.height * 72 / root_of(ax).dpi))
                box = text.get_window_extent()
            text.set_visible(text.get_label() == _APART or not any(box.overlaps(other) for other in kept))
            kept += [box] if text.get_visible() else []


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return the nearest heights at which neighbours have a gap; the gap shrinks if there is too little room.

    Args:
        heights: ascending.
        gap: least distance of two.
        low: lower end of the interval that all lie in.
        high: its upper end.
    """
    gap = min(gap, (high - low) / max(len(heights) - 1, 1))
    steps = gap * np.arange(len(heights))
    moved = isotonic_regression(np.asarray(heights) - steps).x
    return list(np.clip(moved, low, high - steps[-1]) + steps)
