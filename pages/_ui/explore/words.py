"""The explored release in words and tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.release import CENTILES
from pages._ui.explore import controls, figures
from pages._ui.explore.controls import Chosen
from pages._ui.explore.posterior import NOISES, SHARES
from pages._ui.look.metric import Metric
from pages._ui.look.plots import axis
from pages._ui.look.text import at_most, number, percent, plain, small

STANDS_STILL = (
    "It stands still: everything here is computed from the released numbers and public values alone, and whatever is "
    "done to what was released is covered by its guarantee already (post-processing). No record is looked at again."
)
BAND_NOTE = (
    "The band is always that of the average over all lengthscales and noises: of one lengthscale alone it would be too "
    "narrow wherever that lengthscale is wrong."
)
_CENTILES = (
    "The lines are centiles: 3 in 100 people lie below the lowest, half below the middle one, 97 in 100 below the "
    "highest. How far people are apart was measured with noise too. Over two inputs the highest line is shown."
)
_NO_CENTILES = (
    "This release holds no centiles: either its outcomes are yes and no, or it was made before the spread of people "
    "was measured. Shown is the curve."
)
FILE_NOTE = (
    "As the file says. What this page cannot check is that the noise was drawn as promised, and that nothing else "
    "about the same records was released."
)


def answer(chosen: Chosen) -> str:
    """The heading's sentence."""
    found, (best, probability) = chosen.found, _likeliest(chosen)
    return (
        f"**{found.numbers} noisy numbers** were released once, at ε = {at_most(found.guarantee.budget.epsilon)}. "
        f"Every curve, interval, lengthscale and threshold below is read off them **at no further budget**. They make "
        f"a lengthscale of **{controls.length_at(found, best)}** most likely ({percent(probability)})."
    )


def metrics(chosen: Chosen) -> list[Metric]:
    """The budget meter, the likeliest lengthscale and the interval."""
    guarantee, (best, probability) = chosen.found.guarantee, _likeliest(chosen)
    many = f"{chosen.settings} setting{'s' if chosen.settings > 1 else ''} looked at"
    return [
        Metric(
            "Spent by the release", f"ε = {at_most(guarantee.budget.epsilon)}", f"δ = {small(guarantee.budget.delta)}"
        ),
        Metric("Spent by exploring it", "ε = 0", many, STANDS_STILL),
        Metric("Likeliest lengthscale", controls.length_at(chosen.found, best), percent(probability)),
        Metric("Known to", f"± {_half_width(chosen)}", f"with {100 * chosen.view.level:g} %, typically"),
    ]


def caption(chosen: Chosen) -> str:
    """What the picture shows."""
    view = chosen.view
    if view.threshold is not None:
        return (
            f"Probability that the curve is above {threshold(chosen)}, given the released numbers, if a model is right."
        )
    if view.centiles:
        return _CENTILES if chosen.read.knows_people else _NO_CENTILES
    what = "the curve" if view.of == "function" else "one more record's output"
    if len(chosen.found.statistics.x_box) > 1:
        return "Predicted from the released numbers; the table has intervals."
    return f"The band holds {what} with {100 * view.level:g} % probability if a model is right. {BAND_NOTE}"


LENGTHSCALE_CAPTION = (
    "What the released numbers alone say of the lengthscale, at no budget: probability of each, from equal ones before."
)


def threshold(chosen: Chosen) -> str:
    """The threshold in the output's unit."""
    low, high = chosen.read.bounds
    value = low + (chosen.view.threshold or 0.0) * (high - low)
    return f"{number(value, 4)} {plain(chosen.found.statistics.y_unit)}".strip()


def table(chosen: Chosen) -> pd.DataFrame:
    """One row a point of the grid."""
    statistics, read, view = chosen.found.statistics, chosen.read, chosen.view
    names = [axis(*each) for each in zip(statistics.x_names, statistics.x_units, strict=True)]
    columns = dict(zip(names, read.X_test.T, strict=True))
    columns["curve"] = read.curve(view.lengthscale, view.noise)
    columns["from"], columns["to"] = read.interval(view.level, view.of)
    if view.centiles and read.knows_people:
        columns |= {f"centile {centile}": read.centile(centile) for centile in CENTILES}
    if view.threshold is not None:
        low, high = read.bounds
        columns["probability above [%]"] = 100 * read.above(low + view.threshold * (high - low))
    return pd.DataFrame({name: np.round(values, 4) for name, values in columns.items()})


def likely(chosen: Chosen) -> pd.DataFrame:
    """One row a lengthscale."""
    labels = figures.share_labels(chosen.found.statistics)
    return pd.DataFrame(
        {"lengthscale": labels, "probability [%]": np.round(100 * chosen.read.lengthscale_probabilities, 2)}
    )


def explain(chosen: Chosen) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    stages = chosen.found.statistics.stages
    return [
        ("Released", f"z = B q + noise in {len(stages)} stages, {chosen.found.numbers} numbers in all; q are "
         f"{_measured(chosen)}, clipped to public intervals"),
        ("Models", f"{len(SHARES)} lengthscales × {len(NOISES)} noises with the kernel {chosen.refit.kernel}; each "
         "reads z as noisy sums of clipped outputs, and noise and clipping are part of its likelihood"),
        ("Probability of a lengthscale", "proportional to the evidence p(z | model), summed over the noises"),
        ("Average", "the models' posteriors mixed by these probabilities; intervals are quantiles of the mixture"),
        ("Threshold", "P(f > T) under the mixture, at each point by itself"),
        ("Budget", "0: a function of what was released. Choosing a lengthscale by looking at this page is free too"),
    ]  # fmt: skip


def _measured(chosen: Chosen) -> str:
    if chosen.found.guarantee.protects == "outputs":
        return "the outputs"
    return "sums over public cells of the outputs less a public curve, after noisy counts of their records"


def _likeliest(chosen: Chosen) -> tuple[int, float]:
    probabilities = chosen.read.lengthscale_probabilities
    return int(probabilities.argmax()), float(probabilities.max())


def _half_width(chosen: Chosen) -> str:
    low, high = chosen.read.interval(chosen.view.level, chosen.view.of)
    return f"{number(float(np.median(high - low)) / 2)} {plain(chosen.found.statistics.y_unit)}".strip()
