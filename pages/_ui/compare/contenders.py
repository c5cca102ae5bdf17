"""The compared methods: their simulated releases, the lower limits of error, and other methods at their best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.special import ndtri

from datasets import exhibit
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.guarantee import Protects
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.comparison import (
    HeldOutFold,
    Piece,
    Trial,
    gathered,
    sweeps,
)
from dpgp_core.evaluation.limits import Limits, SimulatedError, limits, simulated_error
from dpgp_core.evaluation.peers import best_by_oracle, settings
from dpgp_core.kernels import Stationary
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.base import Mechanism
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.table import Dataset
from pages._ui.left_out import SEED, Errors, FoldResiduals, folds_of
from pages._ui.look import text
from pages._ui.look.plots import GUARANTEE, NON_PRIVATE, OTHER, PRIVATE, band, draw_line, faded, finish
from pages._ui.model import Budget, Model, clip_of, usual
from pages._ui.work.engine import engine

CURVE_EPSILONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0)
_ANY_EPSILON = 1.0  # epsilon of a mechanism before it is given one


@dataclass(frozen=True)
class Contest:
    """Settings that all contenders share: model, delta, bins along each input, number of inducing inputs."""

    model: Model
    delta: float
    bins: int
    inducing: int


CONTENDERS = {name: entry for name, entry in CATALOGUE.items() if entry.compared}
"""Compared mechanisms of the catalogue by name, in the order of the table."""


def _wait(name: str) -> tuple[bool, bool]:
    return CONTENDERS[name].kind.automatic, CONTENDERS[name].private_inputs


BY_WAIT = tuple(sorted(CONTENDERS, key=_wait))
"""Names in the order of computation; those whose curves take longest come last."""


def contender(contest: Contest, name: str, epsilon: float) -> Mechanism:
    """Return the mechanism of a contender at an epsilon."""
    ratios = exhibit(contest.model.dataset).ratios
    return CONTENDERS[name].build(
        Parameters(
            kernel=contest.model.build(),
            noise_variance=contest.model.noise,
            epsilon=epsilon,
            delta=contest.delta,
            x_box=((0.0, 1.0),) * len(ratios),  # only the number of inputs is used
            cells=contest.bins,
            inducing=contest.inducing,
            clip=clip_of(contest.model),
            fit_noise=True,
        )
    )


@dataclass(frozen=True, eq=False)
class Curve:
    """Errors of one contender over ``CURVE_EPSILONS``. They are not private.

    Attributes:
        errors: RMSE on people left out of each simulated release (E, draws), in the output's unit.
        half_width: half-width of the 95 % interval for an output, median over test points (E,), in the output's unit;
            NaN where it was not computed, and if a mechanism has no interval.
        half_score: half of the interval score (E,), in the output's unit; NaN where there is no half-width.
        seconds: duration of one fit and one release.
        interpolated: values of epsilon whose errors are interpolated from releases at another delta.
    """

    errors: FloatArray
    half_width: FloatArray
    half_score: FloatArray
    seconds: float
    interpolated: tuple[float, ...] = ()

    @property
    def mean(self) -> FloatArray:
        """Expected error at each epsilon (E,)."""
        return np.asarray(self.errors.mean(axis=1))

    @property
    def standard_error(self) -> FloatArray:
        """Return the standard error of this mean over the simulated releases (E,)."""
        draws = self.errors.shape[1]
        return np.asarray(self.errors.std(axis=1, ddof=1) / np.sqrt(draws))

    def replaced_at(self, epsilon: float, point: Curve) -> Curve:
        """Return the curve with the simulated errors of a curve of one point at this epsilon."""
        at = np.equal(CURVE_EPSILONS, epsilon)
        return Curve(
            np.where(at[:, None], point.errors, self.errors),
            np.where(at, point.half_width, self.half_width),
            np.where(at, point.half_score, self.half_score),
            self.seconds,
            tuple(each for each in self.interpolated if each != epsilon),
        )


Progress = Callable[[float], None]
Wanted = tuple[Contest, str] | tuple[Contest, str, float]
"""Settings of ``curve`` or of ``point``."""


def curve(dataset: Dataset, contest: Contest, name: str) -> Curve:
    """Simulate the errors of a contender at every epsilon; see ``simulated``.

    There are no intervals, because pages show those of one epsilon only (``point``).
    """
    [found] = simulated(dataset, (), ((contest, name),))
    return found


def point(dataset: Dataset, contest: Contest, name: str, epsilon: float) -> Curve:
    """Simulate a contender at one epsilon, with the errors that ``curve`` has there, and intervals."""
    [found] = simulated(dataset, (), ((contest, name, epsilon),))
    return found


def simulated(
    dataset: Dataset,
    held: Sequence[HeldOutFold],
    wanted: Sequence[Wanted],
    *,
    progress: Progress = lambda fraction: None,
) -> list[Curve]:
    """Return several curves and points, on the cluster if one is configured (``engine``).

    What they have in common is computed once: a contender's plans serve all its budgets, and contenders with the same
    model share its prediction.

    Args:
        dataset: data set of all of them.
        held: its folds with plans that were made before, for example for the error without privacy; () for none.
        wanted: their settings.
    """
    epsilons: dict[tuple[Contest, str], tuple[float, ...]] = {}
    points: dict[tuple[Contest, str], tuple[float, ...]] = {}
    for contest, name, *at in wanted:
        of_one = contest, name
        points[of_one] = (*points.get(of_one, ()), *at)
        epsilons[of_one] = tuple(dict.fromkeys((*epsilons.get(of_one, ()), *(at or CURVE_EPSILONS))))
    trials = [
        Trial(contender(*of_one, _ANY_EPSILON), each, CONTENDERS[of_one[1]].simulated, points[of_one])
        for of_one, each in epsilons.items()
    ]
    with engine() as executor:
        swept = dict(
            zip(epsilons, sweeps(trials, dataset, folds_of(dataset), SEED, executor, progress, held), strict=True)
        )

    def found(contest: Contest, name: str, *at: float) -> Curve:
        whole, of_one = swept[contest, name], (contest, name)
        rows = [epsilons[of_one].index(each) for each in at or CURVE_EPSILONS]
        widths = [each[rows] if at else np.full(len(rows), np.nan) for each in (whole.half_width, whole.half_score)]
        return Curve(whole.errors[rows], widths[0], widths[1], whole.seconds)

    return [found(*each) for each in wanted]


def multipliers(contest: Contest, name: str, epsilons: tuple[float, ...]) -> list[float]:
    """Return the noise multipliers of ``noise_multiplier_of`` at several values of epsilon; [] if there are none."""
    every = (noise_multiplier_of(contest, name, epsilon) for epsilon in epsilons)
    return [each for each in every if each is not None]


def noise_multiplier_of(contest: Contest, name: str, epsilon: float) -> float | None:
    """Return the noise multiplier s of a contender whose releases depend on (epsilon, delta) through s alone.

    These are the contenders whose privacy loss is that of Gaussian noise; for others, return None.
    """
    loss = contender(contest, name, epsilon).guarantee.loss
    return 1 / loss.mu if isinstance(loss, GaussianLoss) else None


def interpolated(known: Sequence[Curve], multipliers: Sequence[float], wanted: Sequence[float]) -> Curve:
    """Return the curve at other noise multipliers, with log error linear in log s between those that are known.

    Each simulated release is interpolated by itself, because its underlying noise is the same at every s.

    Args:
        known: curves with K points together.
        multipliers: noise multipliers of these points (K,), in any order.
        wanted: noise multipliers at ``CURVE_EPSILONS`` (E,).

    Returns:
        The curve. Its errors are NaN where s is outside the range of ``multipliers``; all others are interpolated.
    """
    order, at = np.argsort(multipliers), np.log(wanted)
    s = np.log(multipliers)[order]
    above = np.clip(np.searchsorted(s, at), 1, len(s) - 1)
    share = (at - s[above - 1]) / (s[above] - s[above - 1])
    inside = (s[0] <= at) & (at <= s[-1])

    def between(each: Sequence[FloatArray]) -> FloatArray:
        rows = np.log(np.concatenate(each))[order].T  # points last
        mixed = (1 - share) * rows[..., above - 1] + share * rows[..., above]
        return np.exp(np.where(inside, mixed, np.nan)).T

    return Curve(
        between([each.errors for each in known]),
        between([each.half_width for each in known]),
        between([each.half_score for each in known]),
        known[0].seconds,
        tuple(epsilon for epsilon, is_inside in zip(CURVE_EPSILONS, inside, strict=True) if is_inside),
    )


def budget_of(contest: Contest, name: str, epsilon: float) -> Budget | None:
    """Return the budget of Bayes cloaking, whose errors all pages share; None for other contenders."""
    protects = _PROTECTS[name]
    return None if protects is None else Budget(contest.model.dataset, epsilon, contest.delta, protects)


def _protects(name: str) -> Protects | None:
    built = contender(Contest(usual("kung"), 0.01, 1, 1), name, _ANY_EPSILON)
    return built.protects if isinstance(built, BayesCloaking) else None


_PROTECTS = {name: _protects(name) for name in CONTENDERS}
"""What Bayes cloaking protects, by contender; None for other contenders."""


def piece_of(parts: Sequence[FoldResiduals]) -> Piece:
    """Return one fold of Bayes cloaking at every epsilon."""
    return [part.residuals for part in parts], float(np.mean([part.seconds for part in parts]))


def curve_of(every: Sequence[Errors]) -> Curve:
    """The curve of Bayes cloaking from its errors at every epsilon."""
    return Curve(
        np.array([each.errors for each in every]),
        np.array([each.half_width for each in every]),
        np.array([each.half_score for each in every]),
        float(np.mean([each.seconds for each in every])),
    )


def joined(pieces: Sequence[Piece], contest: Contest, name: str) -> Curve:
    """Return the curve over the folds that are done; over all folds it equals ``curve(contest, name)``."""
    return Curve(*gathered(pieces))


MOST_PERCENT = 1_000.0  # beyond it, an error of a price is useless, and its digits mean nothing
_MOST_LOG = 300.0  # so that percentages remain finite


@dataclass(frozen=True)
class Scale:
    """Scale on which errors are shown: the output's unit, or percentages of the price for log prices."""

    unit: str
    logarithmic: bool = False

    @property
    def short(self) -> str:
        """Unit without explanation."""
        return "%" if self.logarithmic else self.unit

    def convert(self, value: Any) -> Any:
        """Return a value in the output's unit on this scale."""
        return 100 * np.expm1(np.minimum(value, _MOST_LOG)) if self.logarithmic else value

    def rounded(self, value: Any) -> float:
        """Return a value in the output's unit as a number for a table."""
        return round(float(self.convert(value)), 3)

    def with_unit(self, value: float) -> str:
        """Return a value in the output's unit in words."""
        return f"{self.number(value)} {self.short}"

    def number(self, value: float) -> str:
        """Return this value without its unit."""
        return self.written(self.convert(value))

    def written(self, value: float) -> str:
        """Return a value on this scale without its unit; beyond ``MOST_PERCENT`` of a price only that it is more."""
        if self.logarithmic and value > MOST_PERCENT:
            return f"more than {text.number(MOST_PERCENT)}"
        return text.number(value)

    def invert(self, value: float) -> float:
        """Return a value on this scale in the output's unit."""
        return float(np.log1p(value / 100)) if self.logarithmic else value


def scale_of(dataset: Dataset) -> Scale:
    """Return the scale for a data set: percentages of the price for log prices, otherwise the output's unit."""
    return Scale("% of the price", logarithmic=True) if dataset.y_unit.startswith("ln ") else Scale(dataset.y_unit)


EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
DATA_SETS = 40
DATA_SETS_SEED = 11
LIMITS_GAP = 1e-2  # relative accuracy of the convex problems that give the limits
OUTSIDE = 0.01  # share of outputs under the prior that are beyond the bounds and clipped


@dataclass(frozen=True, eq=False)
class Possible:
    """Root mean square errors of f at the records, averaged over the prior (E,) for ``EPSILONS``, in the output's unit.

    Attributes:
        without_privacy: error of the posterior mean without privacy.
        any: lower limit for every mechanism.
        fixed: lower limit for fixed linear maps with Gaussian noise.
        reached: error of Bayes cloaking on simulated data sets.
        standard_error: standard error of ``reached``.
    """

    without_privacy: float
    any: FloatArray
    fixed: FloatArray
    reached: FloatArray
    standard_error: FloatArray


def prior_of(dataset: Dataset, model: Model) -> tuple[Stationary, float, float]:
    """Return kernel, noise variance and half the range in model units: those of the page, scaled to fit the bounds."""
    half = dataset.output_range / dataset.y_scale / 2
    variance = (half / float(ndtri(1 - OUTSIDE / 2))) ** 2 / (1 + model.noise)
    return replace(model.build(), variance=variance), model.noise * variance, half


Bounds = tuple[Limits, SimulatedError]


def possible(bounds: Sequence[Bounds], y_scale: float) -> Possible:
    """Return the limits at all of ``EPSILONS``, in the output's unit.

    Args:
        bounds: limits in model units, one for each epsilon.
        y_scale: scale of the data set's output.
    """
    of_limits, of_stages = (np.array(each) * y_scale for each in zip(*bounds, strict=True))
    return Possible(
        without_privacy=float(of_limits[0, 0]),
        fixed=of_limits[:, 1],
        any=of_limits[:, 2],
        reached=of_stages[:, 0],
        standard_error=of_stages[:, 1],
    )


def possible_at(dataset: Dataset, model: Model, delta: float, epsilon: float) -> Bounds:
    """Return the limits at one budget, and the error of Bayes cloaking. Only inputs and declared values are read."""
    with engine() as executor:
        if executor is None:
            return _possible_at(dataset, model, delta, epsilon)
        return executor.submit(_possible_at, dataset, model, delta, epsilon).result()


def _possible_at(dataset: Dataset, model: Model, delta: float, epsilon: float) -> Bounds:
    (kernel, noise, half), X = prior_of(dataset, model), dataset.X
    mu = 1 / noise_multiplier(epsilon, delta)
    bound = limits(kernel, noise, X, X, mu=mu, output_range=2 * half, gap=LIMITS_GAP)
    simulated = simulated_error(
        kernel,
        noise,
        X,
        X,
        epsilon=epsilon,
        delta=delta,
        x_box=dataset.x_box,
        half_range=half,
        data_sets=DATA_SETS,
        seed=DATA_SETS_SEED,
        gap=BayesCloaking.gap,
    )
    return bound, simulated


def figure(bounds: Possible, scale: Scale) -> go.Figure:
    """Draw the limits under the prior, and the error of Bayes cloaking with two standard errors either way."""
    drawn = go.Figure()
    x, floor = EPSILONS, np.full(len(EPSILONS), bounds.without_privacy)
    low, high = (scale.convert(bounds.reached + side * bounds.standard_error) for side in (-2, 2))
    draw_line(
        drawn,
        x,
        scale.convert(bounds.any),
        "no mechanism can do better",
        GUARANTEE,
        width=2.5,
        fill="tozeroy",
        fillcolor=faded(GUARANTEE, 0.12),
    )
    band(drawn, np.array(x), low, high, PRIVATE, 0.22)
    drawn.add_scatter(
        x=x,
        y=scale.convert(bounds.reached),
        name="Bayes cloaking, simulated",
        mode="lines+markers",
        line={"color": PRIVATE, "width": 2.5},
    )
    draw_line(drawn, x, scale.convert(bounds.fixed), "best fixed linear map with Gaussian noise", OTHER, "dash")
    draw_line(drawn, x, scale.convert(floor), "without privacy", NON_PRIVATE)
    drawn.update_xaxes(title="ε: more private → more accurate", type="log", tickvals=EPSILONS)
    drawn.update_yaxes(title=f"expected error of the curve [{scale.unit}]", rangemode="tozero")
    return finish(drawn, 420)


def caption() -> str:
    """Return the caption of the limits: the prior, and the mechanisms for which each line is proven."""
    return (
        "The expected error of the curve at the records, averaged over data sets that are simulated from the "
        "sidebar's prior. It is not the error on people left out. The prior is scaled so that "
        f"{text.percent(OUTSIDE)} of the simulated outputs lie beyond the bounds. **Green**: proven for every "
        "mechanism that protects an output as Gaussian noise of this ε and δ does (μ-GDP). **Dashed**: "
        "proven for fixed linear maps with Gaussian noise. A method that measures in stages is not such a map, and its "
        "error may be smaller. "
        f"**Orange**: Bayes cloaking on {DATA_SETS} simulated data sets, ± 2 standard errors. It averages over this "
        "prior and other models."
    )


DRAWS, PEERS_SEED = 60, 1
NOTE = (
    f"Other common methods at the same epsilon and delta; they hide inputs too. Each error is the mean over {DRAWS} "
    "releases with the degree, or the number of bins, that is best here. In practice nobody can choose it so well, "
    "because choosing by the true data is not private. AdaSSP: Wang 2018."
)


def best_peers(dataset: Dataset, _name: str, delta: float, epsilon: float) -> dict[str, float]:
    """Return the errors of polynomials and binned means at their best, by title, in the output's unit. They are not
    private.
    """
    s, folds = noise_multiplier(epsilon, delta), folds_of(dataset)
    best = (best_by_oracle(tried, dataset, folds, s, DRAWS, PEERS_SEED) for tried in settings(dataset.X.shape[1]))
    return {peer.title: float(errors.mean()) for peer, errors in best}


def table(peers: dict[str, float], scale: Scale) -> pd.DataFrame:
    """Return a row for each mechanism."""
    errors = [scale.rounded(error) for error in peers.values()]
    return pd.DataFrame({"mechanism": list(peers), f"error [{scale.unit}]": errors})
