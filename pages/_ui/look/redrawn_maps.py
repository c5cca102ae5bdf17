"""Draw the maps of hexagons of the pages with matplotlib, for export figures and small multiples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpgp_core.arrays import FloatArray
from dpgp_core.figures.drawing import draw_cells, root_of
from dpgp_core.figures.export import Drawing, Panel, bitmap, drawing
from pages._ui.look.maps import HATCH, UNSURE, Boroughs, Layer, mark_text, mercator, rings
from pages._ui.look.redrawn import STEPS, rgba

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def of_map(cells: pd.DataFrame, layer: Layer, around: Boroughs | None) -> Drawing:
    """Return the drawing of hexagons coloured by one column, with names of boroughs and the legend below them."""

    def draw_all(ax: Axes) -> None:
        draw_map(cells, layer, around, ax)
        below = ax.inset_axes((0.0, -0.13, 1.0, 0.1))
        draw_scale(layer, bool(layer.unsure(cells).any()), below)

    return drawing(draw_all, is_tall=True)


def map_panel(cells: pd.DataFrame, layer: Layer, around: Boroughs | None, title: str, caption: str) -> Panel:
    """Return a map without legend and names, as one of several."""
    return Panel(draw=partial(draw_map, cells, layer, around, named=False), title=title, caption=caption)


def draw_map(cells: pd.DataFrame, layer: Layer, around: Boroughs | None, ax: Axes, *, named: bool = True) -> None:
    """Draw the hexagons alone; those with useless values are grey and hatched."""
    unsure = layer.unsure(cells)
    colours = _colours(layer, cells[layer.column].to_numpy(float))
    colours[unsure] = np.array(UNSURE) / 255
    borders = [] if around is None else [mercator(np.array(each["path"])) for each in around.outlines]
    names = [] if around is None or not named else [(str(row["name"]), *_point(row["at"])) for row in around.names]
    outlines = [mercator(ring) for ring in rings(cells["cell"])]
    hatching = "#" + "".join(f"{channel:02x}" for channel in HATCH[:3])
    draw_cells(ax, outlines, colours, hatched=unsure, hatching=hatching, borders=borders, names=names)


def _point(degrees: Any) -> tuple[float, float]:
    [(x, y)] = mercator(np.array([degrees], float))
    return float(x), float(y)


def _colours(layer: Layer, values: FloatArray) -> FloatArray:
    """Return the colours of values (n,) from 0 to 1 (n, 4)."""
    return np.array(layer.colours(values), float) / 255


def draw_scale(layer: Layer, hatches: bool, ax: Axes) -> None:
    """Draw the legend of a layer as a strip: its colours, marks and unit; hatching only where a map has some."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.patches import Patch

    ax.axis("off")
    handles = dict[str, Any]()
    if layer.names:
        handles = {name: Patch(color=colour) for colour, name in zip(layer.scale, layer.names, strict=True)}
    else:
        colours = ListedColormap([rgba(each) for each in layer.ramp(STEPS)])
        last = len(layer.marks) - 1
        bar = root_of(ax).colorbar(
            ScalarMappable(Normalize(0, 1), colours), cax=ax.inset_axes((0, 0.42, 1, 0.18)), orientation="horizontal"
        )
        bar.outline.set_visible(False)
        bar.set_ticks([at / last for at in range(last + 1)], labels=[mark_text(value, layer) for value in layer.marks])
        ax.text(0, 0.72, f"{layer.title} [{layer.unit}]", va="bottom", transform=ax.transAxes)
    if layer.hides is not None and hatches:
        shade, edge = (rgba(f"rgba({red},{green},{blue},{cover / 255})") for red, green, blue, cover in (UNSURE, HATCH))
        handles[layer.hides.meaning] = Patch(facecolor=shade, edgecolor=edge, hatch="////", linewidth=0)
    if handles:
        legend = ax.legend(
            list(handles.values()), list(handles), loc="upper left", bbox_to_anchor=(0, -0.05), frameon=False
        )
        legend.set_in_layout(True)


def strip(cells: pd.DataFrame, layer: Layer, frames: FloatArray, around: Boroughs, width: int, height: int) -> bytes:
    """Return frames below each other as PNG, each of the same size in px: the hexagons coloured by values.

    Args:
        cells: a row for each hexagon.
        layer: how values are coloured.
        frames: values (frames, hexagons).
        around: the boroughs.
        width: of a frame.
        height: of a frame.
    """
    outlines = [mercator(ring) for ring in rings(cells["cell"])]
    borders = [mercator(np.array(each["path"])) for each in around.outlines]
    points = np.vstack(outlines)
    (west, south), (east, north) = points.min(axis=0), points.max(axis=0)
    scale = max((east - west) / width, (north - south) / height)  # of the map over px
    tall, middle = scale * height, ((west + east) / 2, (south + north) / 2)
    down = [np.array([0.0, -tall * number]) for number in range(len(frames))]

    def draw_all(ax: Axes) -> None:
        colours = np.concatenate([_colours(layer, values) for values in frames])
        shifted = ([ring + shift for shift in down for ring in part] for part in (outlines, borders))
        draw_cells(ax, next(shifted), colours, borders=next(shifted))
        ax.set_xlim(middle[0] - scale * width / 2, middle[0] + scale * width / 2)
        ax.set_ylim(middle[1] - tall * (len(frames) - 0.5), middle[1] + tall / 2)

    return bitmap(drawing(draw_all), width, height * len(frames))
