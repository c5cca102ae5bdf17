"""Words and tables of an explored release, and the sections of its page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.refit import Difference
from dpgp_core.figures.ticks import dates_of
from dpgp_core.measurement.statistics import Statistics
from dpgp_core.release import CENTILES
from dpgp_core.table import Column
from pages._ui.explore import controls, figures, statistic
from pages._ui.explore.controls import Chosen
from pages._ui.explore.figures import candidates, difference, lengthscales, picture
from pages._ui.explore.posterior import NOISES, SHARES
from pages._ui.explore.statistic import POINTS, ExampleDraw, Refit
from pages._ui.look import about as described
from pages._ui.look import layout, pictures, tables
from pages._ui.look.about import About
from pages._ui.look.pictures import as_it_is
from pages._ui.look.plots import axis
from pages._ui.look.text import Metric, at_most, number, percent, plain, small
from pages._ui.model import Model
from pages._ui.work import cached

TITLE = "What else can you ask of a release?"
POST_PROCESSING = (
    "Nothing that is computed from released numbers costs more privacy (post-processing). No person is looked at again."
)
_CENTILES = (
    "3 in 100 people lie below the lowest line, half below the middle one, 97 in 100 below the highest. How far people "
    "are apart was measured with noise too."
)
_DIFFERENCE = (
    "Positive where the first group is higher. The range holds the difference of the curves with {level:g} % "
    "probability, privacy noise included. Uncertainty that both groups share cancels."
)
_NO_CENTILES = "This release does not say how much people differ, so the curve is shown."
FILE_NOTE = (
    "As the file states. This page cannot check that the noise was drawn as promised, and that nothing else "
    "about the same people was released."
)


def answer(chosen: Chosen) -> str:
    """Return the headline sentences."""
    count, epsilon = chosen.explored.numbers, chosen.explored.guarantee.budget.epsilon
    return (
        f"**{count} noisy numbers** were published with epsilon = {at_most(epsilon)}. "
        "Everything here is computed from them and costs **no more privacy**."
    )


def metrics(chosen: Chosen) -> list[Metric]:
    """Return the budget spent, the most probable lengthscale and the width of the range."""
    guarantee, probabilities = chosen.explored.guarantee, chosen.read.lengthscale_probabilities
    low, high = chosen.read.interval(chosen.view.level, chosen.view.of)
    half_width = f"{number(float(np.median(high - low)) / 2)} {plain(chosen.statistics.y_unit)}".strip()
    many = f"{chosen.settings} setting{'s' if chosen.settings > 1 else ''} looked at"
    return [
        Metric(
            "Spent by the release", f"ε = {at_most(guarantee.budget.epsilon)}", f"δ = {small(guarantee.budget.delta)}"
        ),
        Metric("Spent by asking", "ε = 0", many, POST_PROCESSING),
        Metric(
            "Likeliest lengthscale",
            figures.length_at(chosen.statistics, int(probabilities.argmax())),
            percent(float(probabilities.max())),
        ),
        Metric(
            "Median width of the range",
            f"± {half_width}",
            f"{figures.RANGE_OF[chosen.view.of]}, {100 * chosen.view.level:g} %",
            "The median over all points drawn. It is narrower for most people, who are where it is narrow.",
        ),
    ]


def caption(chosen: Chosen) -> str:
    """Return a sentence that says what to see in the picture, and whether the released numbers contradict the
    models.
    """
    view = chosen.view
    if view.pair is not None:
        return "Positive where the first group is higher."
    if view.threshold is not None:
        seen = f"Probability that the curve is above {_with_unit(view.threshold, chosen)}."
    elif view.centiles:
        seen = _CENTILES.partition(". ")[0] + "." if chosen.read.knows_people else _NO_CENTILES
    elif len(chosen.statistics.numbers) > 1:
        seen = "Colours fade where little is known."
    else:
        subject = {"function": "The curve", "outputs": "One more person"}[view.of]
        seen = f"{subject} lies in the band with {100 * view.level:g} % probability, if one of the models is right."
    return f"{seen}{misfit(chosen)}".strip()


def description(chosen: Chosen) -> str:
    """Return what the picture shows, for screen readers; ``pictured`` adds its values."""
    view = chosen.view
    if view.pair is not None:
        return _DIFFERENCE.format(level=100 * view.level)
    has_lines = len(chosen.statistics.numbers) == 1 and view.centiles and chosen.read.knows_people
    return f"{_CENTILES}{misfit(chosen)}" if has_lines else caption(chosen)


def _with_unit(level: float, chosen: Chosen) -> str:
    return f"{number(level, 4)} {plain(chosen.statistics.y_unit)}".strip()


def misfit(chosen: Chosen) -> str:
    """Return how the released numbers contradict the models that read them; "" if they fit."""
    return "".join(f" {fit}" for fit in chosen.read.mixture.fit if not fit.fits)


def table(chosen: Chosen) -> pd.DataFrame:
    """Return a row for each point of the grid."""
    statistics, read, view = chosen.statistics, chosen.read, chosen.view
    columns = dict[str, Any](_input(statistics.columns[d], read.X_test[:, d]) for d in figures.numbers_of(statistics))
    unit = plain(statistics.y_unit)
    columns[axis("curve", unit)] = read.curve
    columns[axis("range from", unit)], columns[axis("range to", unit)] = read.interval(view.level, view.of)
    if view.centiles and read.knows_people:
        columns |= {axis(f"centile {centile}", unit): read.centile(centile) for centile in CENTILES}
    if view.threshold is not None:
        columns["probability above [%]"] = read.percent_above(view.threshold)
    rounded = pd.DataFrame(columns).round(4)
    if len(read.groups) > 1:
        rounded.insert(0, "group", np.repeat(read.groups, len(rounded) // len(read.groups)))
    return rounded


def _input(column: Column, values: FloatArray) -> tuple[str, FloatArray | list[str]]:
    """Return a column of the table: numbers with their unit, or dates."""
    dates = dates_of(column.unit)
    try:
        if dates is not None:
            return column.name, [dates.text(float(value)) for value in values]
    except (OverflowError, ValueError):  # a file may contain anything; these days are in no calendar
        pass
    return axis(column.name, column.unit), values


def explain(chosen: Chosen) -> list[tuple[str, str]]:
    """Return the computation with the current numbers."""
    stages = chosen.statistics.stages
    return [
        (
            "Released",
            f"z = B q + noise in {len(stages)} stages, {chosen.explored.numbers} numbers in all; q are "
            f"{_measured(chosen)}, clipped to public intervals",
        ),
        (
            "Models",
            _models(chosen),
        ),
        ("Probability of a lengthscale", "proportional to the evidence p(z | model), summed over the noises"),
        (
            "Curve and range",
            "the posteriors of the release's own models, mixed by their probabilities; the range has quantiles of the "
            "mixture at its ends. They are those of the published file",
        )
        if chosen.explored.models
        else ("Curve and range", "the posteriors of these models, mixed by their probabilities"),
        ("Above a level", "P(f > level) under the mixture, separately at each point"),
        ("Budget", "0: a function of what was released. Choosing a lengthscale by looking at this page is free too"),
    ]


def _models(chosen: Chosen) -> str:
    own = len(chosen.explored.models)
    candidates = (
        f"{len(SHARES)} lengthscales × {len(NOISES)} noises with the kernel {chosen.refit.kernel}, for "
        "the lengthscales below and for one that you choose"
    )
    reads = "Each reads z as noisy sums of clipped outputs. Noise and clipping are part of its likelihood"
    return (
        f"the {own} models that read the release when it was made; and {candidates}. {reads}"
        if own
        else (f"{candidates}. {reads}")
    )


def _measured(chosen: Chosen) -> str:
    if isinstance(chosen.statistics, Statistics):
        return "the outputs"
    if chosen.explored.guarantee.protects == "outputs":
        return "sums over neighbouring records of the outputs minus a public curve"
    first = "counts of their records"
    if getattr(chosen.statistics, "locations", None) is not None:
        first += ", and noisy sums of where in their cells these are"
    return f"sums over public cells of the outputs minus a public curve, after noisy {first}"


def pictured(chosen: Chosen) -> pd.DataFrame:
    """Draw the picture of the view; return its numbers, for two groups those of their difference."""
    try:
        drawn = _drawn(chosen)
    except ValueError as error:
        controls.refuse(error)
    numbers = table(chosen) if chosen.view.pair is None else tables.of_figure(drawn)
    _chart(chosen, drawn, "explored", f"{description(chosen)} {tables.in_words(drawn)}", numbers, caption(chosen))
    return numbers


def lengthscales_pictured(chosen: Chosen) -> None:
    """Draw how probable each lengthscale is, as bars and as a table."""
    drawn = lengthscales(chosen.statistics, chosen.read, chosen.refit.lengthscale)
    numbers, shares = tables.of_figure(drawn), chosen.read.lengthscale_probabilities
    at, seen = (
        int(shares.argmax()),
        "How probable each lengthscale is after the release; before, all were equally probable.",
    )
    likely = f"{figures.length_at(chosen.statistics, at)} has {percent(float(shares[at]))}"
    yours = "" if chosen.refit.lengthscale is None else " Pink: the one that you chose."
    _chart(chosen, drawn, "explored_lengthscales", f"{seen} {likely}.", numbers, f"{seen}{yours}")
    layout.table(numbers, "explored_likely")


_LEVEL = 0.95  # confidence level of the interval in the title of a picture
TABLE_NOTE = "Computed from released numbers: all of it may be published."


def _chart(chosen: Chosen, drawn: go.Figure, key: str, alt: str, numbers: pd.DataFrame, caption: str) -> None:
    pictures.chart(drawn, key, alt, as_it_is(drawn, _about(chosen, alt)), numbers, caption=caption)


def _drawn(chosen: Chosen) -> go.Figure:
    statistics, view, names = chosen.statistics, chosen.view, chosen.read.groups
    if view.pair is None:
        return picture(statistics, chosen.read, view)
    first, second = (names[at] for at in view.pair)
    return difference(statistics, _difference(chosen), view.level, f"{first} less {second}")


def _difference(chosen: Chosen) -> Difference:
    assert chosen.view.pair is not None
    return statistic.group_difference(chosen.explored, chosen.example, chosen.view.pair)


def _about(chosen: Chosen, shows: str) -> About:
    guarantee, statistics = chosen.explored.guarantee, chosen.statistics
    low, high = chosen.read.interval(_LEVEL, "function")
    half = f"{number(float(np.median(high - low)) / 2)} {statistics.y_unit}".strip()
    finding = f"At ε = {at_most(guarantee.budget.epsilon)} the curve of {statistics.y_name} is known to within {half}"
    if chosen.example is not None:
        data = cached.dataset(chosen.example.dataset)
        made = f"Bayes cloaking, simulated release {chosen.example.draw}"
        return described.of_release(data, guarantee, made, shows, finding=finding)
    inputs = " and ".join(statistics.x_names)
    released = f"Published: {statistics.y_name} by {inputs}; Bayes cloaking."
    return About(finding, released, shows, guarantee, taught=False)


def three_lengthscales(model: Model, epsilon: float, delta: float) -> None:
    """Draw a section: how probable each lengthscale is after one release, as on the page that explores it."""
    st.header("Or do not choose: release first")
    shipped = exhibit(model.dataset)
    if shipped.scene == "curve":
        _one_draw(ExampleDraw(shipped.name, epsilon, delta), model.kernel)
    st.markdown(
        "Bayes cloaking needs no lengthscale. It averages many of them, and its released numbers show afterwards which "
        "are probable, at no cost."
    )
    st.page_link("../explore_release.py", icon=":material/arrow_forward:")  # named by the title of the page


def _one_draw(example: ExampleDraw, kernel: str) -> None:
    explored, read = statistic.read_again(example, Refit(kernel, POINTS))
    (lengths, unit), probabilities = candidates(explored.statistics), read.lengthscale_probabilities
    best = int(probabilities.argmax())
    picture = lengthscales(explored.statistics, read)
    likeliest, probability = f"{lengths[best]} {unit}".strip(), percent(float(probabilities[best]))
    alt = (
        f"How probable each lengthscale is after one release at ε = {example.epsilon:g} (simulated release "
        f"{example.draw}). {likeliest} has {probability}. Knowing it costs nothing more; the choice above costs its "
        "own epsilon."
    )
    made = f"Bayes cloaking, simulated release {example.draw}"
    data, guarantee = cached.dataset(example.dataset), example.mechanism.guarantee
    finding = f"At ε = {example.epsilon:g} the likeliest lengthscale is {likeliest}"
    about = described.of_release(data, guarantee, made, alt, finding=finding)
    caption = f"{likeliest} is likeliest after one release ({probability}). Knowing it costs nothing more."
    pictures.chart(picture, "choice_free", alt, as_it_is(picture, about), caption=caption)
