"""Plans to sentences and tables. Public quantities only."""

from __future__ import annotations

import pandas as pd

from dpgp_core.data import Dataset
from pages._ui.look import text
from pages._ui.look.metric import Metric
from pages._ui.look.plots import axis
from pages._ui.measured.strategy import Measured

PUBLIC = "Planned from inputs, bounds and box: nothing here depends on any output."


def answer(found: Measured, data: Dataset) -> str:
    """What a row is, and how many there are."""
    stages = len(found.ranks)
    return (
        f"**Bayes cloaking** adds no noise to a finished curve. It asks which few sums of {data.y_name}s, noisy as the "
        f"budget makes them, say most about the curve, measures those, and computes the curve from the noisy sums. At "
        f"ε = {found.settings.epsilon:g} it measures **{sum(found.ranks)} numbers in {stages} stages** "
        f"({', '.join(map(str, found.ranks))}), for {data.n} records."
    )


def row_of(found: Measured, data: Dataset, stage: int) -> str:
    """What one curve of the picture says."""
    count = found.ranks[stage - 1]
    later = (
        f"Stage {stage} clips each {data.y_name} to a narrow range about the curve so far, so the same noise says more."
        if stage > 1
        else f"Stage 1 knows nothing yet: each {data.y_name} may lie anywhere within the bounds."
    )
    return (
        f"**Each curve is a row of B, and a row is one number that is measured:** every {data.y_name}, placed "
        f"between −½ and ½ in its range, times its weight on the curve, summed up, plus noise. Here stage {stage} "
        f"measures {count}, by falling weight; each sums up some {data.x_names[0]}s or sets them against others, ever "
        f"finer, until noise would drown what is left. {later} The squares of one record's weights add up to at most "
        f"1: that bounds what one person can move."
    )


def growth(found: tuple[Measured, ...]) -> str:
    """How the number of measurements grows."""
    low, high = found[0], found[-1]
    return (
        f"At ε = {low.settings.epsilon:g} the last stage measures {low.ranks[-1]}, at ε = {high.settings.epsilon:g} "
        f"{high.ranks[-1]}: a number is worth measuring only where it says more than its noise hides."
    )


def parts(found: Measured, unit: str) -> str:
    """What the expected error is made of."""
    error, floor, price = (text.number(value) for value in (found.error, found.unbuyable, found.price))
    return (
        f"At ε = {found.settings.epsilon:g} the curve is expected to be off by **{error} {unit}**. Of that, "
        f"**{floor} {unit}** no budget buys: that is the best anyone can do who sees all records. "
        f"**Privacy costs {price} {unit}** (squares add up: {floor}² + {price}² = {error}²)."
    )


def metrics(found: Measured, unit: str) -> list[Metric]:
    """The split in three figures."""
    of = "of the curve at the records, root mean square, averaged over the worlds of the prior; no record was read"
    return [
        Metric("Expected error", f"{text.number(found.error)} {unit}", "under the prior", of),
        Metric("No budget buys", f"{text.number(found.unbuyable)} {unit}", "all records known", of),
        Metric("Privacy costs", f"{text.number(found.price)} {unit}", "root of the difference of squares", of),
        Metric("Nothing measured", f"{text.number(found.unmeasured)} {unit}", "the prior alone", of),
    ]


def row_table(found: Measured, data: Dataset, stage: int) -> pd.DataFrame:
    """One row a record: its public inputs and its weight in each number of a stage."""
    columns = {
        axis(name, unit): data.X[:, i] for i, (name, unit) in enumerate(zip(data.x_names, data.x_units, strict=True))
    }
    for index, row in enumerate(found.strategies[stage - 1], 1):
        columns[f"weight in number {index}"] = row.round(4)
    return pd.DataFrame(columns).sort_values(axis(data.x_names[0], data.x_units[0]))


def rows_alt(found: Measured, data: Dataset, stage: int) -> str:
    """Text alternative of the rows."""
    return (
        f"Weights of all records in each of the {found.ranks[stage - 1]} numbers that stage {stage} measures, against "
        f"{data.x_names[0]}. {PUBLIC}"
    )


RANKS_ALT = "How many numbers each stage measures, against ε; darker bars are later stages."


def split_alt(found: Measured, unit: str) -> str:
    """Text alternative of the split."""
    return (
        f"Expected error of the curve against ε (orange), what no budget buys of it (blue, "
        f"{text.number(found.unbuyable)} {unit}), and the error when nothing is measured (dotted). {PUBLIC}"
    )
