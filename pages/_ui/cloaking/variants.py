"""A release next to others: pinned, with several settings, or one simulated release after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from datasets import exhibit
from dpgp_core.figures.export import Draw, Panel
from pages._ui import session
from pages._ui.cloaking import cells, computed, figures, words
from pages._ui.cloaking.figures import BANDS, DRAWS
from pages._ui.cloaking.results import LEVEL, HeldOutErrors, Result
from pages._ui.cloaking.words import at_records
from pages._ui.look import layout, pictures, pin, redrawn, redrawn_maps, settings, text
from pages._ui.look import maps as look_maps
from pages._ui.look.controls import HERE, Menu, Switch, menu
from pages._ui.look.maps import Layer
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.look.text import Metric
from pages._ui.work import cached

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def find(page: str, on_screen: ReleaseSettings) -> Result | None:
    """Return the pinned release of a page if it is about the data set on screen: its first simulated release."""
    pinned = pin.pinned(page, type(on_screen), on_screen.dataset)
    if pinned is None:
        return None
    return computed.run(pinned.model, pinned.design, replace(pinned.draw, draws=1))


def show_pinned(page: str, pinned: Result | None, ours: Result, overlay: bool) -> None:
    """Draw the buttons; if something is pinned, also the differences and both values of each metric. Errors need the
    overlay.
    """
    if pinned is not None:
        st.markdown(pin.differences())
        layout.metrics(metrics(pinned, ours, overlay), "pinned")
    pin.buttons(page)


def metrics(pinned: Result, ours: Result, overlay: bool) -> list[Metric]:
    """Return pinned and current values, and how much larger or smaller the current one is."""
    kept, current = pinned.guarantee.budget, ours.guarantee.budget
    if ours.scene.is_map:
        pinned, ours = computed.with_noise(pinned), computed.with_noise(ours)
    uncertain = words.uncertainty(pinned, ours)
    one_more = f"Half of the range for one more person ({100 * LEVEL:g} %): their {ours.dataset.y_name}."
    rows = [
        (uncertain.name.lower(), uncertain.meaning, list(uncertain.halves)),
        ("one more person", one_more, [at_records(each, each.intervals.output.half) for each in (pinned, ours)]),
    ]
    if overlay:
        errors = [float(computed.errors(*each.settings).mean()) for each in (pinned, ours)]
        rows.insert(0, ("error", text.help_of("Error"), errors))
    deltas = f"δ: {text.small(kept.delta)} | {text.small(current.delta)}"
    tiles = [Metric("A | B: ε", f"{text.at_most(kept.epsilon)} | {text.at_most(current.epsilon)}", deltas)]
    for label, meaning, values in rows:
        written = " | ".join(words.size(ours, each) for each in values).replace("a factor of ", "× ")
        change = pin.change(*(text.relative(each) if ours.scene.is_map else each for each in values))
        tiles.append(Metric(f"A | B: {label}", written, change, meaning))
    return tiles


def computation(ours: Result, errors: HeldOutErrors | None) -> None:
    """Draw how a release is computed, after the errors of all simulated releases if these are known."""
    if errors is not None and errors.ours is not None:
        st.header("How much of the error is luck?")
        seen_so_far = ours.settings, errors.design, errors.beside is None
        picture = cached.drawn(figures.error_distribution, errors, ours.dataset.y_unit, of=seen_so_far)
        pictures.chart(picture, "errors", words.errors_alt(errors), caption=words.ERRORS_CAPTION)
    layout.steps([*words.explain(ours), words.ERROR])


Varied = Literal["none", "epsilon", "kernel", "lengthscale"]
VARIED: Menu[Varied] = menu(
    "Side by side",
    "three",
    {"none": "One setting", "epsilon": "Three ε", "kernel": "Three kernels", "lengthscale": "Three lengthscales"},
    buttons=True,
    section=HERE,
)
_FAR = 3  # factor between the epsilons of two pictures
_KERNELS = {"EQ": "EQ", "Matern32": "Matern 3/2", "Matern12": "Matern 1/2"}


def _chosen_three(ours: Result) -> list[tuple[str, Result]]:
    """Return title and release of three settings that a visitor chooses; none at first.

    The settings are a third of the present epsilon, itself, and three times as much; or lengthscales across the domain;
    or kernels, where rough ones are quick.
    """
    model, design, draw = ours.settings
    one, shipped = replace(draw, draws=1), exhibit(model.dataset)
    st.header("Side by side")
    offered = [each for each in VARIED.titles if each != "kernel" or not shipped.smooth_only]
    varied, three = settings.value_of(VARIED.among(offered)), dict[str, computed.Settings]()
    if varied == "epsilon":
        for epsilon in (draw.epsilon / _FAR, draw.epsilon, draw.epsilon * _FAR):
            three[f"ε = {epsilon:.2g}"] = model, design, replace(one, epsilon=float(f"{epsilon:.2g}"))
    elif varied == "kernel":
        three = {title: (replace(model, kernel=kernel), design, one) for kernel, title in _KERNELS.items()}
    elif varied == "lengthscale":
        for length in shipped.side_by_side:
            title = f"lengthscale {length:g} {shipped.unit}"
            three[title] = replace(model, lengthscale=float(length)), design, one
    return [*zip(three, computed.runs([*three.values()]), strict=True)]


Side = tuple[Result, Panel, pd.DataFrame]  # one of three releases, with picture and numbers


def curves(ours: Result, overlay: bool) -> None:
    """Draw the published curve at three settings on the same axes."""
    three: list[Side] = []
    for title, result in _chosen_three(ours):
        figure = figures.curves(result, overlay)
        panel = Panel(draw=partial(redrawn.draw, figure, named=False), title=title, caption=f"{words.within(result)}.")
        three.append((result, panel, words.rows_of(figure, result)))
    if three:
        alt, unit = "The same data at three settings, on the same axes.", f" All in {ours.dataset.y_unit}."
        _show("three_curves", three, partial(redrawn.draw_names, figure), alt, not overlay, unit)


def maps(ours: Result, kind: str, overlay: bool) -> None:
    """Draw the same layer of the map at three settings, at one scale, with one legend."""
    around = cached.value("Drawing the boroughs", look_maps.boroughs, here=True)
    found = _chosen_three(ours)
    tables = [cells.cell_table(result, overlay) for _, result in found]
    if not found:
        return
    layer = cells.layer_of(kind, *tables)
    three: list[Side] = [
        (result, redrawn_maps.map_panel(table, layer, around, title, f"{words.within(result)}."), table)
        for (title, result), table in zip(found, tables, strict=True)
    ]
    alt = f"{layer.title} at three settings, in the same colours."
    below = partial(redrawn_maps.draw_scale, layer, any(layer.unsure(table).any() for table in tables))
    _show("three_maps", three, below, alt, layer.private, of=kind)


def _show(key: str, three: Sequence[Side], below: Draw, alt: str, public: bool, unit: str = "", of: str = "") -> None:
    """Draw all three with a legend ``below`` them, and say how far a typical value is from the truth in each."""
    panels = [panel for _, panel, _ in three]
    numbers = pd.concat([rows.assign(setting=panel.title) for _, panel, rows in three])
    alt += "".join(f" {panel.title}: {panel.caption}" for panel in panels)
    about = None
    if public:  # three releases about the same people cost more together than each alone
        last = figures.about(three[-1][0], alt)
        many = f"{last.release} Three releases, each with its own promise; all three together cost more."
        found = words.within(*(result for result, _, _ in three), of=[panel.title for panel in panels])
        about = replace(last, release=many, finding=found)
    settings_of = (of, public, *((panel.title, result.settings) for result, panel, _ in three))
    pictures.panels(panels, below, key, alt + unit, numbers, about, caption="", of=settings_of, are_maps=bool(of))


MANY = 20  # number of releases that the button sets, one of those that the sidebar offers
_SECONDS, _CALM = 0.7, 2.0  # for which a release is shown; also if reduced motion is requested


def play(charts: Mapping[str, go.Figure], above: DeltaGenerator) -> None:
    """Draw a button for many releases under the charts; if there are many, draw the player above them."""
    count = len(_traces(next(iter(charts.values())), DRAWS))
    if count > 1:
        player(charts, above, f"{count} draws", count, _SECONDS)
        return
    st.button(f"Play {MANY} releases", icon=":material/play_circle:", on_click=session.move, args=({"draws": MANY},))


PLAY = Switch("play", f"Play {MANY} releases", section=HERE, width="content", display_only=True)


class MapView(NamedTuple):
    """What the controls of a map choose: layer, release next to it, and whether many releases are played."""

    kind: str
    beside: computed.Beside
    plays: bool


def map_view(chosen: ReleaseSettings, above: DeltaGenerator, below: DeltaGenerator) -> MapView:
    """Draw the controls of the map: its layer ``above`` it, all others ``below``, so that the map is on the first
    screen.
    """
    row: Any = {"horizontal": True, "vertical_alignment": "center"}
    with above, st.container(**row, key="map_row"):
        kind = settings.value_of(cells.LAYER.among(cells.kinds(chosen.design.in_stages, chosen.overlay)))
    with below, st.container(**row, key="map_row_below"):
        beside = settings.value_of(computed.BESIDE.among(["none", *computed.may_stand_beside(chosen)]))
        plays = settings.value_of(PLAY)
        layout.epsilon_here()
    return MapView(kind, beside, plays)


def curve_view(chosen: ReleaseSettings) -> computed.Beside:
    """Draw the row above the curves, which chooses the release next to the page's own."""
    with st.container(horizontal=True, vertical_alignment="center", key="curve_row"):
        beside = settings.value_of(computed.BESIDE.among([*computed.may_stand_beside(chosen), "none"]))
        layout.epsilon_here()
    return beside


def show_map(result: Result, table: pd.DataFrame, layer: Layer, kind: str, key: str, picked: str | None) -> None:
    """Draw a layer of a release on the map; ``kind`` and ``key`` identify it on the page."""
    more, caption = cells.alt_text(table, layer), cells.caption(table, layer)
    about = figures.about(result, layer.title)
    pictures.hexagon_map(table, layer, kind, key, picked, about=about, more=more, caption=caption)


def play_map(ours: Result) -> tuple[Result, Layer]:
    """Play the published prices of many releases, which flicker where noise is large. Return these releases, and the
    layer with the colours of all of them.
    """
    model, design, draw = ours.settings
    many = computed.run(model, design, replace(draw, draws=MANY))
    shown = cells.map_rows(many.scene)
    prices = np.stack([cells.released_prices(sample, many.dataset)[shown] for sample in many.samples])
    layer = cells.LAYERS["private"].over(prices)
    st.html(buttons(f"{MANY} releases", "The first", first="play"))
    caption = "Published prices of one release after another: they flicker where privacy noise is large."
    about = figures.about(many, caption)
    labels = cells.map_cells(many.scene)
    pictures.moving_map(labels, layer, prices, "played_map", caption, about, seconds=_SECONDS, of=many.settings)
    return many, layer


def player(
    charts: Mapping[str, go.Figure],
    above: DeltaGenerator,
    legend: str,
    count: int,
    seconds: float,
    still: str = "All together",
) -> None:
    """Draw the player of charts with ``count`` releases, each shown for ``seconds``; ``still`` names the first
    picture.
    """
    above.html(_style(charts, count, seconds) + buttons(legend, still))


def _traces(figure: go.Figure, group: str) -> list[int]:
    """Return the positions of a group's traces among their layer's children, counted from 1."""
    return [number for number, trace in enumerate(figure.data, 1) if trace.legendgroup == group]


def buttons(legend: str, still: str = "All together", first: str = "all") -> str:
    """Return play, pause and still picture as HTML, with ``first`` chosen; style sheets ask which one is checked."""
    radios = "".join(
        f'<label><input type="radio" name="player" class="player-{name}"{" checked" if name == first else ""}> '
        f"{title}</label>"
        for name, title in {"all": still, "play": "Play, one after another", "pause": "Pause"}.items()
    )
    return f'<fieldset class="player"><legend>{legend}</legend>{radios}</fieldset>'


def _style(charts: Mapping[str, go.Figure], count: int, seconds: float) -> str:
    """Return a style sheet that shows release i during the i-th part of each round while Play or Pause is chosen."""
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
            # The wide band of the first release
            rules.append(f"{begun} {layer}:nth-child(1) {{ opacity: 0 !important; }}")
        rules.append(f"body:has(.player-pause:checked) {layer} {{ animation-play-state: paused; }}")
    return (
        f"<style>:root {{ --slot: {seconds:g}s; }} "
        f"@media (prefers-reduced-motion: reduce) {{ :root {{ --slot: {_CALM:g}s; }} }} "
        f"@keyframes player-turn {{ 0% {{ opacity: 1; }} {100 / count:g}%, 100% {{ opacity: 0; }} }} "
        f"{' '.join(rules)}</style>"
    )
