"""A pinned release beside the current one: its result, and A | B in figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from pages._ui.cloaking import computed
from pages._ui.cloaking.pipeline import LEVEL, Result
from pages._ui.cloaking.words import Shown, noise_at_records
from pages._ui.look import frame, pin, text
from pages._ui.look.metric import Metric
from pages._ui.look.offers import DropDown

Plain = Callable[[float], float]


def find(page: str, offered: DropDown[str], dataset: str) -> Result | None:
    """The release that is pinned on a page, if it is of the dataset on screen: its first draw."""
    chosen = pin.pinned(page, lambda given: pin.release_settings(given, offered))
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
    then, now = (each.outcome.release.guarantee.budget for each in (pinned, ours))
    noise = noise_at_records(pinned)
    rows = [
        ("error", "Error of one release at its own records.", pinned.outcome.mean_rmse, ours.outcome.mean_rmse),
        ("noise", f"Privacy noise at a typical record, {100 * LEVEL:g} %.", noise, noise_at_records(ours)),
        ("interval", f"Half of the {100 * LEVEL:g} % interval for one more {name}.", _half(pinned), _half(ours)),
    ]
    deltas = f"δ: {text.small(then.delta)} | {text.small(now.delta)}"
    return [
        Metric("A | B: ε", f"{then.epsilon:g} | {now.epsilon:g}", deltas),
        *(
            Metric(
                f"A | B: {label}",
                f"{shown(a)} | {shown(b)}".replace("a factor of ", "× "),
                pin.change(plain(a), plain(b)),
                meaning,
            )
            for label, meaning, a, b in (rows if overlay else rows[1:])
        ),
    ]


def _half(result: Result) -> float:
    return float(np.median(result.halves.output[: result.outcome.scene.records]))
