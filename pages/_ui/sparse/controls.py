"""Controls of the sparse page."""

from __future__ import annotations

import streamlit as st

from dpgp_core.checks import check_positive
from pages._ui.look.sidebar import as_number, choice, dataset, overlay, pick, privacy
from pages._ui.settings import (
    LENGTHSCALES,
    NOISES,
    SPARSE_DEFAULTS,
    SPARSE_INDUCING,
)
from pages._ui.sparse.fitting import Setting


def sparse_setting() -> tuple[Setting, str, bool]:
    """The sidebar of the sparse DP-GP page: settings, which view, and whether the overlay is on."""
    name = dataset("sparse_data")
    show = overlay()
    with st.sidebar:
        view = pick("Show", "sparse_view")
    draw = privacy(draws=False)
    seed = st.sidebar.number_input("Draw number", 1, 99999, 1, key="draw", bind="query-params")
    st.sidebar.subheader("Model")
    unit, grid, length = LENGTHSCALES[name]
    inducing, noise = SPARSE_DEFAULTS[name]
    lengthscale = choice(
        f"Lengthscale [{unit}]",
        f"lengthscale_{unit}",
        grid,
        length,
        lambda raw: check_positive("lengthscale", as_number(raw)),
    )
    noise = choice(
        "Noise variance (share of signal variance)",
        "noise",
        NOISES,
        noise,
        lambda raw: check_positive("noise", as_number(raw)),
    )
    count = choice(
        "Inducing inputs along each input", "sparse_inducing", SPARSE_INDUCING[name], inducing, help="Public."
    )
    setting = Setting(name, float(lengthscale), float(noise), int(count), draw.epsilon, draw.delta, int(seed))
    return setting, view, show
