"""Draws shown one after another. The browser does it by style sheet alone: no server asked, no script to allow.

Plotly draws every trace as one child of its layer, in the figure's order, so each draw's curve and band can be given
their turn. Nothing moves before Play is chosen; radio buttons are what a keyboard and a screen reader know.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages._ui import session
from pages._ui.cloaking.figures import BANDS, DRAWS

MANY = 20  # draws that the button asks for: one of those the sidebar offers
_SECONDS, _FRAME, _CALM = 0.7, 0.12, 2.0  # a draw is shown for, a frame; the last where reduced motion is asked for
_CHOICES = {"all": "All together", "play": "Play, one after another", "pause": "Pause"}


def show(charts: Mapping[str, go.Figure], above: DeltaGenerator) -> None:
    """Under the charts a way to many draws; with many, the player above them.

    Args:
        charts: key of a chart -> its figure; all of the same draws.
        above: where the player stands.
    """
    count = count_of(next(iter(charts.values())))
    if count == 1:
        st.button(
            f"Show {MANY} draws, to play", icon=":material/play_circle:", on_click=session.move, args=({"draws": MANY},)
        )
        return
    above.html(_style(charts, count, _SECONDS) + _buttons(f"{count} draws"))


def move(chart: str, figure: go.Figure, above: DeltaGenerator) -> None:
    """The player of a moving picture, whose frames are the draws of one chart, above it."""
    above.html(_style({chart: figure}, count_of(figure), _FRAME) + _buttons("A moving picture"))


def count_of(figure: go.Figure) -> int:
    """Draws of a figure."""
    return len(_traces(figure, DRAWS))


def _traces(figure: go.Figure, group: str) -> list[int]:
    """Places of a group's traces among their layer's children, counted from 1."""
    return [number for number, trace in enumerate(figure.data, 1) if trace.legendgroup == group]


def _buttons(legend: str) -> str:
    radios = "".join(
        f'<label><input type="radio" name="player" class="player-{name}"{" checked" if name == "all" else ""}> '
        f"{title}</label>"
        for name, title in _CHOICES.items()
    )
    return f'<fieldset class="player"><legend>{legend}</legend>{radios}</fieldset>'


def _style(charts: Mapping[str, go.Figure], count: int, seconds: float) -> str:
    """While Play or Pause is chosen, draw i is visible for the i-th part of each round only."""
    begun, rules = "body:has(.player-play:checked, .player-pause:checked)", []
    for chart, figure in charts.items():
        turns = [each for each in (_traces(figure, DRAWS), _traces(figure, BANDS)) if each]
        layer = f".st-key-{chart} .scatterlayer > .trace"
        for index in range(count):
            mine = ", ".join(f"{begun} {layer}:nth-child({group[index]})" for group in turns)
            rules.append(f"{mine} {{ animation-delay: calc(var(--slot) * {index - count} - 1ms); }}")
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
