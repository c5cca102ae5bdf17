"""Controls and figures of the lengthscale page."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from datasets import EXHIBITS, exhibit
from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.selection.exponential import MechanismName
from dpgp_core.strategies.noise_design import ObjectiveName
from pages._ui.compare.contenders import MOST_PERCENT
from pages._ui.lengthscale.compute import Budgets, Choice, Grid, WithoutChoice, label
from pages._ui.look import offers, text
from pages._ui.look.controls import SIDE, Menu, Slider, menu
from pages._ui.look.offers import of_datasets
from pages._ui.look.plots import (
    GUARANTEE,
    NON_PRIVATE,
    PREDICTION_SCALE,
    PRIVATE,
    REFINED,
    draw_line,
    finish,
    named_lines,
    ticked,
)
from pages._ui.look.settings import control
from pages._ui.look.sidebar import Promise, delta_fits, hall_fits
from pages._ui.look.text import Metric, help_of
from pages._ui.model import Design, Model, mechanism_of

SELECTION_EPSILONS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
DATASET = of_datasets(
    "choice_dataset",
    (
        exhibit
        for scene in ("curve", "map")
        for exhibit in EXHIBITS.values()
        if exhibit.scene == scene and exhibit.cross_validated
    ),
)
CHOICE_BY: Menu[MechanismName] = menu(
    "Choice by", "choice_by", {"exponential": "Exponential mechanism", "permute_and_flip": "Permute-and-flip"}
)
_SELECTION: Slider[float] = Slider(
    "selection_epsilon",
    "ε of the choice: more private ⟷ more accurate",
    1,
    SELECTION_EPSILONS,
    help="Budget of choosing the lengthscale. The slider above is the budget of the release that follows.",
)


def _candidates(chosen: Any) -> None:
    shipped = exhibit(chosen.dataset)
    shortest, longest = min(shipped.lengthscales), max(shipped.lengthscales)
    st.caption(
        f"Lengthscale: chosen among {shortest:g} to {longest:g} {shipped.unit}. Method of the release: cloaking."
    )


@dataclass(frozen=True, kw_only=True)
class ChoiceSettings(Promise):
    """Whole sidebar: candidates, budgets, and the release that follows."""

    delta: float = control(replace(offers.PROMISED, section=SIDE))
    selection: float = control(_SELECTION)
    dataset: str = control(DATASET, below=delta_fits)
    choice_by: MechanismName = control(CHOICE_BY)
    kernel: str = control(offers.KERNEL, below=_candidates)
    overlay: bool = control(offers.OVERLAY)
    noise: float = control(offers.NOISE)
    objective: ObjectiveName = control(offers.OBJECTIVE)
    calibration: Method = control(offers.CALIBRATION, below=hall_fits)

    @property
    def grid(self) -> Grid:
        """Candidates of the choice."""
        shipped = exhibit(self.dataset)
        model = Model(self.dataset, self.kernel, shipped.lengthscale, float(self.noise))
        return Grid(model, shipped.lengthscales, self.objective)

    @property
    def budgets(self) -> Budgets:
        """Budgets of the choice and the release."""
        return Budgets(float(self.selection), float(self.epsilon), float(self.delta), self.calibration, self.choice_by)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of the release that follows."""
        draw = replace(self.draw, calibration=self.calibration)
        promise: Guarantee = mechanism_of(self.grid.model, Design("cloaking", self.objective), draw).guarantee
        return promise


_DIGITS = 11  # px of the type in a tile
_NEVER = 0.5  # per cent; below it a lengthscale is practically never chosen


def tiles(choice: Choice) -> go.Figure:
    """Draw how often each lengthscale (rows) is chosen at each epsilon of the release (columns).

    ★ marks the lengthscale with the smallest error in each column.
    """
    table, grid, unit = choice.table, choice.grid, choice.unit
    columns, rows = [label(e) for e in table.epsilons], [f"{row:g}" for row in grid.lengthscales]
    hover = [
        [
            f"lengthscale {row} {unit}, ε of the release {e}<br>chosen with {100 * table.probabilities[i, j]:.1f} %"
            f"<br>error {choice.with_unit(table.private_rmse[i, j])}, without privacy noise "
            f"{choice.with_unit(table.rmse[i])}"
            for j, e in enumerate(columns)
        ]
        for i, row in enumerate(rows)
    ]
    share, best = 100 * table.probabilities, table.private_rmse.argmin(axis=0)
    chosen = share >= _NEVER
    printed = [[f"{each:.0f}" if each >= _NEVER else "" for each in row] for row in share]
    for j, i in enumerate(best):  # of each column
        printed[i][j] += "★"
    figure = go.Figure(
        go.Heatmap(
            z=np.where(chosen, share, np.nan),  # nothing is drawn where it would print as 0
            x=columns,
            y=rows,
            zmin=0,
            zmax=float(share.max()),
            colorscale=PREDICTION_SCALE,
            text=printed,
            texttemplate="%{text}",
            textfont={"size": _DIGITS},  # otherwise as small as the longest text in a narrow window needs
            hovertext=hover,
            hoverinfo="text",
            colorbar={"title": "chosen [%]"},
            xgap=2,
            ygap=2,
        )
    )
    x0, x1 = choice.column - 0.5, choice.column + 0.5
    figure.add_vrect(x0=x0, x1=x1, line={"color": PRIVATE, "width": 3}, fillcolor="rgba(0,0,0,0)")
    figure.update_xaxes(title="ε of the release: less private → more private", type="category", constrain="domain")
    figure.update_yaxes(title=f"lengthscale [{unit}]", type="category", range=[-0.5, len(rows) - 0.5])
    return finish(figure, 430)


def errors(choice: Choice, unchosen: WithoutChoice | None = None) -> go.Figure:
    """Draw the error of each lengthscale at the chosen epsilon, the error after the private choice, and
    ``unchosen``.
    """
    lengthscales, convert = choice.grid.lengthscales, choice.scale.convert
    figure, ends = go.Figure(), [min(lengthscales), max(lengthscales)]
    each = convert(choice.errors)
    figure.add_scatter(x=lengthscales, y=each, name="this lengthscale", mode="lines+markers", line={"color": REFINED})
    levels = [(choice.after, "after the private choice", GUARANTEE, "dash")]
    if unchosen is not None:
        levels.append((unchosen.without, "without privacy", NON_PRIVATE, "solid"))
        if unchosen.bayes is not None:
            levels.append((unchosen.bayes, "Bayes cloaking", PRIVATE, "dot"))
    for value, name, colour, dash in levels:
        draw_line(figure, ends, [convert(value)] * 2, name, colour, dash)
    # The axis is logarithmic, because short lengthscales may err a hundred times as much.
    drawn = np.log10([*each, *(convert(value) for value, *_ in levels)])
    figure.update_xaxes(title=f"lengthscale [{choice.unit}]", **ticked(lengthscales[::2]))
    low, high = float(drawn.min()), float(drawn.max())
    if choice.scale.logarithmic:  # lines end at the upper edge where they are useless
        high = min(high, np.log10(MOST_PERCENT))
    air = 0.05 * (high - low)
    figure.update_yaxes(
        title=f"error [{choice.scale.unit}]",
        range=[low - air, high + air],
        **ticked([step * 10.0**power for power in range(-3, 5) for step in (1, 2, 5)]),
    )
    return named_lines(finish(figure, 430))


def tiles_alt(choice: Choice) -> str:
    """Return the description of the tiles: most probable and best lengthscale from less to more privacy of the
    release.
    """
    table, lengthscales, choices = choice.table, choice.grid.lengthscales, []
    for at, epsilon in enumerate(table.epsilons):
        if epsilon in (table.epsilons[0], choice.budgets.regression, table.epsilons[-1]):
            likely, best = int(table.probabilities[:, at].argmax()), int(table.private_rmse[:, at].argmin())
            noise = "without privacy noise" if math.isinf(epsilon) else f"at ε {epsilon:g}"
            share = text.percent(float(table.probabilities[likely, at]))
            choices.append(f"{noise} {lengthscales[likely]:g} in {share} (★ {lengthscales[best]:g})")
    return f"How often each lengthscale is chosen [%]. Most often [{choice.unit}]: {'; '.join(choices)}."


def errors_alt(choice: Choice) -> str:
    """Return the description of the errors: their trend over the lengthscales, and the error after the choice."""
    at, of_unit = choice.grid.lengthscales, f" in {choice.unit}" if choice.unit else ""
    first, least, last = (
        choice.with_unit(float(error)) for error in (choice.errors[0], choice.errors.min(), choice.errors[-1])
    )
    return (
        f"Error with each lengthscale{of_unit} (purple): {first} at {at[0]:g}, least, {least}, at {choice.best:g}, and "
        f"{last} at {at[-1]:g}. After the private choice (green): {choice.with_unit(choice.after)}. Bayes cloaking "
        "needs no choice."
    )


ERRORS = "Error with each lengthscale (purple), and after the private choice (dashed)."


def metrics(choice: Choice, unchosen: WithoutChoice, total: float) -> list[Metric]:
    """Return the choice and its cost; ``total`` is the epsilon of choice and release together."""
    budgets, unit, (likeliest, probability) = choice.budgets, choice.unit, choice.likeliest
    return [
        Metric(
            "Error after the choice",
            choice.with_unit(choice.after),
            f"with the best lengthscale: {choice.with_unit(float(choice.errors.min()))}",
            help_of("Error"),
        ),
        Metric("Most often chosen", f"{likeliest:g} {unit}", f"{text.percent(probability)} of choices"),
        Metric("Best if known", f"{choice.best:g} {unit}", "known from true data only"),
        Metric(
            "Error without privacy",
            choice.with_unit(unchosen.without),
            "no privacy noise",
            help_of("Without privacy"),
        ),
        Metric(
            "Spent by the choice",
            f"ε = {text.at_most(budgets.selection)}",
            f"with the release: ε = {text.at_most(total)}, δ = {text.small(budgets.delta)}",
        ),
    ]
