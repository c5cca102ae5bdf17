"""Controls of the comparison."""

from __future__ import annotations

import streamlit as st

from pages._ui.compare.contenders import Contest
from pages._ui.compare.words import Scale
from pages._ui.look.sidebar import choice, dataset, model, privacy
from pages._ui.settings import (
    BINS,
    INDUCING,
)


def compare_setting() -> tuple[Contest, float]:
    """The sidebar of the comparison: settings shared by all mechanisms, and epsilon."""
    name = dataset("compare_dataset")
    draw = privacy(draws=False)
    chosen = model(name)
    bins = choice("Bins along each input", "bins", BINS, 10, help="For both binning mechanisms; public.")
    inducing = choice("Inducing inputs", "inducing", INDUCING, 6, help="For cloaking with inducing inputs; public.")
    return Contest(chosen, draw.delta, int(bins), int(inducing)), draw.epsilon


def target(nonprivate: float, scale: Scale) -> float:
    """The inverse question: the largest error that would do, in the output's unit."""
    st.sidebar.subheader("Target")
    shown = st.sidebar.number_input(
        f"I need an error of at most [{scale.unit}]",
        min_value=0.001,
        max_value=10_000.0,
        value=float(f"{1.25 * scale.show(nonprivate):.2g}"),
        key="target_percent" if scale.logarithmic else f"target_{scale.unit or 'units'}",
        bind="query-params",
        help="The table and the sentence then say which ε that needs.",
    )
    return scale.back(float(shown))
