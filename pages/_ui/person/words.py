"""One moved record in sentences, figures and a table. Not private."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.data import Dataset
from pages._ui.look import text
from pages._ui.look.metric import Metric
from pages._ui.look.plots import axis
from pages._ui.person.moved import Moved

_BLAMED = 0.05


def answer(found: Moved, data: Dataset) -> str:
    """Who is moved where, what that does to the fit, and what hides it."""
    choice, unit, peak = found.settings[-1], data.y_unit, found.largest
    where = f"{text.number(found.x[peak], 3)} {data.x_units[0]}".strip()
    caught = 1 - float(gaussian_tradeoff(np.array([_BLAMED]), found.shift)[0]) if found.shift > 0 else _BLAMED
    return (
        f"Record {choice.rank}, {data.x_names[0]} {text.number(found.at, 3)} {data.x_units[0]}, stands at "
        f"{text.number(found.output, 3)} {unit}. At {text.number(choice.value, 3)} {unit} instead, the fit moves by up "
        f"to **{_size(found, peak)} {unit}** (at {where}), where the noise has a standard deviation of "
        f"**{text.number(found.noise[peak])} {unit}**. Whoever knows all other records, looks at the whole curve and "
        f"accuses {100 * _BLAMED:g} % of the innocent finds {text.at_most(100 * caught)} % of those who moved so."
    )


def _size(found: Moved, index: int) -> str:
    return text.number(abs(found.after[index] - found.before[index]))


def metrics(found: Moved, data: Dataset) -> list[Metric]:
    """The move in the output's unit and in units of the noise."""
    unit, peak = data.y_unit, found.largest
    metric = (
        "Length of the fit's move at all test points in the metric of the noise (Mahalanobis): how many standard "
        "deviations it is along the direction in which it shows best."
    )
    return [
        Metric("Largest move of the fit", f"{_size(found, peak)} {unit}", "not private"),
        Metric("Noise there", f"{text.number(found.noise[peak])} {unit}", "one standard deviation"),
        Metric("Shift, in noise", f"{text.at_most(found.shift)}", "standard deviations", metric),
        Metric("Calibrated to hide", f"{text.at_most(found.calibrated)}", "1 / s′, at any record", metric),
    ]


def table(found: Moved, data: Dataset) -> pd.DataFrame:
    """One row a grid point."""
    unit = data.y_unit
    return pd.DataFrame(
        {
            axis(data.x_names[0], data.x_units[0]): found.x,
            f"fit [{unit}] (not private)": found.before,
            f"after the move [{unit}] (not private)": found.after,
            f"without the record [{unit}] (not private)": found.without,
            f"noise, standard deviation [{unit}]": found.noise,
        }
    ).round(4)


CURVES_ALT = (
    "The fit with everybody's true output (blue), after one record is moved (dashed purple) and without it (dotted), "
    "and where 95 % of releases lie, point by point (orange). Click a record to move it. Not private."
)
NOISE_ALT = "How far the fit moves (dashed purple) and the standard deviation of the noise (orange). Not private."
