"""A pinned release beside the current one: its result, and A | B in figures."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._ui.cloaking import computed, left_out
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.cloaking.words import Shown, at_records, uncertainty
from pages._ui.look import frame, glossary, pin, text
from pages._ui.look.offers import DropDown
from pages._ui.look.text import Metric

Plain = Callable[[float], float]


def find(page: str, offered: DropDown[str], dataset: str) -> Result | None:
    """The release that is pinned on a page, if it is of the dataset on screen: its first draw."""
    chosen = pin.pinned(page, lambda link: pin.release_settings(link, offered))
    if chosen is None:
        return None
    if chosen.model.dataset != dataset:
        pin.of_other_data()
        return None
    return computed.run(chosen.model, chosen.design, chosen.draw)


def show(
    page: str, pinned: Result | None, ours: Result, overlay: bool, shown: Shown, plain: Plain = lambda value: value
) -> None:
    """Buttons; with something pinned, what differs and A | B in figures. For the arguments see ``metrics``."""
    if pinned is not None:
        st.markdown(pin.differences())
        frame.metrics(metrics(pinned, ours, overlay, shown, plain), "pinned")
    pin.buttons(page)


def metrics(pinned: Result, ours: Result, overlay: bool, shown: Shown, plain: Plain) -> list[Metric]:
    """Pinned and current figures, A | B; errors only under the overlay.

    Args:
        pinned, ours: A and B.
        overlay: whether errors may be shown.
        shown: writes a value.
        plain: the number that is written, for how much larger or smaller B is.
    """
    name = ours.dataset.y_name
    kept, now = (each.outcome.guarantee.budget for each in (pinned, ours))
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
        one, other = (left_out.errors(*each.chosen).mean for each in (pinned, ours))
        rows.insert(0, ("error", glossary.help_of("Error"), one, other))
    deltas = f"δ: {text.small(kept.delta)} | {text.small(now.delta)}"
    return [
        Metric("A | B: ε", f"{kept.epsilon:g} | {now.epsilon:g}", deltas),
        *(
            Metric(
                f"A | B: {label}",
                f"{shown(a)} | {shown(b)}".replace("a factor of ", "× "),
                pin.change(plain(a), plain(b)),
                meaning,
            )
            for label, meaning, a, b in rows
        ),
    ]


def _half(result: Result) -> float:
    return at_records(result, result.intervals.output.half)
