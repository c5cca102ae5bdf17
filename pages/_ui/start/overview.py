"""What surrounds the decision on the start page: budgets of others, and the ways to continue."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pages._ui.look import in_python, plots, text
from pages._ui.look.about import About
from pages._ui.look.plots import (
    GUARANTEE,
    OTHER,
    finish,
    rows_named_inside,
    ticked,
    upright_line,
)
from pages._ui.start.decision import TICKS

NOTE = (
    "Each promise is about something else: a day, a month, a whole census, with another delta. So these numbers cannot "
    "be compared one to one. They show what others have used."
)


class Deployment(NamedTuple):
    """One published budget; ``delta`` is None if the guarantee is pure or no delta was published."""

    name: str
    epsilon: float
    delta: float | None
    per: str
    source: str


DEPLOYMENTS = (
    Deployment(
        "Wikimedia page views",
        1.0,
        None,
        "ten page views of one device in a day",
        "Adeleye et al. 2023, arXiv:2308.16298",
    ),
    Deployment(
        "Apple, health types", 2.0, None, "one device, one day; local", "Apple, Differential Privacy Overview, 2017"
    ),
    Deployment("Google mobility reports", 2.64, None, "one user, one day", "Aktay et al. 2020, arXiv:2004.04145"),
    Deployment(
        "Apple, all features together",
        16.0,
        None,
        "one device, one day; local",
        "Tang et al. 2017, arXiv:1709.02753",
    ),
    Deployment(
        "US Census 2020, persons",
        17.14,
        1e-10,
        "one person, once in ten years",
        "US Census Bureau, 9 June 2021; redistricting data",
    ),
    Deployment(
        "LinkedIn audience statistics",
        34.9,
        7e-9,
        "one member, one month",
        "Rogers et al. 2020, arXiv:2002.05839",
    ),
)


_SPAN = min(each.epsilon for each in DEPLOYMENTS), max(each.epsilon for each in DEPLOYMENTS)
ABOUT = About(
    f"Others have published data at budgets from ε = {_SPAN[0]:g} to {_SPAN[1]:g}",
    "",
    NOTE,
    basis="Budgets as their publishers state them; the table on the page names each source.",
)


def strip(epsilon: float) -> go.Figure:
    """Draw the scale: published budgets as points, the reader's epsilon as a line."""
    published = pd.DataFrame(DEPLOYMENTS)
    figure = go.Figure()
    figure.add_scatter(
        x=published["epsilon"],
        y=published["name"],
        mode="markers+text",
        text=[f"{budget:g}" for budget in published["epsilon"]],
        textposition="middle right",
        marker={"color": OTHER, "size": 11},
        hovertext=published["per"] + ". " + published["source"],
        hoverinfo="text",
        name="published",
    )
    upright_line(figure, epsilon, {"color": GUARANTEE, "width": 2})
    figure.add_annotation(
        x=math.log10(epsilon),
        y=1,
        yref="paper",
        yanchor="bottom",
        text=f"yours: {epsilon:g}",
        showarrow=False,
        font={"color": GUARANTEE},
    )
    figure.update_xaxes(title="epsilon (more private to the left)", range=[-1.1, 2.1], **ticked(TICKS))
    figure.update_yaxes(autorange="reversed")
    return rows_named_inside(finish(figure, 420)).update_layout(showlegend=False)


def table() -> pd.DataFrame:
    """Return the published budgets with units and sources."""
    return pd.DataFrame(
        {
            "release": deployment.name,
            "ε": deployment.epsilon,
            "δ": "" if deployment.delta is None else f"{text.small(deployment.delta)}",
            "per": deployment.per,
            "source": deployment.source,
        }
        for deployment in DEPLOYMENTS
    )


REST = "Glossary, guarantee, other organisations' ε, printable brief"
TABS = (
    "Glossary",
    "What is protected",
    "All that is promised",
    "Other organisations' ε",
    "Table",
    "Printable brief",
    in_python.TITLE,
    "Try this",
)
_DOORS = (
    ("Decide", "Which method, and which ε, for the accuracy that you need.", "compare", "Compare methods", "balance"),
    ("Publish", "A curve, a map or rates from your own table.", "your_data", "Open your data", "upload_file"),
)


def colours() -> None:
    """Draw the meaning of the colours, which is the same on every page."""
    marks = "".join(
        f'<span><span aria-hidden="true" class="swatch" style="background:{colour}"></span>{meaning}</span> '
        for colour, meaning in plots.MEANINGS
    )
    st.html(f'<p class="colours">Colours: {marks}</p>')


def doors(invitation: Callable[[], None]) -> None:
    """Draw the three ways to continue: to teach with the tour, to decide, to publish."""
    with st.container(key="doors"):
        teach, *others = st.columns(1 + len(_DOORS), border=True)
        with teach:
            st.header("Teach")
            st.markdown("What a budget means and costs, on maps and curves, for a class.")
            invitation()
        for column, (title, promise, page, label, icon) in zip(others, _DOORS, strict=True):
            with column:
                st.header(title)
                st.markdown(promise)
                st.page_link(f"../{page}.py", label=label, icon=f":material/{icon}:")
