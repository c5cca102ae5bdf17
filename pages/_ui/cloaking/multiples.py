"""Three settings beside each other: the same map or curve at three epsilons, kernels or lengthscales."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st

from datasets import exhibit
from pages._ui.cloaking import cells, computed, figures, taken, words
from pages._ui.cloaking.results import Result
from pages._ui.look import decks, offers, pictures, sheet_figure, sheet_map, text
from pages._ui.look.bound import segments
from pages._ui.look.maps import Layer
from pages._ui.look.offers import DropDown
from pages._ui.look.sheet import About, Panel
from pages._ui.work import cached

Varied = Literal["none", "epsilon", "kernel", "lengthscale"]
VARIED: DropDown[Varied] = DropDown(
    "three",
    {"none": "One setting", "epsilon": "Three ε", "kernel": "Three kernels", "lengthscale": "Three lengthscales"},
)
_FAR = 3  # steps of the slider of epsilon between two pictures
_KERNELS = ("EQ", "Matern32", "Matern12")


class Variant(NamedTuple):
    """One of the three: what differs, and its release."""

    title: str
    result: Result


def chosen(name: str) -> Varied:
    """What differs between the three; kernels only where rough ones are quick."""
    st.header("Side by side")
    offered = [each for each in VARIED.titles if each != "kernel" or not exhibit(name).smooth_only]
    return segments("Side by side", VARIED, offered)


def variants(ours: Result, varied: Varied) -> tuple[Variant, ...]:
    """The three, the present setting among them where it has neighbours on both sides."""
    return tuple(Variant(title, result) for title, result in _varied(ours, varied))


def _varied(ours: Result, varied: Varied) -> Iterator[tuple[str, Result]]:
    model, design, draw = ours.chosen
    one = replace(draw, draws=1)
    if varied == "epsilon":
        for epsilon in _three(offers.EPSILONS, draw.epsilon, _FAR):
            yield f"ε = {epsilon:g}", computed.run(model, design, replace(one, epsilon=float(epsilon)))
    elif varied == "kernel":
        for kernel in _KERNELS:
            yield kernel, computed.run(replace(model, kernel=kernel), design, one)
    else:
        shipped = exhibit(model.dataset)
        for length in _three(shipped.lengthscales, model.lengthscale, 1):
            found = computed.run(replace(model, lengthscale=float(length)), design, one)
            yield f"lengthscale {length:g} {shipped.unit}", found


def _three(grid: Sequence[float], value: float, far: int) -> tuple[float, ...]:
    """A value and one so many steps to each side; further in where the grid ends."""
    at = min(range(len(grid)), key=lambda i: abs(grid[i] - value))
    at = min(max(at, far), len(grid) - 1 - far)
    return tuple(grid[i] for i in (at - far, at, at + far))


def curves(ours: Result, varied: Varied, overlay: bool) -> None:
    """The published curve three times, on the same axes."""
    three = variants(ours, varied)
    drawn = [figures.curves(each.result, overlay) for each in three]
    panels = [
        Panel(each.title, f"{_within(each.result)}.", partial(sheet_figure.drawn, figure, named=False))
        for each, figure in zip(three, drawn, strict=True)
    ]
    below = partial(sheet_figure.names_of, drawn[0])
    unit = ours.dataset.y_unit
    alt = "The same data at three settings, on the same axes. " + _said(three)
    tables = [words.curve_table(each.result, overlay).assign(setting=each.title) for each in three]
    about = None if overlay else _about(three, alt)
    pictures.panels(panels, below, "three_curves", f"{alt} All in {unit}.", pd.concat(tables), about)


def maps(ours: Result, varied: Varied, layer: Layer, kind: str, overlay: bool) -> None:
    """The same layer of the map three times, at one scale, with one legend."""
    three = variants(ours, varied)
    around = cached.value("Drawing the boroughs", decks.boroughs)
    drawn = []
    for each in three:
        shown = cells.layers(each.result, overlay).get(kind, layer)
        table = cells.cell_table(each.result, overlay)
        draw = partial(sheet_map.hexagons, table, shown, around, named=False)
        drawn.append((Panel(each.title, f"{_within(each.result)}.", draw), table.assign(setting=each.title)))
    alt = f"{layer.title} at three settings, in the same colours. " + _said(three)
    about = _about(three, alt) if layer.private else None
    below = partial(sheet_map.across, layer)
    pictures.panels([panel for panel, _ in drawn], below, "three_maps", alt, pd.concat(t for _, t in drawn), about)


def _within(result: Result) -> str:
    """How far a typical value is from the truth, in words."""
    intervals = result.intervals
    if result.outcome.scene.labels is not None:
        blur = intervals.curve.half if intervals.noise is None else intervals.noise
        said = text.factor_of(words.at_records(result, blur))
        return f"Privacy noise moves a typical price by less than {said}" if intervals.noise is not None else (
            f"A typical price is known to within {said}"
        )  # fmt: skip
    half = text.number(words.at_records(result, intervals.curve.half))
    return f"The curve is within {half} {result.dataset.y_unit} (95 %)"


def _said(three: Sequence[Variant]) -> str:
    return " ".join(f"{each.title}: {_within(each.result)}." for each in three)


def _about(three: Sequence[Variant], shows: str) -> About:
    """Three releases about the same people: together they cost more than each."""
    first = taken.about(three[-1].result, shows)
    many = f"{first.release} Three releases, each with its own promise; all three together cost more."
    return replace(first, release=many)
