"""One moved record in sentences, figures and a table. Not private."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.accounting.tradeoff import gaussian_tradeoff
from dpgp_core.data import Dataset
from pages._ui.look import text
from pages._ui.look.plots import axis
from pages._ui.look.text import Metric
from pages._ui.person.moved import Moved

_BLAMED = 0.05


def answer(found: Moved, data: Dataset) -> str:
    """Who is moved where, what that does to the curve, and what hides it."""
    choice, unit, peak = found.settings[-1], data.y_unit, found.largest
    where = f"{text.number(found.x[peak], 3)} {data.x_units[0]}".strip()
    caught = 1 - float(gaussian_tradeoff(np.array([_BLAMED]), found.shift)[0]) if found.shift > 0 else _BLAMED
    return (
        f"Person {choice.rank}, {data.x_names[0]} {text.number(found.at, 3)} {data.x_units[0]}, has "
        f"{text.number(found.output, 3)} {unit}. With {text.number(choice.value, 3)} {unit} instead, the curve moves "
        f"by up to **{_size(found, peak)} {unit}** (at {where}). The privacy noise there has a standard deviation of "
        f"**{text.number(found.noise[peak])} {unit}**. An attacker who knows everybody else may accuse "
        f"{100 * _BLAMED:g} in 100 innocent people. Then {text.at_most(100 * caught)} in 100 of those who moved so are "
        "found."
    )


def _size(found: Moved, index: int) -> str:
    return text.number(abs(found.after[index] - found.before[index]))


def metrics(found: Moved, data: Dataset) -> list[Metric]:
    """The move in the output's unit and in units of the noise."""
    unit, peak = data.y_unit, found.largest
    metric = (
        "How far the curve moves, in standard deviations of the noise along the direction where it shows best "
        "(Mahalanobis)."
    )
    return [
        Metric("Largest move of the curve", f"{_size(found, peak)} {unit}", "not private"),
        Metric("Privacy noise there", f"{text.number(found.noise[peak])} {unit}", "one standard deviation"),
        Metric("Shift, in privacy noise", f"{text.at_most(found.shift)}", "standard deviations", metric),
        Metric("Calibrated to hide", f"{text.at_most(found.calibrated)}", "1 / s′, for anybody", metric),
    ]


def table(found: Moved, data: Dataset) -> pd.DataFrame:
    """One row a grid point."""
    unit = data.y_unit
    return pd.DataFrame(
        {
            axis(data.x_names[0], data.x_units[0]): found.x,
            f"curve without privacy [{unit}] (not private)": found.before,
            f"after the move [{unit}] (not private)": found.after,
            f"without the person [{unit}] (not private)": found.without,
            f"privacy noise, standard deviation [{unit}]": found.noise,
        }
    ).round(4)


CURVES_ALT = (
    "The curve without privacy (blue), after one person is moved (dashed purple), and without that person (dotted). "
    "95 % of releases lie in the orange band, point by point. Click a person to move. Not private."
)
NOISE_ALT = "How far the curve moves (dashed purple), and the standard deviation of privacy noise (orange)."
