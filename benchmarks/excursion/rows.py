"""Rows of ``benchmarks/excursion/tables.py``: settings are searched, releases drawn, their sets scored."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np

from benchmarks.excursion.parts import Part
from benchmarks.excursion.paths import hall_mean, hall_paths, posterior_paths, search_hall
from datasets import STUDIES
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.excursion.search import PathSetting, search
from dpgp_core.excursion.sets import (
    Targets,
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    posterior_marginals,
    smoothed,
)
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import BayesCloaking

BUDGETS = (math.inf, 10.0, 3.0)
Row = dict[str, object]


def probabilities(targets: Targets, setting: PathSetting, *, hall: bool) -> FloatArray:
    """Excursion probability of one release at every grid point of every training set (T, P)."""
    kernel, q = Matern12(lengthscale=setting.lengthscale), setting.r**2
    p = np.empty(targets.truth.shape)
    for row, X, y in zip(p, targets.X, targets.y, strict=True):
        if hall:
            mean, sd = hall_mean(kernel, X, y, targets.grid, q), np.asarray(setting.scale / q)
        else:
            means, variances = posterior_marginals(kernel, X, y, targets.grid, np.array([q]))
            mean, sd = means[0], setting.scale * np.sqrt(variances[0])
        row[:] = excursion_probability(mean, sd**2, targets.threshold)
    return p


def path_scores(part: Part, setting: PathSetting, draws: int, rng: np.random.Generator, *, hall: bool) -> FloatArray:
    """IoU of every draw (T, draws) of a one-path release."""
    draw = hall_paths if hall else posterior_paths
    paths = draw(Matern12(lengthscale=setting.lengthscale), part.report, setting.r**2, setting.scale, draws, rng)
    if part.side:
        paths = smoothed(paths, part.side)
    return iou(paths >= part.report.threshold, part.report.truth[:, None])


def row(
    limit: str,
    release: str,
    setting: PathSetting,
    part: Part,
    losses: tuple[FloatArray, FloatArray],
    scores: FloatArray,
) -> Row:
    """One line of a table; ``losses`` are this release's and those without a limit, ``scores`` (T, draws)."""
    K = [Matern12(lengthscale=setting.lengthscale)(X, X) for X in part.report.X]
    d_eff = np.median([effective_dimension(each, setting.r**2) for each in K])
    increase = 100 * np.median(losses[0] / losses[1] - 1)
    each = scores.mean(axis=1) if len(scores) > 1 else scores[0]
    low, middle, high = np.quantile(each, (0.25, 0.5, 0.75))
    spread = f"{np.median(scores.std(axis=1, ddof=1)):.3f}" if scores.shape[1] > 1 else "-"
    found = ("any", "-") if release == "Hall" else (f"{setting.r:.3g}", f"{d_eff:.1f}")  # t = 0
    return {
        "limit": limit,
        "release": release,
        "length": f"{setting.lengthscale:.3g}",
        "r": found[0],
        "s or c": f"{setting.scale:.3g}",
        "epsilon": f"{setting.epsilon:.4g}",
        "d_eff": found[1],
        "BCE": f"{losses[0].mean():.3f}",
        "+BCE": f"{increase:+.0f} %",
        "IoU": f"{middle:.3f}",
        "quartiles": f"{low:.3f}-{high:.3f}",
        "path sd": spread,
    }


def bayes_probabilities(part: Part, setting: PathSetting, sets: int, seed: int) -> FloatArray:
    """Excursion probability of one Bayes release at every grid point of the first ``sets`` reported sets (sets, P)."""
    study, report = STUDIES[part.study], part.report
    public = study.shown(noise=0.0, threshold=report.threshold)[0]  # bounds and box
    kernel = Matern12(variance=TUNING.curve_variance, lengthscale=setting.lengthscale)
    bayes = BayesCloaking(epsilon=setting.epsilon, delta=part.delta, protects="inputs and outputs", kernels=[kernel])
    level, p = np.full(len(report.grid), report.threshold), []
    for number, (X, y) in enumerate(zip(report.X[:sets], report.y[:sets], strict=True)):
        dataset = replace(public, X=X, y=y, labels={})
        release = bayes.release(dataset, report.grid, np.random.default_rng([seed, number]))
        p.append(1 - release.uncertainty.prediction.probability_below(level, study.truth_of)[0])
    return np.array(p)


def bayes_row(limit: str, setting: PathSetting, part: Part, base: FloatArray, sets: int, seed: int) -> Row:
    """The line of Bayes cloaking at the epsilon of one path; ``base`` are the losses without a limit (T,)."""
    p = bayes_probabilities(part, setting, sets, seed)
    truth = part.report.truth[: len(p)]
    loss = binary_cross_entropy(p, truth)
    low, middle, high = np.quantile(iou(p >= 0.5, truth), (0.25, 0.5, 0.75))
    return {
        "limit": limit,
        "release": f"Bayes, {len(p)} of {len(part.report.truth)} sets",
        "length": "mixed",
        "r": "-",
        "s or c": "-",
        "epsilon": f"{setting.epsilon:.4g}",
        "d_eff": "-",
        "BCE": f"{loss.mean():.3f}",
        "+BCE": f"{100 * np.median(loss / base[: len(p)] - 1):+.0f} %",
        "IoU": f"{middle:.3f}",
        "quartiles": f"{low:.3f}-{high:.3f}",
        "path sd": "-",
    }


def rows(part: Part, draws: int, seed: int, executor: Executor | None = None, bayes_sets: int = 0) -> list[Row]:
    """Search, draw and score everything that one table shows; the searches run on the executor."""
    rng = np.random.default_rng(seed)
    settings = search(part.tuning, part.cost("proven"), BUDGETS, executor=executor)
    free, limited = settings[0], settings[1:]
    truth = part.report.truth
    p = probabilities(part.report, free, hall=False)
    base = binary_cross_entropy(p, truth)
    cutoff = choose_cutoff(probabilities(part.validation, free, hall=False), part.validation.truth)
    lines = [
        row("none", f"not private, p >= {cutoff:.2f}", free, part, (base, base), iou(p >= cutoff, truth)[:, None]),
        row("none", "one path", free, part, (base, base), path_scores(part, free, draws, rng, hall=False)),
    ]
    releases = [(f"{limit:g}", "one path", found, False) for limit, found in zip(BUDGETS[1:], limited, strict=True)]
    hall = search_hall(part.tuning, [found.epsilon for found in limited], part.delta, executor=executor)
    releases += [(f"{limit:g}", "Hall", found, True) for limit, found in zip(BUDGETS[1:], hall, strict=True)]
    path_at = {f"{limit:g}": found for limit, found in zip(BUDGETS[1:], limited, strict=True)}
    if part.published:
        old = search(part.tuning, part.cost("published"), part.published, executor=executor)
        releases += [
            (f"{limit:g}", "one path, published", s, False) for limit, s in zip(part.published, old, strict=True)
        ]
    for limit, release, setting, is_hall in sorted(releases, key=lambda each: -float(each[0])):
        loss = binary_cross_entropy(probabilities(part.report, setting, hall=is_hall), truth)
        scores = path_scores(part, setting, draws, rng, hall=is_hall)
        lines.append(row(limit, release, setting, part, (loss, base), scores))
        if is_hall and bayes_sets:
            lines.append(bayes_row(limit, path_at[limit], part, base, bayes_sets, seed))
    return lines
