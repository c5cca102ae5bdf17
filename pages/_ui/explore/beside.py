"""What a release says of the lengthscale at no budget, beside a choice that costs some."""

from __future__ import annotations

import streamlit as st

from datasets import exhibit
from pages._ui.explore import computed, figures
from pages._ui.explore.computed import POINTS, Refit
from pages._ui.explore.statistic import Teaching
from pages._ui.look import pictures, sheet
from pages._ui.look.picture import as_it_is
from pages._ui.look.text import percent
from pages._ui.model import Model
from pages._ui.work import cached


def lengthscales(model: Model, epsilon: float, delta: float) -> None:
    """A section: how probable each lengthscale is after one release, as the page that explores it says."""
    st.header("Or do not choose: release first")
    shipped = exhibit(model.dataset)
    if shipped.scene == "curve":
        _one_draw(Teaching(shipped.name, epsilon, delta), model.kernel)
    st.markdown(
        "Bayes cloaking needs no lengthscale. It averages many of them, and its released numbers say afterwards which "
        "are probable, without spending anything."
    )
    st.page_link("../explore_release.py", icon=":material/arrow_forward:")  # by the page's title


def _one_draw(taught: Teaching, kernel: str) -> None:
    explored, read = computed.teaching(taught), computed.refitted(taught, Refit(kernel, POINTS))
    labels, probabilities = figures.share_labels(explored.statistics), read.lengthscale_probabilities
    best = int(probabilities.argmax())
    picture = figures.lengthscales(labels, read)
    said = (
        f"How probable each lengthscale is after one release at epsilon = {taught.epsilon:g} (example draw "
        f"{taught.draw}). {labels[best]} has {percent(float(probabilities[best]))}. Knowing it costs "
        "nothing more; the choice above costs its own epsilon."
    )
    made = f"Bayes cloaking, example draw {taught.draw}"
    about = sheet.of_release(cached.dataset(taught.dataset), taught.mechanism.guarantee, made, said)
    pictures.chart(picture, "choice_free", said, as_it_is(picture, about))
