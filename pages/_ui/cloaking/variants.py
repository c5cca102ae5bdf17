"""A release beside others: pinned, of several settings, or draw after draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from pages._ui.cloaking.words import Formatter, at_records, uncertainty
from pages._ui.look import frame, offers, pictures, pin, settings, sheet_figure, sheet_map, text
from pages._ui.look import maps as look_maps
from pages._ui.look.controls import HERE, Menu, menu
from pages._ui.look.maps import Layer
from pages._ui.look.sheet import About, Panel
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.look.text import Metric
from pages._ui.work import cached

Plain = Callable[[float], float]


def find(page: str, kind: type[ReleaseSettings], dataset: str) -> Result | None:
    """The release that is pinned on a page, if it is of the dataset on screen: its first draw."""
    chosen = pin.pinned(page, kind, dataset)
    if chosen is None:
        return None
    return computed.run(chosen.model, chosen.design, replace(chosen.draw, draws=1))


def show_pinned(
    page: str,
    pinned: Result | None,
    ours: Result,
    overlay: bool,
    with_unit: Formatter,
    plain: Plain = lambda value: value,
) -> None:
    """Buttons; with something pinned, the differences and A | B in figures. For the arguments see ``metrics``."""
    if pinned is not None:
        st.markdown(pin.differences())
        frame.metrics(metrics(pinned, ours, overlay, with_unit, plain), "pinned")
    pin.buttons(page)


def metrics(pinned: Result, ours: Result, overlay: bool, with_unit: Formatter, plain: Plain) -> list[Metric]:
    """Pinned and current figures, A | B; errors only under the overlay.

    Args:
        pinned, ours: A and B.
        overlay: whether errors may be shown.
        with_unit: writes a value.
        plain: the number that is written, for how much larger or smaller B is.
    """
    name = ours.dataset.y_name
    kept, current = (each.outcome.guarantee.budget for each in (pinned, ours))
    uncertain = uncertainty(pinned, ours)
    rows = [
        (uncertain.name.lower(), uncertain.meaning, uncertain.ours, uncertain.other),
        (
            "one more person",
            f"Half of the range for one more person ({100 * LEVEL:g} %): their {name}.",
            _half(pinned),
            _half(ours),
        ),
    ]
    if overlay:
        one, other = (float(computed.errors(*each.chosen).mean()) for each in (pinned, ours))
        rows.insert(0, ("error", text.help_of("Error"), one, other))
    deltas = f"δ: {text.small(kept.delta)} | {text.small(current.delta)}"
    return [
        Metric("A | B: ε", f"{kept.epsilon:g} | {current.epsilon:g}", deltas),
        *(
            Metric(
                f"A | B: {label}",
                f"{with_unit(a)} | {with_unit(b)}".replace("a factor of ", "× "),
                pin.change(plain(a), plain(b)),
                meaning,
            )
            for label, meaning, a, b in rows
        ),
    ]


def _half(result: Result) -> float:
    return at_records(result, result.intervals.output.half)


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


def chosen(name: str) -> Varied:
    """The setting that differs between the three; kernels only where rough ones are quick."""
    st.header("Side by side")
    offered = [each for each in VARIED.titles if each != "kernel" or not exhibit(name).smooth_only]
    return settings.value_of(VARIED.among(offered))


def variants(ours: Result, varied: Varied) -> Iterator[tuple[str, Result]]:
    """Title and release of the three, the present setting among them where it has neighbours on both sides."""
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
            result = computed.run(replace(model, lengthscale=float(length)), design, one)
            yield f"lengthscale {length:g} {shipped.unit}", result


def _three(grid: Sequence[float], value: float, far: int) -> tuple[float, ...]:
    """A value and one so many steps to each side; further in where the grid ends."""
    at = min(range(len(grid)), key=lambda i: abs(grid[i] - value))
    at = min(max(at, far), len(grid) - 1 - far)
    return tuple(grid[i] for i in (at - far, at, at + far))


def curves(ours: Result, varied: Varied, overlay: bool) -> None:
    """The published curve three times, on the same axes."""
    three = dict(variants(ours, varied))
    panels, rows, drawn = [], [], []
    for title, result in three.items():
        figure = figures.curves(result, overlay)
        panels.append(Panel(title, f"{_within(result)}.", partial(sheet_figure.drawn, figure, named=False)))
        rows.append(words.rows_of(figure, result).assign(setting=title))
        drawn.append(figure)
    below = partial(sheet_figure.names_of, drawn[0])
    unit = ours.dataset.y_unit
    alt = "The same data at three settings, on the same axes. " + _in_words(three)
    about = None if overlay else _about(three, alt)
    pictures.panels(panels, below, "three_curves", f"{alt} All in {unit}.", pd.concat(rows), about)


def maps(ours: Result, varied: Varied, layer: Layer, kind: str, overlay: bool) -> None:
    """The same layer of the map three times, at one scale, with one legend."""
    three = dict(variants(ours, varied))
    around = cached.value("Drawing the boroughs", look_maps.boroughs)
    panels, rows = [], []
    for title, result in three.items():
        table = cells.cell_table(result, overlay)
        draw = partial(sheet_map.hexagons, table, cells.layers(result, overlay).get(kind, layer), around, named=False)
        panels.append(Panel(title, f"{_within(result)}.", draw))
        rows.append(table.assign(setting=title))
    alt = f"{layer.title} at three settings, in the same colours. " + _in_words(three)
    about = _about(three, alt) if layer.private else None
    below = partial(sheet_map.across, layer)
    pictures.panels(panels, below, "three_maps", alt, pd.concat(rows), about)


def _within(result: Result) -> str:
    """How far a typical value is from the truth, in words."""
    intervals = result.intervals
    if result.outcome.scene.labels is not None:
        blur = intervals.curve.half if intervals.noise is None else intervals.noise
        factor = text.factor_of(at_records(result, blur))
        if intervals.noise is None:
            return f"A typical price is known to within {factor}"
        return f"Privacy noise moves a typical price by less than {factor}"
    half = text.number(at_records(result, intervals.curve.half))
    return f"The curve is within {half} {result.dataset.y_unit} (95 %)"


def _in_words(three: Mapping[str, Result]) -> str:
    return " ".join(f"{title}: {_within(result)}." for title, result in three.items())


def _about(three: Mapping[str, Result], shows: str) -> About:
    """Three releases about the same people: together they cost more than each."""
    first = figures.about([*three.values()][-1], shows)
    many = f"{first.release} Three releases, each with its own promise; all three together cost more."
    return replace(first, release=many)


MANY = 20  # draws that the button asks for: one of those the sidebar offers
_SECONDS, _FRAME, _CALM = 0.7, 0.12, 2.0  # a draw is shown for, a frame; the last where reduced motion is asked for
_CHOICES = {"play": "Play, one after another", "pause": "Pause"}


def play(charts: Mapping[str, go.Figure], above: DeltaGenerator) -> None:
    """Under the charts (figures by key, of the same draws) a button for many draws; with many, the player above."""
    count = count_of(next(iter(charts.values())))
    if count == 1:
        st.button(
            f"Show {MANY} draws, to play", icon=":material/play_circle:", on_click=session.move, args=({"draws": MANY},)
        )
        return
    above.html(_style(charts, count, _SECONDS) + buttons(f"{count} draws"))


def move(chart: str, figure: go.Figure, above: DeltaGenerator) -> None:
    """The player of a moving picture, whose frames are the draws of one chart, above it."""
    above.html(_style({chart: figure}, count_of(figure), _FRAME) + buttons("A moving picture"))


def count_of(figure: go.Figure) -> int:
    """Draws of a figure."""
    return len(_traces(figure, DRAWS))


def _traces(figure: go.Figure, group: str) -> list[int]:
    """Places of a group's traces among their layer's children, counted from 1."""
    return [number for number, trace in enumerate(figure.data, 1) if trace.legendgroup == group]


def buttons(legend: str, still: str = "All together") -> str:
    """Play, pause, and the still picture at first, as HTML; style sheets ask which of them is checked."""
    radios = "".join(
        f'<label><input type="radio" name="player" class="player-{name}"{" checked" if name == "all" else ""}> '
        f"{title}</label>"
        for name, title in {"all": still, **_CHOICES}.items()
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
