"""The part of How cloaking works about what Bayes cloaking measures."""

from __future__ import annotations

import streamlit as st

from pages._ui.look import bound, frame, pictures
from pages._ui.measured import computed, figures, words
from pages._ui.model import PICTURE_GAP, Budget, Draw
from pages._ui.work import cached

STAGES = (1, 2, 3, 4, 5)


def show(dataset: str, draw: Draw) -> None:
    """Rows of B of a stage, how many there are against epsilon, and what the expected error is made of."""
    data, asked = cached.dataset(dataset), Budget(dataset, "records", draw.epsilon, draw.delta)
    found, unit = computed.at(asked), data.y_unit
    st.header("What is measured")
    st.markdown(words.answer(found, data))
    with bound.into(st.container()):
        stage = bound.choice("Stage", "stage", STAGES, STAGES[-1], help="Each stage looks closer than those before.")
    st.markdown(words.row_of(found, data, stage))
    rows = cached.drawn(figures.rows, found, data, stage, of=(asked, stage))
    pictures.chart(rows, "rows_of_B", words.rows_alt(found, data, stage))
    every = computed.over_epsilon(asked)
    left, right = st.columns(2)
    with left:
        st.subheader("More ε, more numbers")
        st.markdown(words.growth(every))
        pictures.chart(cached.drawn(figures.ranks, every, asked.epsilon, of=asked), "ranks", words.RANKS_ALT)
    with right:
        st.subheader("What no budget buys, and what privacy costs")
        st.markdown(words.parts(found, unit))
        split = cached.drawn(figures.split, every, asked.epsilon, unit, of=asked)
        pictures.chart(split, "split", words.split_alt(found, unit))
    frame.metrics(words.metrics(found, unit), "measured")
    with st.expander("Table of the weights"):
        frame.table(words.row_table(found, data, stage), f"{dataset}_B_stage_{stage}", words.PUBLIC)
    st.caption(
        f"Planned to within {100 * PICTURE_GAP:g} % of what is avoidable. Its models are made from bounds and box, so "
        "the sidebar's model, mechanism and noise objective do not move this part."
    )
