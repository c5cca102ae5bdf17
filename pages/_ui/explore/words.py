"""The explored release in words and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.bayes.reading import Difference
from dpgp_core.release import CENTILES
from pages._ui.explore import controls, figures
from pages._ui.explore.controls import Chosen
from pages._ui.explore.posterior import NOISES, SHARES
from pages._ui.look.plots import axis
from pages._ui.look.text import Metric, at_most, number, percent, plain, small

TITLE = "What else can you ask of a release?"
STANDS_STILL = (
    "Nothing that is computed from released numbers costs more privacy (post-processing). No person is looked at again."
)
BAND_NOTE = "It is the range of all models together. The range of one lengthscale alone would be too narrow."
_CENTILES = (
    "3 in 100 people lie below the lowest line, half below the middle one, 97 in 100 below the highest. How far people "
    "are apart was measured with noise too."
)
_APART = (
    "Positive where the first group is higher. The range holds the difference of the curves with {level:g} % "
    "probability, privacy noise included. What both groups have in common, and nobody knows, cancels."
)
_NO_CENTILES = "This release says nothing of how far people are apart. Shown is the curve."
_MAP = "Predicted from the released numbers; the table has ranges."
_HATCHED = (
    "Hatched: not known there. The 95 % range is wider than a quarter of the public range, and than all differences on "
    "the map."
)
FILE_NOTE = (
    "As the file says. What this page cannot check is that the noise was drawn as promised, and that nothing else "
    "about the same people was released."
)


def answer(chosen: Chosen) -> str:
    """The heading's sentences."""
    count, epsilon = chosen.explored.numbers, chosen.explored.guarantee.budget.epsilon
    return (
        f"**{count} noisy numbers** were published with epsilon = {at_most(epsilon)}. "
        "Everything here is computed from them and costs **no more privacy**."
    )


def metrics(chosen: Chosen) -> list[Metric]:
    """What is spent, the likeliest lengthscale and how well the curve is known."""
    guarantee, (best, probability) = chosen.explored.guarantee, _likeliest(chosen)
    many = f"{chosen.settings} setting{'s' if chosen.settings > 1 else ''} looked at"
    return [
        Metric(
            "Spent by the release", f"ε = {at_most(guarantee.budget.epsilon)}", f"δ = {small(guarantee.budget.delta)}"
        ),
        Metric("Spent by asking", "ε = 0", many, STANDS_STILL),
        Metric("Likeliest lengthscale", controls.length_at(chosen.explored, best), percent(probability)),
        Metric(
            "Middle width of the range",
            f"± {_half_width(chosen)}",
            f"{figures.RANGE_OF[chosen.view.of]}, {100 * chosen.view.level:g} %",
            "The middle one of all places drawn. For a typical person it is narrower: most are where it is narrow.",
        ),
    ]


def caption(chosen: Chosen) -> str:
    """What the picture shows."""
    view = chosen.view
    if view.apart is not None:
        return _APART.format(level=100 * view.level)
    if len(figures.numbers_of(chosen.explored.statistics)) > 1:
        return _over_two(chosen)
    if view.threshold is not None:
        return f"Probability that the curve is above {threshold(chosen)}, if one of the models is right."
    if view.centiles:
        return _CENTILES if chosen.read.knows_people else _NO_CENTILES
    subject = {"function": "The curve", "outputs": "One more person"}[view.of]
    return (
        f"{subject} lies in the band with {100 * view.level:g} % probability, if one of the models is right. "
        f"{BAND_NOTE}{misfit(chosen)}"
    )


def misfit(chosen: Chosen) -> str:
    """What the released numbers say against the models that read them; nothing where they fit."""
    return "".join(f" {fit}" for fit in chosen.read.mixture.fit if not fit.fits)


def _over_two(chosen: Chosen) -> str:
    """Of a map, which has no band."""
    if chosen.view.threshold is not None:
        said = f"Probability of being above {threshold(chosen)}, if one of the models is right."
    elif chosen.view.centiles:
        said = "97 in 100 people lie below the value shown." if chosen.read.knows_people else _NO_CENTILES
    else:
        said = _MAP
    hatched = f" {_HATCHED}" if figures.untold(chosen.read, chosen.view).any() else ""
    return f"{said}{hatched}{misfit(chosen)}"


LENGTHSCALE_CAPTION = "How probable each lengthscale is after the release; before, all were equally probable."


def threshold(chosen: Chosen) -> str:
    """The threshold in the output's unit."""
    low, high = chosen.read.bounds
    value = low + (chosen.view.threshold or 0.0) * (high - low)
    return f"{number(value, 4)} {plain(chosen.explored.statistics.y_unit)}".strip()


def table(chosen: Chosen) -> pd.DataFrame:
    """One row a point of the grid."""
    statistics, read, view = chosen.explored.statistics, chosen.read, chosen.view
    names = [axis(*each) for each in zip(statistics.x_names, statistics.x_units, strict=True)]
    categories = set(range(len(names))) - set(figures.numbers_of(statistics))
    columns = {name: read.X_test[:, d] for d, name in enumerate(names) if d not in categories}
    groups = np.repeat(read.groups, len(read.X_test) // len(read.groups))
    columns["curve"] = read.curve(view.lengthscale, view.noise)
    columns["range from"], columns["range to"] = read.interval(view.level, view.of)
    if view.centiles and read.knows_people:
        columns |= {f"centile {centile}": read.centile(centile) for centile in CENTILES}
    if view.threshold is not None:
        low, high = read.bounds
        columns["probability above [%]"] = 100 * read.above(low + view.threshold * (high - low))
    rounded = pd.DataFrame({name: np.round(values, 4) for name, values in columns.items()})
    if len(read.groups) > 1:
        rounded.insert(0, "group", groups)
    return rounded


def apart_table(chosen: Chosen, compared: Difference) -> pd.DataFrame:
    """One row a place: the difference of two groups with its range."""
    statistics = chosen.explored.statistics
    [column] = figures.numbers_of(statistics)
    low, high = compared.interval(chosen.view.level)
    columns = {axis(statistics.x_names[column], statistics.x_units[column]): compared.X[:, column]}
    columns |= {"difference": compared.mean, "range from": low, "range to": high}
    return pd.DataFrame({name: np.round(values, 4) for name, values in columns.items()})


def likely(chosen: Chosen) -> pd.DataFrame:
    """One row a lengthscale."""
    labels = figures.share_labels(chosen.explored.statistics)
    return pd.DataFrame(
        {"lengthscale": labels, "probability [%]": np.round(100 * chosen.read.lengthscale_probabilities, 2)}
    )


def explain(chosen: Chosen) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    stages = chosen.explored.statistics.stages
    return [
        ("Released", f"z = B q + noise in {len(stages)} stages, {chosen.explored.numbers} numbers in all; q are "
         f"{_measured(chosen)}, clipped to public intervals"),
        ("Models", f"{len(SHARES)} lengthscales × {len(NOISES)} noises with the kernel {chosen.refit.kernel}; each "
         "reads z as noisy sums of clipped outputs. Noise and clipping are part of its likelihood"),
        ("Probability of a lengthscale", "proportional to the evidence p(z | model), summed over the noises"),
        ("Average", "the models' posteriors mixed by these probabilities; intervals are quantiles of the mixture"),
        ("Above a level", "P(f > level) under the mixture, at each point by itself"),
        ("Budget", "0: a function of what was released. Choosing a lengthscale by looking at this page is free too"),
    ]  # fmt: skip


def _measured(chosen: Chosen) -> str:
    if chosen.explored.guarantee.protects == "outputs":
        return "the outputs"
    return "sums over public cells of the outputs less a public curve, after noisy counts of their records"


def _likeliest(chosen: Chosen) -> tuple[int, float]:
    probabilities = chosen.read.lengthscale_probabilities
    return int(probabilities.argmax()), float(probabilities.max())


def _half_width(chosen: Chosen) -> str:
    low, high = chosen.read.interval(chosen.view.level, chosen.view.of)
    return f"{number(float(np.median(high - low)) / 2)} {plain(chosen.explored.statistics.y_unit)}".strip()
