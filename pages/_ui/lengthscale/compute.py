"""The private choice of a lengthscale: its cost, and the error of the release after each choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from dpgp_core.accounting.gaussian import Method
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.evaluation.cross_validation import FoldPlan, plan_folds
from dpgp_core.selection.exponential import MechanismName, SelectionTable, selection_guarantee, selection_table
from dpgp_core.selection.scores import GridScores, grid_scores, published_sensitivity, sse_sensitivity
from dpgp_core.strategies.noise_design import ObjectiveName
from dpgp_core.table import Dataset
from pages._ui.cloaking import computed
from pages._ui.left_out import FOLDS, folds_of, without_privacy
from pages._ui.look import text
from pages._ui.model import Design, Draw, Model, usual
from pages._ui.work import cached
from pages._ui.work.cached import Wish

REGRESSION_EPSILONS = (math.inf, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)


@dataclass(frozen=True)
class Grid:
    """Settings that the scores depend on: a model without its lengthscale, the candidates, the objective."""

    model: Model
    lengthscales: tuple[float, ...]
    objective: ObjectiveName

    def candidate(self, lengthscale: float) -> Model:
        """The model at one of the candidates."""
        return replace(self.model, lengthscale=lengthscale)


@dataclass(frozen=True, eq=False)
class Scored:
    """Cross-validated candidates, with three sensitivities of their scores in units of d^2.

    Attributes:
        scores: of the grid. Not private.
        ours: exact sensitivity of differences of the plain score.
        clipped: of the score clipped at +-d (the corrected bound, ``sse_sensitivity``).
        published: of Smith et al. 2018; invalid, shown for comparison.
    """

    scores: GridScores
    ours: float
    clipped: float
    published: float


def planned(
    dataset: Dataset,
    model: Model,
    objective: ObjectiveName,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> FoldPlan:
    """One candidate on every fold; neither an output nor an epsilon enters."""
    kernel, folds = model.build(), folds_of(dataset)
    return plan_folds(kernel, dataset.X, folds, model.noise, objective, progress=progress)


def score(dataset: Dataset, plans: Sequence[FoldPlan], _grid: Grid) -> Scored:
    """Cross-validated errors of the candidates of a grid; no epsilon enters."""
    d = dataset.output_range / dataset.y_scale
    scores = grid_scores(plans, dataset)
    return Scored(
        scores=scores,
        ours=scores.sensitivity / d**2,
        clipped=sse_sensitivity(plans, d) / d**2,
        published=published_sensitivity(plans, d) / d**2,
    )


@dataclass(frozen=True)
class Budgets:
    """Settings of the sliders: the budget of the choice, of the release after it, and the method of each."""

    selection: float
    regression: float
    delta: float
    calibration: Method
    mechanism: MechanismName

    @property
    def columns(self) -> tuple[float, ...]:
        """Regression epsilons shown, from none (inf) to the most private, the chosen one among them."""
        return tuple(sorted({*REGRESSION_EPSILONS, self.regression}, reverse=True))


def tabulate(scored: Scored, budgets: Budgets) -> SelectionTable:
    """Probabilities and errors at every column; milliseconds."""
    return selection_table(
        scored.scores,
        budgets.selection,
        budgets.columns,
        budgets.delta,
        budgets.calibration,
        unproven=True,
        mechanism=budgets.mechanism,
    )


def guarantees(budgets: Budgets, release: Guarantee, unit: str) -> tuple[Guarantee, float]:
    """The promise of the choice, and epsilon of choice and release together at the page's delta."""
    choice = selection_guarantee(budgets.selection, unit, budgets.mechanism)
    return choice, Ledger(entries=[("choice", choice), ("release", release)]).epsilon(budgets.delta)


@dataclass(frozen=True)
class Chosen:
    """The chosen column in words: likeliest and best lengthscales, their probability, expected errors.

    Attributes:
        likeliest: lengthscale most likely to be chosen, and ``probability`` of that.
        best: lengthscale of least expected private error, ``best_error``.
        after: expected error after the private choice.
    """

    likeliest: float
    probability: float
    best: float
    best_error: float
    after: float


@dataclass(frozen=True)
class WithoutChoice:
    """Errors without a choice of a lengthscale: of Bayes cloaking (None while it is computed), and without privacy."""

    bayes: float | None
    without: float


def describe(table: SelectionTable, grid: Grid, budgets: Budgets) -> Chosen:
    """Read the chosen column."""
    column = table.epsilons.index(budgets.regression)
    probabilities, errors = table.probabilities[:, column], table.private_rmse[:, column]
    return Chosen(
        likeliest=grid.lengthscales[int(probabilities.argmax())],
        probability=float(probabilities.max()),
        best=grid.lengthscales[int(errors.argmin())],
        best_error=float(errors.min()),
        after=float(table.selected_rmse[column]),
    )


def lead(
    chosen: Chosen, unchosen: WithoutChoice, budgets: Budgets, unit: str, with_unit: Callable[[float], str]
) -> str:
    """The plain sentences under the question; ``with_unit`` writes an error."""
    bayes = "its error is being computed" if unchosen.bayes is None else f"has {with_unit(unchosen.bayes)}"
    return (
        f"A private choice with epsilon = {budgets.selection:g} picks **{chosen.likeliest:g} {unit}** most often "
        f"({text.percent(chosen.probability)}). The error is then **{with_unit(chosen.after)}**; with the best "
        f"lengthscale known in advance {with_unit(chosen.best_error)}. Bayes cloaking chooses none and {bayes}."
    )


def label(epsilon: float) -> str:
    """A regression epsilon as a column title."""
    return "none" if math.isinf(epsilon) else f"{epsilon:g}"


def rows_of(table: SelectionTable, grid: Grid, unit: str, y_unit: str) -> pd.DataFrame:
    """One row a tile of the heat map."""
    rows = [
        {
            f"lengthscale [{unit}]": lengthscale,
            "regression ε": label(epsilon),
            "probability [%] (not private)": round(100 * float(table.probabilities[i, j]), 2),
            f"error [{y_unit}] (not private)": round(float(table.private_rmse[i, j]), 4),
            f"error without privacy noise [{y_unit}] (not private)": round(float(table.rmse[i]), 4),
        }
        for i, lengthscale in enumerate(grid.lengthscales)
        for j, epsilon in enumerate(table.epsilons)
    ]
    return pd.DataFrame(rows)


def explain(scored: Scored, grid: Grid, budgets: Budgets) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    return [
        (
            "Score of a lengthscale",
            f"squared error on people left out, in {FOLDS} public parts, plus the expected squared privacy noise "
            f"of the release, (d s′)² Σ tr M: "
            f"{scored.scores.tested} predictions of them, {len(grid.lengthscales)} candidates, no refit and no draw",
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


_LEAST = 2  # candidates between which there is a choice


def scored(grid: Grid) -> Scored:
    """Cross-validated candidates."""
    return list(growing(grid))[-1][1]


def growing(grid: Grid) -> Iterator[tuple[Grid, Scored]]:
    """Scores of ever more candidates as they are cross-validated, from two on, with their grid; the last is whole."""
    whole = cached.find(score, grid)
    if whole is not None:
        yield grid, whole
        return
    data, count = cached.dataset(grid.model.dataset), len(grid.lengthscales)
    _wish_for_the_last(grid)
    plans: list[FoldPlan] = []
    for candidate in grid.lengthscales:
        doing = f"Cross-validating lengthscales, {len(plans) + 1} of {count}"
        setting = grid.candidate(candidate), grid.objective
        plans.append(cached.value(doing, planned, *setting, given=(data,)))
        if _LEAST <= len(plans) < count:
            so_far = replace(grid, lengthscales=grid.lengthscales[: len(plans)])
            yield so_far, score(data, plans, so_far)
    yield grid, cached.value("Scoring lengthscales", score, grid, given=(data, plans), here=True)


def without_choice(grid: Grid, budgets: Budgets, table: SelectionTable) -> WithoutChoice:
    """Errors without a choice of a lengthscale, at the budget of the release. Not private."""
    name = grid.model.dataset
    draw = Draw(epsilon=budgets.regression, delta=budgets.delta)
    errors = computed.soon(usual(name), Design(), draw)
    without = min(without_privacy(name), float(table.rmse.min()))
    return WithoutChoice(None if errors is None else float(errors.mean()), without)


def _wish_for_the_last(grid: Grid) -> None:
    """While the page asks for one candidate after the other, an idle process begins at the other end."""
    data = (cached.dataset(grid.model.dataset),)
    settings = [(grid.candidate(candidate), grid.objective) for candidate in reversed(grid.lengthscales)]
    cached.wish(*(Wish(planned, each, data) for each in settings if cached.find(planned, *each) is None))
