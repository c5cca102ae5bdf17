"""Directions of noise that is added once (eigenvectors of M): along a curve, on a map, and as animations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.figures.export import Panel
from dpgp_core.linalg import dense_of
from pages._ui.cloaking import cells, computed, variants, words
from pages._ui.cloaking.figures import DRAWS
from pages._ui.cloaking.results import Result
from pages._ui.look import layout, pictures, redrawn_maps, settings, text
from pages._ui.look import maps as look_maps
from pages._ui.look.about import About, of_inputs
from pages._ui.look.controls import HERE, Switch
from pages._ui.look.maps import Layer
from pages._ui.look.pictures import as_it_is
from pages._ui.look.plots import (
    BINS,
    GUARANTEE,
    HEIGHT,
    OTHER,
    PINNED,
    PRIVATE,
    RISK,
    TRUTH,
    axis,
    draw_line,
    finish,
    input_axis,
    level_line,
    named_lines,
)
from pages._ui.model import Design
from pages._ui.work import cached

COUNT, FRAMES = 6, 48  # number of directions; number of samples of an animated curve
_SECONDS = 0.12  # seconds for which each is shown
MAP_FRAMES = 24  # frames of an animated map
_COLOURS = (PRIVATE, BINS, PINNED, OTHER, GUARANTEE, RISK)
_NOTE = "From inputs, budget and bounds alone: public."
_MOVE = "noise [factor]"
_REACHES = (1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0)  # ends of a scale of factors


class Directions(NamedTuple):
    """Eigenvectors of M with the largest eigenvalues, on a drawn curve or map. They are public, because no output
    enters.

    Attributes:
        x: values of the first input (G,).
        shapes: one standard deviation of the noise along each direction (k, G), in the output's unit.
        shares: share of the noise variance in each direction (k,).
        sds: standard deviation of the noise in each direction (k,): root of the eigenvalue, times d s.
        moves: largest distance (k,) by which one record can move the curve or map in each direction, on the same scale.
    """

    x: FloatArray
    shapes: FloatArray
    shares: FloatArray
    sds: FloatArray
    moves: FloatArray

    @property
    def furthest(self) -> FloatArray:
        """Return the largest change of any single value that one record can cause in each direction (k,), in the
        output's unit.
        """
        return np.asarray(self.moves / self.sds * np.abs(self.shapes).max(axis=1))


def directions_of(result: Result) -> Directions:
    """Return the directions from the factor of M where it is drawn: M = L L^T, so these are the left singular vectors
    of L.
    """
    scene = result.scene
    drawn = cells.map_rows(scene) if scene.is_map else scene.grid
    draw, data = result.draw, result.dataset
    s = noise_multiplier(draw.epsilon, draw.delta, draw.calibration, unproven=True)
    vectors, roots, _ = np.linalg.svd(result.linear_plan.factor[drawn], full_matrices=False)
    count = min(COUNT, len(roots))
    kept, lengths = vectors[:, :count], data.output_range * s * roots[:count]
    reached = np.abs(kept.T @ dense_of(result.linear_plan.weights)[drawn]).max(axis=1)
    return Directions(
        x=scene.X_test[drawn, 0],
        shapes=(kept * lengths).T,
        shares=roots[:count] ** 2 / float((roots**2).sum()),
        sds=lengths,
        moves=data.output_range * reached,
    )


def turning(directions: Directions, seed: int, count: int) -> FloatArray:
    """Return an animation of the noise along the directions as frames (count, G).

    Every frame is a sample of the noise, and differs little from the one before. For independent samples z, z' of the
    noise, cos(t) z + sin(t) z' has the same distribution at every t.
    """
    first, second = np.random.default_rng(seed).standard_normal((2, len(directions.shapes)))
    turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return np.asarray((np.cos(turns)[:, None] * first + np.sin(turns)[:, None] * second) @ directions.shapes)


def table(directions: Directions, result: Result) -> pd.DataFrame:
    """Return a row for each direction: share of variance, noise, and how far one record can move the curve or map."""
    unit, points = result.dataset.y_unit, "hexagons" if result.scene.is_map else "grid points"
    return pd.DataFrame(
        {
            "direction": np.arange(1, len(directions.shares) + 1),
            "share of the noise [%]": (100 * directions.shares).round(4),
            f"noise along it, one sd, all {points} together [{unit}]": directions.sds.round(4),
            f"furthest that one person moves it, all {points} together [{unit}]": directions.moves.round(4),
            f"and any one of the {points} [{unit}]": directions.furthest.round(4),
        }
    )


def alt_text(directions: Directions, result: Result) -> str:
    """Return the description of the picture of the directions."""
    together, first = text.percent(float(directions.shares.sum())), text.percent(float(directions.shares[0]))
    drawn = "map" if result.scene.is_map else "curve"
    return (
        f"The first {len(directions.shares)} directions hold {together} of the noise at ε = {result.draw.epsilon:g}, "
        f"the first alone {first}. A direction in which one person could move the {drawn} far gets much noise; one "
        "that nobody can move gets none."
    )


# along a curve


def figure(directions: Directions, result: Result) -> go.Figure:
    """Draw each direction as the change of the curve by one standard deviation of its noise."""
    drawn = go.Figure()
    for at, (shape, share) in enumerate(zip(directions.shapes, directions.shares, strict=True)):
        name, width = f"{at + 1}: {text.percent(float(share))}", 2.5 if at == 0 else 1.6
        draw_line(drawn, directions.x, shape, name, _COLOURS[at], width=width)
    level_line(drawn, 0, {"color": TRUTH, "width": 1, "dash": "dot"})
    drawn.update_yaxes(title=axis("one standard deviation of noise", result.dataset.y_unit))
    return named_lines(_along(drawn, directions, result))


def moving(directions: Directions, result: Result) -> go.Figure:
    """Draw the noise along the first directions, with a line for each frame."""
    drawn = go.Figure()
    frames = turning(directions, result.draw.seed, FRAMES)
    few, look = directions.x.astype(np.float32), {"legendgroup": DRAWS, "hoverinfo": "skip"}
    for at, values in enumerate(frames.astype(np.float32)):
        draw_line(drawn, few, values, "noise", PRIVATE, width=1.6, showlegend=at == 0, **look)
    most = 1.05 * float(np.abs(frames).max())
    drawn.update_yaxes(title=axis("privacy noise", result.dataset.y_unit), range=[-most, most])
    return _along(drawn, directions, result).update_layout(showlegend=False)


def _along(drawn: go.Figure, directions: Directions, result: Result) -> go.Figure:
    """Return the figure with its axes along the first input."""
    drawn.update_xaxes(title=input_axis(result.dataset), range=[directions.x[0], directions.x[-1]])
    return finish(drawn, HEIGHT)


def moving_alt(directions: Directions, result: Result) -> str:
    """Return the description of the animated picture."""
    typical = float(np.median(np.sqrt((directions.shapes**2).sum(axis=0))))
    frames, point = (MAP_FRAMES, "hexagon") if result.scene.is_map else (FRAMES, result.dataset.x_names[0])
    return (
        f"Privacy noise along the first {len(directions.shapes)} directions: {frames} samples that turn into one "
        f"another. One standard deviation is {words.size(result, typical)} at a typical {point}."
    )


_STILL = "A direction in which one person could move the curve far gets much noise."
_MOTION = "Examples of the privacy noise: one sample turns into the next."


def show_curves(result: Result) -> None:
    """Draw a section: the directions along the curve, animated, and in numbers."""
    st.subheader("The shapes the noise takes")
    directions = directions_of(result)
    still, alt = cached.drawn(figure, directions, result, of="directions"), alt_text(directions, result)
    pictures.chart(still, "directions", alt, as_it_is(still, _about(result, alt)), caption=_STILL)
    above = st.container()
    motion, alt = cached.drawn(moving, directions, result, of="moving"), moving_alt(directions, result)
    pictures.chart(motion, "moving", alt, as_it_is(motion, _about(result, alt)), caption=_MOTION)
    variants.player({"moving": motion}, above, "A moving picture", FRAMES, _SECONDS)
    with st.expander("Table of the directions"):
        layout.table(table(directions, result), "directions", _NOTE)


def _about(result: Result, alt: str) -> About:
    return of_inputs(result.dataset, alt, finding=alt)


# on a map


def scale_of(shapes: FloatArray) -> Layer:
    """Return a colour scale of factors on prices, symmetric between division and multiplication."""
    most = float(np.exp(np.abs(shapes).max()))
    end = next((each for each in _REACHES if each >= most), _REACHES[-1])
    marks = tuple(float(end**power) for power in (-1, -0.5, 0, 0.5, 1))
    return Layer(
        title="Noise along it",
        column=_MOVE,
        unit="the price is multiplied by",
        marks=marks,
        scale="PuOr_r",
        private=True,
        log=True,
    )


def maps(directions: Directions, result: Result) -> Iterator[tuple[Panel, pd.DataFrame]]:
    """Yield a map for each direction, with the factor of one standard deviation of its noise on each price, and its
    numbers.
    """
    around, layer = cached.value("Drawing the boroughs", look_maps.boroughs, here=True), scale_of(directions.shapes)
    labels, unit = cells.map_cells(result.scene), result.dataset.privacy_unit
    each = zip(directions.shapes, directions.shares, directions.furthest, strict=True)
    for at, (shape, share, most) in enumerate(each, 1):
        rows = labels.assign(**{_MOVE: np.exp(shape).round(4)})
        said = f"Changing {unit} changes others by at most {text.factor_of(float(most))}."
        panel = redrawn_maps.map_panel(rows, layer, around, f"{at}: {text.percent(float(share))}", said)
        yield panel, rows.assign(direction=at)


SWITCH = Switch("directions", "The shapes the noise takes", section=HERE)


def show_maps(ours: Result) -> None:
    """Draw a switch, and the directions on the map; those of cloaking if the page's mechanism measures in stages."""
    if not settings.value_of(SWITCH):
        return
    result = ours
    if ours.design.in_stages:
        result = computed.run(ours.model, Design("cloaking"), ours.draw)
        st.caption("Bayes cloaking has no single noise matrix; this shows plain cloaking.")
    directions = directions_of(result)
    below, alt = partial(redrawn_maps.draw_scale, scale_of(directions.shapes), False), alt_text(directions, result)
    panels, rows = zip(*maps(directions, result), strict=True)
    about, of = _about(result, alt), result.settings
    pictures.panels(panels, below, "directions", alt, pd.concat(rows), about, caption="", of=of, are_maps=True)
    frames, alt = turning(directions, result.draw.seed, MAP_FRAMES), moving_alt(directions, result)
    labels, layer = cells.map_cells(result.scene), scale_of(frames)
    st.html(variants.buttons("A moving map", "One draw"))
    pictures.moving_map(labels, layer, np.exp(frames), "moving_map", alt, _about(result, alt), of=of)
    with st.expander("Table of the directions"):
        layout.table(table(directions, result), "directions_table", _NOTE)
