"""What is said of a noise design: its certificate, and the weights of the records."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.linalg import dense_of
from dpgp_core.strategies.noise_design import NoiseDesign
from pages._ui.cloaking.results import Result
from pages._ui.look import text
from pages._ui.look.plots import axis
from pages._ui.look.text import Metric


def cloaking_answer(result: Result) -> str:
    """One sentence on the real data, with its numbers."""
    data, noise = result.dataset, _design(result)
    heavy = carriers(noise)
    return (
        f"The privacy noise for {len(result.fit.C)} predictions has only **{noise.rank} independent directions**. Of "
        f"{data.n} people, **{heavy}** decide its shape: those with the largest λ."
    )


def certificate(result: Result) -> list[Metric]:
    """What proves the design: largest shift, gap, rank."""
    noise = _design(result)
    # |L^+ a_j|^2 over every record j, evaluated here and now on the values that are released
    shifts = np.linalg.lstsq(result.linear_plan.factor, dense_of(result.linear_plan.weights), rcond=1e-14)[0]
    largest = float((shifts**2).sum(axis=0).max())
    return [
        Metric("Largest shift of any person", text.number(largest, 4), "must not exceed 1"),
        Metric("Optimality gap", f"{text.at_most(100 * noise.gap, 2)} %", "certified upper bound"),
        Metric("Directions of privacy noise", f"{noise.rank}", f"of {len(result.fit.C)} test points"),
        Metric("Newton steps", f"{noise.iterations}", f"objective {noise.objective}"),
    ]


def record_table(result: Result) -> pd.DataFrame:
    """One row a record: public inputs and its weight in the noise."""
    data, noise = result.dataset, _design(result)
    columns = {
        axis(name, unit): data.X[:, i] for i, (name, unit) in enumerate(zip(data.x_names, data.x_units, strict=True))
    }
    columns["λ, share of the total"] = (noise.lambdas / noise.lambdas.sum()).round(6)
    columns["|c|, pull on all test points"] = np.linalg.norm(dense_of(result.fit.C), axis=0).round(6)
    return pd.DataFrame(columns).sort_values("λ, share of the total", ascending=False)


C_ALT = "Cloaking matrix: how far each prediction moves when one person's output changes by one unit."
M_ALT = "Correlation of the privacy noise between test points: noise at nearby points moves together."


def lambda_alt(result: Result) -> str:
    """Text alternative of the stems."""
    noise = _design(result)
    return (
        f"Weight of each person in the noise. {carriers(noise)} of {len(noise.lambdas)} have more than 1 % of the "
        "largest weight. They are at the edges and in sparse places, where one person moves the curve most."
    )


def _design(result: Result) -> NoiseDesign:
    assert result.linear_plan.design is not None
    return result.linear_plan.design


def carriers(noise: NoiseDesign) -> int:
    """Number of records with more than 1 % of the largest weight."""
    return int((noise.lambdas > 0.01 * noise.lambdas.max()).sum())
