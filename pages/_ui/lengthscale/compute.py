"""Private choice of a lengthscale: its cost, and the error of the release after each choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from datasets import exhibit
from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.cross_validation import plan_folds
from dpgp_core.selection.exponential import MechanismName, SelectionTable, selection_guarantee, selection_table
from dpgp_core.selection.scores import GridScores, grid_scores, published_sensitivity, sse_sensitivity
from dpgp_core.strategies.noise_design import ObjectiveName
from dpgp_core.table import Dataset
from pages._ui.cloaking import computed
from pages._ui.compare.contenders import Scale, scale_of
from pages._ui.left_out import FOLDS, folds_of, without_privacy
from pages._ui.look import text
from pages._ui.model import Design, Draw, Model, usual
from pages._ui.work import cached

REGRESSION_EPSILONS = (math.inf, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)


@dataclass(frozen=True)
class Grid:
    """Settings on which the scores depend: a model without its lengthscale, the candidates, the objective."""

    model: Model
    lengthscales: tuple[float, ...]
    objective: ObjectiveName

    def candidate(self, lengthscale: float) -> Model:
        """Return the model with one of the candidate lengthscales."""
        return replace(self.model, lengthscale=lengthscale)


@dataclass(frozen=True, eq=False)
class Scored:
    """Cross-validated candidates, with three sensitivities of their scores in units of d^2.

    Attributes:
        scores: scores of the candidates. They are not private.
        ours: exact sensitivity of differences of the plain score.
        clipped: sensitivity of the score clipped at +-d (the corrected bound, ``sse_sensitivity``).
        published: sensitivity stated by Smith et al. 2018, which is invalid and shown for comparison.
    """

    scores: GridScores
    ours: float
    clipped: float
    published: float


def score(dataset: Dataset, grid: Grid, *, progress: Callable[[float], None] = lambda fraction: None) -> Scored:
    """Return the cross-validated errors of the candidates of a grid. They do not depend on epsilon."""
    d, folds, plans = dataset.output_range / dataset.y_scale, folds_of(dataset), []
    for done, lengthscale in enumerate(grid.lengthscales, start=1):
        model = grid.candidate(lengthscale)
        plans.append(plan_folds(model.build(), dataset.X, folds, model.noise, grid.objective))
        progress(done / len(grid.lengthscales))
    scores = grid_scores(plans, dataset)
    return Scored(
        scores=scores,
        ours=scores.sensitivity / d**2,
        clipped=sse_sensitivity(plans, d) / d**2,
        published=published_sensitivity(plans, d) / d**2,
    )


@dataclass(frozen=True)
class Budgets:
    """Settings of the sliders: the budgets of the choice and of the release after it, and the method of each."""

    selection: float
    regression: float
    delta: float
    calibration: Method
    mechanism: MechanismName


@dataclass(frozen=True, eq=False)
class Choice:
    """A private choice among the candidates of a grid, and the release after it. It is not private."""

    grid: Grid
    budgets: Budgets
    scored: Scored

    @property
    def settings(self) -> tuple[Grid, Budgets]:
        """All settings that determine it."""
        return self.grid, self.budgets

    @cached_property
    def table(self) -> SelectionTable:
        """Probabilities and errors for each epsilon of the release, from no noise (inf) to the most private; takes
        milliseconds.

        The chosen epsilon is among them.
        """
        budgets = self.budgets
        return selection_table(
            self.scored.scores,
            budgets.selection,
            tuple(sorted({*REGRESSION_EPSILONS, budgets.regression}, reverse=True)),
            budgets.delta,
            budgets.calibration,
            unproven=True,
            mechanism=budgets.mechanism,
        )

    @property
    def column(self) -> int:
        """Index of the chosen epsilon in the table."""
        return self.table.epsilons.index(self.budgets.regression)

    @property
    def errors(self) -> FloatArray:
        """Expected error with each lengthscale at the chosen epsilon."""
        return self.table.private_rmse[:, self.column]

    @property
    def after(self) -> float:
        """Expected error after the private choice."""
        return float(self.table.selected_rmse[self.column])

    @property
    def best(self) -> float:
        """Lengthscale with the smallest expected error."""
        return self.grid.lengthscales[int(self.errors.argmin())]

    @property
    def likeliest(self) -> tuple[float, float]:
        """Most probable lengthscale of the choice, and its probability."""
        probabilities = self.table.probabilities[:, self.column]
        return self.grid.lengthscales[int(probabilities.argmax())], float(probabilities.max())

    @property
    def unit(self) -> str:
        """Unit of the lengthscales."""
        return exhibit(self.grid.model.dataset).unit

    @property
    def scale(self) -> Scale:
        """Scale on which errors are shown; for prices in per cent."""
        return scale_of(cached.dataset(self.grid.model.dataset))

    def with_unit(self, error: float) -> str:
        """Return an error as pages write it."""
        return self.scale.with_unit(error)


def guarantees(budgets: Budgets, release: Guarantee, unit: str) -> tuple[Guarantee, float]:
    """Return the guarantee of the choice, and epsilon of choice and release together at the page's delta."""
    choice = selection_guarantee(budgets.selection, unit, budgets.mechanism)
    return choice, Ledger(entries=[("choice", choice), ("release", release)]).epsilon(budgets.delta)


class WithoutChoice(NamedTuple):
    """Errors without a choice of a lengthscale: of Bayes cloaking (None while it is computed), and without privacy."""

    bayes: float | None
    without: float


def headline(choice: Choice, unchosen: WithoutChoice) -> str:
    """Return the headline sentences."""
    error = "is being computed" if unchosen.bayes is None else f"is {choice.with_unit(unchosen.bayes)}"
    return (
        f"A private choice with ε = {choice.budgets.selection:g} picks **{choice.likeliest[0]:g} {choice.unit}** most "
        f"often. The error is then **{choice.with_unit(choice.after)}**. Bayes cloaking needs no choice: its error "
        f"{error}."
    )


def label(epsilon: float) -> str:
    """Return an epsilon of the release as the title of a column."""
    return "none" if math.isinf(epsilon) else f"{epsilon:g}"


def rows_of(choice: Choice) -> pd.DataFrame:
    """Return a row for each tile of the heat map."""
    table, scale = choice.table, choice.scale
    rows = [
        {
            f"lengthscale [{choice.unit}]": lengthscale,
            "ε of the release": label(epsilon),
            "probability [%] (not private)": round(100 * float(table.probabilities[i, j]), 2),
            f"error [{scale.unit}] (not private)": round(float(scale.convert(table.private_rmse[i, j])), 4),
            f"error without privacy noise [{scale.unit}] (not private)": round(float(scale.convert(table.rmse[i])), 4),
        }
        for i, lengthscale in enumerate(choice.grid.lengthscales)
        for j, epsilon in enumerate(table.epsilons)
    ]
    return pd.DataFrame(rows)


def explain(choice: Choice) -> list[tuple[str, str]]:
    """Return the computation with the current numbers."""
    scored, budgets = choice.scored, choice.budgets
    return [
        (
            "Score of a lengthscale",
            f"squared error on people left out, in {FOLDS} public parts, plus the expected squared privacy noise "
            f"of the release, (d s)² Σ tr M: {scored.scores.tested} predictions of them, "
            f"{len(choice.grid.lengthscales)} candidates, without refitting or simulation",
        ),
        (
            "Sensitivity",
            f"Δ = {text.number(scored.ours, 3)} d²: half the largest change of a difference of two scores, exact",
        ),
        (
            "For comparison",
            f"clipping residuals at ± d needs Δ = {text.number(scored.clipped, 3)} d²; the bound of 2018, "
            f"{text.number(scored.published, 3)} d², is **invalid**: it lacks a cross term",
        ),
        (
            "Probability",
            f"proportional to exp(ε u / (2 Δ)), ε = {budgets.selection:g}"
            if budgets.mechanism == "exponential"
            else f"permute-and-flip at ε = {budgets.selection:g}, computed exactly",
        ),
    ]


def scored(grid: Grid) -> Scored:
    """Return the cross-validated candidates, which one task computes."""
    doing = f"Cross-validating {len(grid.lengthscales)} lengthscales"
    return cached.value(doing, score, grid, given=(cached.dataset(grid.model.dataset),))


def without_choice(choice: Choice) -> WithoutChoice:
    """Return the errors without a choice of a lengthscale, at the budget of the release. They are not private."""
    name, budgets = choice.grid.model.dataset, choice.budgets
    errors = computed.soon(usual(name), Design(), Draw(epsilon=budgets.regression, delta=budgets.delta))
    without = min(without_privacy(name, usual(name)), float(choice.table.rmse.min()))
    return WithoutChoice(None if errors is None else float(errors.mean()), without)
