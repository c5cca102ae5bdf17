"""The part of How cloaking works about what Bayes cloaking measures."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.data import Dataset
from pages._ui.cloaking import computed as cloaking
from pages._ui.hiding import steps
from pages._ui.look import bound, frame, pictures
from pages._ui.measured import figures, strategy, words
from pages._ui.measured.strategy import Measured
from pages._ui.model import PICTURE_GAP, Budget, Draw
from pages._ui.work import cached

STAGES = (1, 2, 3, 4, 5)


def show(dataset: str, draw: Draw, top: DeltaGenerator) -> None:
    """Rows of B of a stage; on demand how many there are against epsilon, and what the expected error is made of."""
    data, asked = cached.dataset(dataset), Budget(dataset, "records", draw.epsilon, draw.delta)
    found = at(asked)
    with top:
        frame.heading(steps.TITLE, words.answer(found, data))
    with bound.into(st.container()):
        stage = bound.choice("Stage", "stage", STAGES, STAGES[-1], help="Each stage looks closer than those before.")
    rows = cached.drawn(figures.rows, found, data, stage, of=(asked, stage))
    pictures.chart(rows, "rows_of_B", words.row_of(found, data, stage))
    frame.metrics(words.metrics(found, data.y_unit), "measured")
    if bound.switch("How many sums, and what privacy costs", "more_measured"):
        _against_epsilon(data, found, asked)
    with st.expander("Table of the weights"):
        frame.table(words.row_table(found, data, stage), f"{dataset}_B_stage_{stage}", words.PUBLIC)
    st.caption(f"Planned to within {100 * PICTURE_GAP:g} % of what is avoidable, from public values alone.")


def _against_epsilon(data: Dataset, found: Measured, asked: Budget) -> None:
    every = over_epsilon(asked)
    left, right = st.columns(2)
    with left:
        st.subheader("More epsilon, more numbers")
        st.markdown(words.growth(every))
        pictures.chart(cached.drawn(figures.ranks, every, asked.epsilon, of=asked), "ranks", words.RANKS_ALT)
    with right:
        st.subheader("What no budget buys, and what privacy costs")
        st.markdown(words.parts(found, data.y_unit))
        split = cached.drawn(figures.split, every, asked.epsilon, data.y_unit, of=asked)
        pictures.chart(split, "split", words.split_alt(found, data.y_unit))


def at(budget: Budget) -> Measured:
    """The plan of one budget."""
    given = cached.dataset(budget.dataset), cloaking.plan_of(budget)
    return cached.value("What the plan expects", strategy.describe, budget, given=given)


def over_epsilon(budget: Budget) -> tuple[Measured, ...]:
    """The plans over ``EPSILONS`` and the budget asked for, by epsilon."""
    epsilons = sorted({*map(float, strategy.EPSILONS), budget.epsilon})
    return tuple(at(replace(budget, epsilon=epsilon)) for epsilon in epsilons)
