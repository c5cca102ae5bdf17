"""A release beside others: pinned, of several settings, or draw after draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from datasets import exhibit
from pages._ui import session
from pages._ui.cloaking import cells, computed, figures, words
from pages._ui.cloaking.figures import BANDS, DRAWS
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.cloaking.words import at_records
from pages._ui.look import frame, offers, pictures, pin, settings, sheet_figure, sheet_map, text
from pages._ui.look import maps as look_maps
from pages._ui.look.controls import HERE, Menu, menu
from pages._ui.look.maps import Layer
from pages._ui.look.sheet import Draw, Panel
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.look.text import Metric
from pages._ui.work import cached


def find(page: str, on_screen: ReleaseSettings) -> Result | None:
    """The release that is pinned on a page, if it is of the dataset on screen: its first draw."""
    pinned = pin.pinned(page, type(on_screen), on_screen.dataset)
    if pinned is None:
        return None
    return computed.run(pinned.model, pinned.design, replace(pinned.draw, draws=1))


def show_pinned(page: str, pinned: Result | None, ours: Result, overlay: bool) -> None:
    """Buttons; with something pinned, the differences and A | B in figures, errors only under the overlay."""
    if pinned is not None:
        st.markdown(pin.differences())
        frame.metrics(metrics(pinned, ours, overlay), "pinned")
    pin.buttons(page)


def metrics(pinned: Result, ours: Result, overlay: bool) -> list[Metric]:
    """Pinned and current figures, A | B, and how much larger or smaller B is."""
    kept, current = pinned.guarantee.budget, ours.guarantee.budget
    uncertain = words.uncertainty(pinned, ours)
    one_more = f"Half of the range for one more person ({100 * LEVEL:g} %): their {ours.dataset.y_name}."
    rows = [
        (uncertain.name.lower(), uncertain.meaning, (uncertain.ours, uncertain.other)),
        ("one more person", one_more, [at_records(each, each.intervals.output.half) for each in (pinned, ours)]),
    ]
    if overlay:
        errors = [float(computed.errors(*each.settings).mean()) for each in (pinned, ours)]
        rows.insert(0, ("error", text.help_of("Error"), errors))
    deltas = f"δ: {text.small(kept.delta)} | {text.small(current.delta)}"
    tiles = [Metric("A | B: ε", f"{kept.epsilon:g} | {current.epsilon:g}", deltas)]
    for label, meaning, values in rows:
        written = " | ".join(words.size(ours, each) for each in values).replace("a factor of ", "× ")
        change = pin.change(*(text.relative(each) if ours.scene.is_map else each for each in values))
        tiles.append(Metric(f"A | B: {label}", written, change, meaning))
    return tiles


Varied = Literal["none", "epsilon", "kernel", "lengthscale"]
VARIED: Menu[Varied] = menu(
    "Side by side",
    "three",
    {"none": "One setting", "epsilon": "Three ε", "kernel": "Three kernels", "lengthscale": "Three lengthscales"},
    buttons=True,
    section=HERE,
)
_FAR = 3  # steps of the slider of epsilon between two pictures
_KERNELS = ("EQ", "Matern32", "Matern12")


def _chosen_three(ours: Result) -> Iterator[tuple[str, Result]]:
    """Title and release of three settings, as a visitor chooses; none at first, and kernels where rough ones are quick.

    The present setting is among them where it has neighbours on both sides.
    """
    model, design, draw = ours.settings
    one, shipped = replace(draw, draws=1), exhibit(model.dataset)
    st.header("Side by side")
    offered = [each for each in VARIED.titles if each != "kernel" or not shipped.smooth_only]
    varied = settings.value_of(VARIED.among(offered))
    if varied == "epsilon":
        for epsilon in _three(offers.EPSILONS, draw.epsilon, _FAR):
            yield f"ε = {epsilon:g}", computed.run(model, design, replace(one, epsilon=float(epsilon)))
    elif varied == "kernel":
        for kernel in _KERNELS:
            yield kernel, computed.run(replace(model, kernel=kernel), design, one)
    elif varied == "lengthscale":
        for length in _three(shipped.lengthscales, model.lengthscale, 1):
            result = computed.run(replace(model, lengthscale=float(length)), design, one)
            yield f"lengthscale {length:g} {shipped.unit}", result


def _three(grid: Sequence[float], value: float, far: int) -> tuple[float, ...]:
    """A value of a grid and one so many steps to each side; further in where the grid ends."""
    at = min(max(grid.index(value), far), len(grid) - 1 - far)
    return tuple(grid[at - far : at + far + 1 : far])


Side = tuple[str, Result, Draw, pd.DataFrame]  # one of three: its title, release, picture and numbers


def curves(ours: Result, overlay: bool) -> None:
    """The published curve at three settings, on the same axes."""
    three: list[Side] = []
    for title, result in _chosen_three(ours):
        figure = figures.curves(result, overlay)
        draw = partial(sheet_figure.drawn, figure, named=False)
        three.append((title, result, draw, words.rows_of(figure, result)))
    if three:
        alt, unit = "The same data at three settings, on the same axes.", f" All in {ours.dataset.y_unit}."
        _show("three_curves", three, partial(sheet_figure.names_of, figure), alt, not overlay, unit)


def maps(ours: Result, layer: Layer, kind: str, overlay: bool) -> None:
    """The same layer of the map at three settings, at one scale, with one legend."""
    three: list[Side] = []
    around = cached.value("Drawing the boroughs", look_maps.boroughs)
    for title, result in _chosen_three(ours):
        table, its_layer = cells.cell_table(result, overlay), cells.layers(result, overlay).get(kind, layer)
        three.append((title, result, partial(sheet_map.hexagons, table, its_layer, around, named=False), table))
    if three:
        alt = f"{layer.title} at three settings, in the same colours."
        _show("three_maps", three, partial(sheet_map.across, layer), alt, layer.private)


def _show(key: str, three: Sequence[Side], below: Draw, alt: str, public: bool, unit: str = "") -> None:
    """All three with a legend ``below`` them, and how far a typical value is from the truth in each."""
    panels = [Panel(title, f"{_within(result)}.", draw) for title, result, draw, _ in three]
    numbers = pd.concat([rows.assign(setting=title) for title, _, _, rows in three])
    alt += "".join(f" {panel.title}: {panel.caption}" for panel in panels)
    about = None
    if public:  # three releases about the same people: together they cost more than each
        last = figures.about(three[-1][1], alt)
        many = f"{last.release} Three releases, each with its own promise; all three together cost more."
        about = replace(last, release=many)
    pictures.panels(panels, below, key, alt + unit, numbers, about)


def _within(result: Result) -> str:
    """How far a typical value is from the truth, in words."""
    intervals, at_map = result.intervals, result.scene.is_map
    half = words.size(result, at_records(result, intervals.blur if at_map else intervals.curve.half))
    if not at_map:
        return f"The curve is within {half} (95 %)"
    if intervals.noise is None:
        return f"A typical price is known to within {half}"
    return f"Privacy noise moves a typical price by less than {half}"


MANY = 20  # draws that the button asks for: one of those the sidebar offers
_SECONDS, _CALM = 0.7, 2.0  # a draw is shown for; where reduced motion is asked for


def play(charts: Mapping[str, go.Figure], above: DeltaGenerator) -> None:
    """Under the charts (figures by key, of the same draws) a button for many draws; with many, the player above."""
    count = len(_traces(next(iter(charts.values())), DRAWS))
    if count > 1:
        player(charts, above, f"{count} draws", count, _SECONDS)
        return
    st.button(
        f"Show {MANY} draws, to play", icon=":material/play_circle:", on_click=session.move, args=({"draws": MANY},)
    )


def player(charts: Mapping[str, go.Figure], above: DeltaGenerator, legend: str, count: int, seconds: float) -> None:
    """The player of so many draws of charts, each of which is shown for so long."""
    above.html(_style(charts, count, seconds) + buttons(legend))


def _traces(figure: go.Figure, group: str) -> list[int]:
    """Places of a group's traces among their layer's children, counted from 1."""
    return [number for number, trace in enumerate(figure.data, 1) if trace.legendgroup == group]


def buttons(legend: str, still: str = "All together") -> str:
    """Play, pause, and the still picture at first, as HTML; style sheets ask which of them is checked."""
    radios = "".join(
        f'<label><input type="radio" name="player" class="player-{name}"{" checked" if name == "all" else ""}> '
        f"{title}</label>"
        for name, title in {"all": still, "play": "Play, one after another", "pause": "Pause"}.items()
    )
    return f'<fieldset class="player"><legend>{legend}</legend>{radios}</fieldset>'


def _style(charts: Mapping[str, go.Figure], count: int, seconds: float) -> str:
    """While Play or Pause is chosen, draw i is visible for the i-th part of each round only."""
    rules, begun = [], pictures.PLAYED
    for chart, figure in charts.items():
        turns = [each for each in (_traces(figure, DRAWS), _traces(figure, BANDS)) if each]
        layer = f".st-key-{chart} .scatterlayer > .trace"
        for index in range(count):
            selectors = ", ".join(f"{begun} {layer}:nth-child({group[index]})" for group in turns)
            rules.append(f"{selectors} {{ animation-delay: calc(var(--slot) * {index - count} - 1ms); }}")
        every = ", ".join(f"{layer}:nth-child({number})" for group in turns for number in group)
        rules.append(
            f"{begun} :is({every}) {{ animation-name: player-turn; animation-timing-function: step-end; "
            f"animation-iteration-count: infinite; animation-duration: calc(var(--slot) * {count}) !important; }}"
        )
        if len(turns) > 1:
            rules.append(f"{begun} {layer}:nth-child(1) {{ opacity: 0 !important; }}")  # the first draw's wide band
        rules.append(f"body:has(.player-pause:checked) {layer} {{ animation-play-state: paused; }}")
    return (
        f"<style>:root {{ --slot: {seconds:g}s; }} "
        f"@media (prefers-reduced-motion: reduce) {{ :root {{ --slot: {_CALM:g}s; }} }} "
        f"@keyframes player-turn {{ 0% {{ opacity: 1; }} {100 / count:g}%, 100% {{ opacity: 0; }} }} "
        f"{' '.join(rules)}</style>"
    )
