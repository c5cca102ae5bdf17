"""Errors of the compared methods as they become available: kept, shipped, or computed fold by fold."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets import EXHIBITS, exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation.comparison import Piece
from dpgp_core.evaluation.errors import epsilon_on_curve
from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.table import Dataset
from pages._ui import left_out
from pages._ui.cloaking import computed as cloaking
from pages._ui.cloaking.cells import LAYERS, public_cells, released_prices
from pages._ui.cloaking.results import LEVEL, Scene
from pages._ui.compare import contenders
from pages._ui.compare.contenders import (
    BY_WAIT,
    CONTENDERS,
    CURVE_EPSILONS,
    Contest,
    Curve,
    Possible,
    Scale,
    contender,
    scale_of,
)
from pages._ui.left_out import FOLDS, without_privacy
from pages._ui.look import offers, text
from pages._ui.model import Budget, Model, usual
from pages._ui.work import cached, engine, waiting
from pages._ui.work.cached import Prefetch


def dataset(contest: Contest) -> Dataset:
    """The data set of the contest."""
    return cached.dataset(contest.model.dataset)


def curve(contest: Contest, name: str, epsilon: float | None = None) -> Curve:
    """Return error against epsilon for one contender; see ``growing``."""
    return list(growing(contest, name, epsilon))[-1][0]


def growing(
    contest: Contest, name: str, epsilon: float | None = None, progress: str = "Errors of "
) -> Iterator[tuple[Curve, int]]:
    """Yield the curve from more and more folds, and their number, if each fold takes long; the last curve is complete.

    Args:
        contest: the settings.
        name: name of the contender.
        epsilon: where the error has to be simulated, with intervals, while the others may be interpolated
            (``_interpolated``). None if all errors have to be simulated, and no intervals.
        progress: precedes the contender's title on the progress bar while the page waits.
    """
    if not is_slow(name):
        yield together(contest, [name], epsilon, f"{progress}{CONTENDERS[name].title}")[name], FOLDS
        return
    concern = concerning(contest, name)
    known, absent = _known(concern, name, epsilon)
    if known is None:
        absent, pieces, doing = [], [], f"{progress}{CONTENDERS[name].title}"
        with waiting.whole([1.0] * FOLDS) as part_is_done:
            for index in range(FOLDS):
                pieces.append(_piece(concern, name, index, doing))
                part_is_done()
                if len(pieces) < FOLDS:
                    yield contenders.joined(pieces, concern, name), len(pieces)
        known = cached.value(doing, contenders.joined, concern, name, given=(pieces,), here=True)
    for each in absent:
        known = with_simulated(known, contest, name, each, progress)
    yield known, FOLDS


def together(contest: Contest, names: Sequence[str], epsilon: float | None, doing: str) -> dict[str, Curve]:
    """Return the curves of contenders that are not slow; one task computes all that is missing. See ``growing``."""
    known = {name: _known(concerning(contest, name), name, epsilon) for name in names}
    requests = [each for name, found in known.items() for each in _requests(concerning(contest, name), name, *found)]
    made = {each.key: value for each, value in zip(requests, _simulated(contest, requests, doing), strict=True)}
    curves = {}
    for name, (curve, absent) in known.items():
        whole = Prefetch(contenders.curve, (concerning(contest, name), name), ())
        curves[name] = made[whole.key] if curve is None else curve
        for each in absent:
            curves[name] = with_simulated(curves[name], contest, name, each)
    return curves


def _simulated(contest: Contest, requests: Sequence[Prefetch], doing: str) -> list[Curve]:
    held = cached.find(left_out.hold, contest.model, left_out.REFINED) or ()  # plans of other pages, and of the error
    return cached.together(doing, contenders.simulated, requests, (dataset(contest), held))


def at_once(contest: Contest, names: Sequence[str], epsilon: float) -> dict[str, Curve]:
    """Return the curves that can be drawn before anything is simulated; some of their errors may be interpolated."""
    known = ((name, _known(concerning(contest, name), name, epsilon)[0]) for name in names)
    return {name: curve for name, curve in known if curve is not None and np.isfinite(curve.errors).all()}


def _known(concern: Contest, name: str, epsilon: float | None) -> tuple[Curve | None, list[float]]:
    """Return what is known of a curve, and the values of epsilon that remain to be simulated, besides the curve if it
    is None.
    """
    whole = _whole(concern, name)
    if epsilon is None:
        return whole, []
    if whole is None and (drawn := _interpolated(concern, name)) is not None:
        return drawn, _to_simulate(drawn, epsilon)
    lacks = contender(concern, name, epsilon).has_interval and (whole is None or _lacks_interval(whole, epsilon))
    return whole, [epsilon] if lacks else []


def _lacks_interval(curve: Curve, epsilon: float) -> bool:
    return bool(np.isnan(curve.half_width[CURVE_EPSILONS.index(epsilon)]))


def _requests(concern: Contest, name: str, known: Curve | None, absent: Sequence[float]) -> Iterator[Prefetch]:
    """Yield the requests for what ``_known`` lacks, unless it belongs to the errors that all pages share."""
    given = (dataset(concern),)
    if known is None:
        yield Prefetch(contenders.curve, (concern, name), given)
    for each in absent:
        if contenders.budget_of(concern, name, each) is None:
            yield Prefetch(contenders.point, (concern, name, each), given)


# Kept next to the curve at the usual delta, these points make its range of noise multipliers that of all deltas
ENDS = (CURVE_EPSILONS[0], offers.DELTAS[0]), (CURVE_EPSILONS[-1], offers.DELTAS[-1])


def _interpolated(concern: Contest, name: str) -> Curve | None:
    """Return the curve of a contender interpolated from the errors that are kept or shipped at the usual delta.

    Its errors are NaN at a noise multiplier outside the range of those that are kept. The result is None if no curve is
    kept, or if the contender's releases do not depend on (epsilon, delta) through the noise multiplier alone.
    """
    usual_delta = replace(concern, delta=offers.DELTA)
    whole = None if concern == usual_delta else _whole(usual_delta, name)
    wanted = _multipliers(concern, name)
    if whole is None or not wanted or whole.errors.shape[1] != CONTENDERS[name].simulated:
        return None
    known, multipliers = [whole], _multipliers(usual_delta, name)
    for epsilon, delta in ENDS:
        end = replace(concern, delta=delta)
        if (found := _point(end, name, epsilon)) is not None:
            known, multipliers = [*known, found], [*multipliers, *_multipliers(end, name, epsilon)]
    return contenders.interpolated(known, multipliers, wanted)


def _multipliers(concern: Contest, name: str, *epsilons: float) -> list[float]:
    """Return noise multipliers at these values of epsilon, or at those of a curve; see ``multipliers``."""
    settings = concern, name, epsilons or CURVE_EPSILONS
    return cached.value("Computing the noise", contenders.multipliers, *settings, here=True)


def _to_simulate(interpolated: Curve, epsilon: float) -> list[float]:
    """Return the values of epsilon whose errors have to be simulated: this one first, and those not interpolated."""
    return [epsilon, *(each for each in CURVE_EPSILONS if each not in (epsilon, *interpolated.interpolated))]


def _point(concern: Contest, name: str, epsilon: float) -> Curve | None:
    """Return the simulated errors at one epsilon if they are kept or shipped."""
    budget = contenders.budget_of(concern, name, epsilon)
    if budget is None:
        return cached.find(contenders.point, concern, name, epsilon)
    found = cached.find(left_out.joined, budget)
    return None if found is None else contenders.curve_of([found])


def with_simulated(curve: Curve, contest: Contest, name: str, epsilon: float, progress: str = "Errors of ") -> Curve:
    """Return the curve with simulated errors at an epsilon; for Bayes cloaking, with those that all pages share."""
    concern = concerning(contest, name)
    budget, doing = contenders.budget_of(concern, name, epsilon), f"{progress}{CONTENDERS[name].title}"
    if budget is None:
        point = cached.value(doing, contenders.point, concern, name, epsilon, given=(dataset(contest),))
    else:
        errors = left_out.simulated_errors(budget)
        assert errors is not None  # the page waits for it
        point = contenders.curve_of([errors])
    return curve.replaced_at(epsilon, point)


def is_ready(contest: Contest, name: str, epsilon: float | None = None) -> bool:
    """Return whether the curve of a contender is available without waiting; see ``growing``."""
    concern = concerning(contest, name)
    known, absent = _known(concern, name, epsilon)
    return known is not None and all(_point(concern, name, each) is not None for each in absent)


def is_slow(name: str) -> bool:
    """Return whether a contender's curve is computed fold by fold: that of Bayes cloaking, unless there is a
    cluster.
    """
    return CONTENDERS[name].kind.automatic and not engine.elsewhere()


def _piece(concern: Contest, name: str, index: int, doing: str) -> Piece:
    """Return one fold of the curve of Bayes cloaking, from the errors that all pages share."""
    given = (dataset(concern),)
    requests = [Prefetch(left_out.fold_residuals, (each, index), given) for each in _budgets(concern, name)]
    return contenders.piece_of(cached.values(doing, requests))


def _budgets(concern: Contest, name: str) -> list[Budget]:
    """Return the budget of Bayes cloaking at every epsilon; [] for other contenders."""
    every = (contenders.budget_of(concern, name, epsilon) for epsilon in CURVE_EPSILONS)
    return [each for each in every if each is not None]


def _whole(concern: Contest, name: str) -> Curve | None:
    joined = cached.find(contenders.joined, concern, name) if is_slow(name) else None
    if joined is not None:
        return joined
    if not (budgets := _budgets(concern, name)):
        return cached.find(contenders.curve, concern, name)
    found = [cached.find(left_out.joined, each) for each in budgets]
    every = [each for each in found if each is not None]
    if len(every) == len(budgets):
        return contenders.curve_of(every)
    return None if is_slow(name) else cached.find(contenders.curve, concern, name)


def needed(curve: Curve, target: float) -> float | None:
    """Return the epsilon at which a curve reaches a target error, in the output's unit; None if it does not."""
    return epsilon_on_curve(CURVE_EPSILONS, curve.mean, target)


@dataclass(frozen=True, eq=False)
class Compared:
    """Contenders with the same settings. Errors and the epsilons needed are not private.

    Attributes:
        contest: the settings.
        epsilon: one of ``CURVE_EPSILONS``, where they are ranked.
        target: largest acceptable error, in the output's unit.
        nonprivate: error without privacy, in the output's unit.
        curves: errors of the contenders, in the order of the table.
        needs: epsilon that each needs for the target; None if it is larger than those drawn.
    """

    contest: Contest
    epsilon: float
    target: float
    nonprivate: float
    curves: dict[str, Curve]
    needs: dict[str, float | None]

    @property
    def settings(self) -> tuple[Hashable, ...]:
        """All settings that determine it."""
        return self.contest, self.epsilon, self.target, tuple(self.curves), self.interpolated

    @property
    def interpolated(self) -> tuple[tuple[float, ...], ...]:
        """Values of epsilon at which the errors of each curve are interpolated."""
        return tuple(each.interpolated for each in self.curves.values())

    @property
    def scale(self) -> Scale:
        """Scale on which errors are shown."""
        return scale_of(dataset(self.contest))

    @property
    def at(self) -> int:
        """Index of its epsilon on the curves."""
        return CURVE_EPSILONS.index(self.epsilon)


def compared(contest: Contest, epsilon: float, target: float, curves: dict[str, Curve]) -> Compared:
    """Return the curves, with the epsilon that each contender needs for a target error in the output's unit."""
    nonprivate = without_privacy(contest.model.dataset, contest.model)
    needs = {name: needed(each, target) for name, each in curves.items()}
    return Compared(contest, epsilon, target, nonprivate, curves, needs)


def release(contest: Contest, name: str, epsilon: float) -> Drawn:
    """Return one simulated release of a contender."""
    given = dataset(contest), cloaking.scene(contest.model.dataset)
    doing = f"Drawing a release of {CONTENDERS[name].title}"
    return cached.value(doing, drawn, concerning(contest, name), name, epsilon, given=given)


def peers(contest: Contest, epsilon: float) -> dict[str, float]:
    """Return the errors of other methods at their best setting, by title, in the output's unit."""
    settings = contest.model.dataset, contest.delta, epsilon
    doing = "Trying polynomials and binned means"
    return cached.value(doing, contenders.best_peers, *settings, given=(dataset(contest),))


def limits(contest: Contest) -> Possible:
    """Return the lower limits of error under the page's prior at its delta."""
    data = dataset(contest)
    settings = [(contest.model, contest.delta, epsilon) for epsilon in contenders.EPSILONS]
    requests = [Prefetch(contenders.possible_at, each, (data,)) for each in settings]
    return contenders.possible(cached.values("Asking what is possible under the prior", requests), data.y_scale)


BINS, INDUCING = 10, 6  # with which pages open
# Data set and bins of a lesson of Compare, which take more than a minute of processor time
LINKED = {"london_hexes": 6}


def opened() -> list[Contest]:
    """Return the contest with which Start and Compare open, and those to which a lesson leads."""
    first = next(each.name for each in EXHIBITS.values() if each.cross_validated)
    bins_of = {first: BINS} | LINKED
    return [Contest(usual(name), offers.DELTA, bins, INDUCING) for name, bins in bins_of.items()]


def opening_curves() -> Iterator[Prefetch]:
    """Yield the curves of these contests, with the intervals at the first epsilon; without Bayes cloaking."""
    for contest in opened():
        for name in BY_WAIT:
            if not _budgets(contest, name):
                concern, given = concerning(contest, name), (dataset(contest),)
                yield Prefetch(contenders.curve, (concern, name), given)
                yield Prefetch(contenders.point, (concern, name, float(offers.EPSILON.default)), given)


def foresee(contest: Contest, names: Sequence[str], epsilon: float | None = None) -> None:
    """Request in advance what is missing of the curves on screen, then of those one step of a slider away."""
    ahead: dict[tuple[Contest, str, float | None], None] = {}  # in order, each once
    steps = [] if epsilon is None else offers.neighbours(CURVE_EPSILONS, epsilon)
    for each, at in [
        (contest, epsilon),
        *((contest, at) for at in steps),
        *((each, epsilon) for each in neighbours(contest)),
    ]:
        ahead |= {(concerning(each, name), name, at): None for name in names}
    cached.prefetch(*(request for each in ahead for request in _missing(*each)))


def neighbours(contest: Contest) -> list[Contest]:
    """Return the contests one step of delta or of the lengthscale away."""
    model = contest.model
    lengths = offers.neighbours(exhibit(model.dataset).lengthscales, model.lengthscale)
    return [
        *(replace(contest, delta=delta) for delta in offers.neighbours(offers.DELTAS, contest.delta)),
        *(replace(contest, model=replace(model, lengthscale=length)) for length in lengths),
    ]


def _missing(concern: Contest, name: str, epsilon: float | None) -> Iterator[Prefetch]:
    """Yield what ``growing`` has to compute."""
    known, absent = _known(concern, name, epsilon)
    if known is not None or not is_slow(name):
        for request in _requests(concern, name, known, absent):
            if cached.find(request.function, *request.settings) is None:
                yield request
        for budget in (contenders.budget_of(concern, name, each) for each in absent):
            if budget is not None:
                yield from left_out.missing_folds(left_out.fold_residuals, budget)
        return
    for index in reversed(range(FOLDS)):  # a page that waits begins with the first, so that they meet half way
        for budget in reversed(_budgets(concern, name)):
            if cached.find(left_out.fold_residuals, budget, index) is None:
                yield Prefetch(left_out.fold_residuals, (budget, index), (dataset(concern),))


SEED = 1  # number of the simulated release
_WIDTH = f"{100 * LEVEL:g} % interval, half [%]"
# The interval includes the uncertainty of the model, so it hides no value
LAYER = replace(LAYERS["private"], hides=None)


@dataclass(frozen=True, eq=False)
class Drawn:
    """One simulated release at those rows of a scene that are in the declared box; elsewhere there are no bins.

    Attributes:
        rows: which rows of the scene these are (P,).
        published: released values (P,), in the output's unit.
        outputs, curve: ends (2, P) of the interval at ``LEVEL`` for one more output, and for the curve; None if the
            mechanism has none.
    """

    rows: NDArray[np.intp]
    published: FloatArray
    outputs: FloatArray | None
    curve: FloatArray | None


def drawn(dataset: Dataset, scene: Scene, contest: Contest, name: str, epsilon: float) -> Drawn:
    """Release all records once, with the noise of number ``SEED``."""
    mechanism = contender(contest, name, epsilon)
    low, high = np.array(dataset.x_box).T
    rows = np.flatnonzero(((low <= scene.X_test) & (scene.X_test <= high)).all(axis=1))
    release = left_out.released(mechanism, dataset, scene.X_test[rows], np.random.default_rng(SEED))
    if isinstance(release.uncertainty, NoInterval):
        return Drawn(rows, release.samples[0], None, None)
    outputs, curve = (np.stack([end[0] for end in release.interval(LEVEL, of)]) for of in ("outputs", "function"))
    return Drawn(rows, release.samples[0], outputs, curve)


def cells(release: Drawn, scene: Scene, dataset: Dataset) -> pd.DataFrame:
    """Return a row for each cell of a price map: public labels, the released price, and how far the curve may be from
    it.
    """
    table = public_cells(scene).iloc[release.rows]
    table[LAYER.column] = released_prices(release.published, dataset)
    if release.curve is not None:
        table[_WIDTH] = (100 * np.expm1(np.minimum(np.diff(release.curve, axis=0)[0] / 2, 20))).round(1)
    return table


def caption(release: Drawn, scene: Scene, dataset: Dataset, name: str, epsilon: float) -> str:
    """Return the caption of the picture of one simulated release."""
    title = CONTENDERS[name].title
    note = f"One release of all records by {title} at ε = {epsilon:g}: simulated release {SEED}, for teaching."
    if release.curve is None:
        note += " It has no interval."
    elif scene.labels is not None:
        half = float(np.median(np.diff(release.curve, axis=0))) / 2
        note += f" Half of its {100 * LEVEL:g} % interval: {text.factor_of(half)} at a typical hexagon; see the table."
    if scene.labels is None and dataset.X.shape[1] > 1:
        note += f" Along {dataset.x_names[0]}; {' and '.join(dataset.x_names[1:])} in the middle of what is declared."
    return note


def finding(release: Drawn, scene: Scene, dataset: Dataset, epsilon: float) -> str:
    """Return a sentence that says how well a release knows a typical value. Its interval is part of the release."""
    if release.curve is None:
        return f"At ε = {epsilon:g} the curve is published without an interval"
    half = float(np.median(np.diff(release.curve, axis=0))) / 2
    within = text.factor_of(half) if scene.labels is not None else f"{text.number(half)} {dataset.y_unit}"
    return f"At ε = {epsilon:g} a typical value of the curve is known to within {within}"


def _settings_of(name: str) -> frozenset[str]:
    """Return the settings from which a contender is built, so that changing them changes its mechanism."""
    one = Contest(Model("kung", "EQ", 25.0, 0.3), 0.01, 10, 6)
    moved: dict[str, Any] = {"model": Model("kung", "EQ", 15.0, 0.5), "delta": 0.001, "bins": 20, "inducing": 20}
    built = contender(one, name, 1.0)
    return frozenset(
        each for each, value in moved.items() if contender(replace(one, **{each: value}), name, 1.0) != built
    )


_SETTINGS = {name: _settings_of(name) for name in CONTENDERS}


def concerning(contest: Contest, name: str) -> Contest:
    """Return the contest with settings that do not affect a contender at fixed values.

    A curve is then computed once for all contests that differ only in such settings, for example in the number of bins.
    """
    some: dict[str, Any] = {"model": usual(contest.model.dataset), "delta": 0.01, "bins": 1, "inducing": 1}
    return replace(contest, **{each: value for each, value in some.items() if each not in _SETTINGS[name]})
