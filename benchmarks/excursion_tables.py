"""What privacy costs an excursion set: posterior sampling against Hall's release, at equal epsilon.

    python -m benchmarks.excursion_tables            # about five minutes on two cores
    python -m benchmarks.excursion_tables --parts curve --curve-sets 100
    python -m benchmarks.excursion_tables --scheduler tcp://10.0.0.1:8786   # searches on a Dask cluster

Every part draws training sets in three groups: settings (lengthscale, r, s) are searched on the
first, the cutoff of the non-private estimate {p >= C} is chosen on the second, the third is
reported. IoU is the median over the reported sets, for paths of the mean over their draws, with
its quartiles; "path sd" is the median over the sets of the standard deviation over draws. BCE is the
mean over the reported sets, its increase the median over them against the search without a limit.
Hall's noise gives exactly the epsilon of the posterior-sampling row above it, and so does Bayes cloaking that protects
inputs and outputs: one release about each of the first ``--bayes-sets`` reported sets (their number is in the row), the
path's kernel mixed with its neighbours and the automatic models; its set is {p >= 1/2}, and no cutoff is chosen.

"one curve" uses one target for all sets, as the published experiment does: the golden figures are
for that part and for 2-D, with the published accounting, whose rows say so.
London: settings come from simulated maps at the hexagons' positions, never from prices. The set that
a release is compared with is that of the medians themselves, so the non-private figure is in-sample.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is first imported

import numpy as np  # noqa: E402

from datasets import STUDIES, excursion_1d, london_excursion, plumes_2d  # noqa: E402
from dpgp_core.accounting.posterior_epsilon import posterior_sampling_epsilon  # noqa: E402
from dpgp_core.arrays import FloatArray  # noqa: E402
from dpgp_core.bayes.models import AUTO_VARIANCE  # noqa: E402
from dpgp_core.excursion.grid_search import EpsilonOfSetting, PathSetting  # noqa: E402
from dpgp_core.excursion.marginals import hall_mean, hall_paths, posterior_marginals, posterior_paths  # noqa: E402
from dpgp_core.excursion.search import search, search_hall  # noqa: E402
from dpgp_core.excursion.sets import (  # noqa: E402
    Targets,
    binary_cross_entropy,
    choose_cutoff,
    effective_dimension,
    excursion_probability,
    iou,
    smoothed,
)
from dpgp_core.kernels import Matern12  # noqa: E402
from dpgp_core.mechanisms import BayesCloaking  # noqa: E402
from pages._ui.work.engine import engine  # noqa: E402

PARTS = ("curve", "curves", "plumes", "london", "speed")
SPEED_TARGET = 20.0  # seconds, docs/targets.md; published script: 190 to 463 s
BUDGETS = (math.inf, 10.0, 3.0)
DELTA_1D = 0.005
COLUMNS = (
    "limit",
    "release",
    "length",
    "r",
    "s or c",
    "epsilon",
    "d_eff",
    "BCE",
    "+BCE",
    "IoU",
    "quartiles",
    "path sd",
)
GOLDEN = {  # docs/targets.md: (non-private, one private path)
    "one curve": {0.1: (0.956, 0.891), 0.3: (0.948, 0.864), 0.5: (0.939, 0.792), 0.6: (0.925, 0.758)},
    "plumes": {0.1: (0.975, 0.843), 0.3: (0.945, 0.827), 0.5: (0.907, 0.798)},
}

Cost = Callable[[str], EpsilonOfSetting]
"""Map an accounting, "proven" or "published", to the cost of a setting."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """One table: the three groups of training sets and what a release of them costs."""

    title: str
    study: str
    tuning: Targets
    validation: Targets
    report: Targets
    cost: Cost
    delta: float
    side: int = 0  # of the grid, if paths are to be smoothed on it
    published: tuple[float, ...] = ()  # limits that are also searched with the published accounting


def accounting(n: int, diameter: float, delta: float, sensitivity: str) -> Cost:
    """Cost of one posterior path of the exponential kernel on a domain of the given diameter, |y| <= 1."""

    def cost(bound: str) -> EpsilonOfSetting:
        def epsilon(lengthscale: FloatArray, r: FloatArray, scale: FloatArray) -> FloatArray:
            kappa = np.exp(-diameter / lengthscale)
            return np.asarray(
                posterior_sampling_epsilon(n, r, scale, kappa, delta, sensitivity=sensitivity, bound=bound)
            )

        return epsilon

    return cost


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
) -> tuple[str, ...]:
    """One line of a table; ``losses`` are this release's and those without a limit, ``scores`` (T, draws)."""
    K = [Matern12(lengthscale=setting.lengthscale)(X, X) for X in part.report.X]
    d_eff = np.median([effective_dimension(each, setting.r**2) for each in K])
    increase = 100 * np.median(losses[0] / losses[1] - 1)
    each = scores.mean(axis=1) if len(scores) > 1 else scores[0]
    low, middle, high = np.quantile(each, (0.25, 0.5, 0.75))
    spread = f"{np.median(scores.std(axis=1, ddof=1)):.3f}" if scores.shape[1] > 1 else "-"
    return (
        limit,
        release,
        f"{setting.lengthscale:.3g}",
        "any" if release == "Hall" else f"{setting.r:.3g}",  # t = 0
        f"{setting.scale:.3g}",
        f"{setting.epsilon:.4g}",
        "-" if release == "Hall" else f"{d_eff:.1f}",
        f"{losses[0].mean():.3f}",
        f"{increase:+.0f} %",
        f"{middle:.3f}",
        f"{low:.3f}-{high:.3f}",
        spread,
    )


def bayes_probabilities(part: Part, setting: PathSetting, sets: int, seed: int) -> FloatArray:
    """Excursion probability of one Bayes release at every grid point of the first ``sets`` reported sets (sets, P)."""
    study, report = STUDIES[part.study], part.report
    public = study.shown(noise=0.0, threshold=report.threshold)[0]  # bounds and box
    kernel = Matern12(variance=AUTO_VARIANCE, lengthscale=setting.lengthscale)
    bayes = BayesCloaking(epsilon=setting.epsilon, delta=part.delta, protects="inputs and outputs", kernels=[kernel])
    level, p = np.full(len(report.grid), report.threshold), []
    for number, (X, y) in enumerate(zip(report.X[:sets], report.y[:sets], strict=True)):
        dataset = replace(public, X=X, y=y, labels={})
        release = bayes.release(dataset, report.grid, np.random.default_rng([seed, number]))
        p.append(1 - release.uncertainty.prediction.probability_below(level, study.truth_of)[0])
    return np.array(p)


def bayes_row(limit: str, setting: PathSetting, part: Part, base: FloatArray, sets: int, seed: int) -> tuple[str, ...]:
    """The line of Bayes cloaking at the epsilon of one path; ``base`` are the losses without a limit (T,)."""
    p = bayes_probabilities(part, setting, sets, seed)
    truth = part.report.truth[: len(p)]
    loss = binary_cross_entropy(p, truth)
    low, middle, high = np.quantile(iou(p >= 0.5, truth), (0.25, 0.5, 0.75))
    return (
        limit,
        f"Bayes, {len(p)} of {len(part.report.truth)} sets",
        "mixed",
        "-",
        "-",
        f"{setting.epsilon:.4g}",
        "-",
        f"{loss.mean():.3f}",
        f"{100 * np.median(loss / base[: len(p)] - 1):+.0f} %",
        f"{middle:.3f}",
        f"{low:.3f}-{high:.3f}",
        "-",
    )


def rows(
    part: Part, draws: int, seed: int, executor: Executor | None = None, bayes_sets: int = 0
) -> list[tuple[str, ...]]:
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


def split(targets: Targets, sizes: Sequence[int]) -> list[Targets]:
    """Cut a batch of training sets into consecutive groups."""
    edges = np.cumsum([0, *sizes])
    parts = [slice(low, high) for low, high in pairwise(edges)]
    return [
        Targets(X=targets.X[s], y=targets.y[s], grid=targets.grid, truth=targets.truth[s], threshold=targets.threshold)
        for s in parts
    ]


def curve_part(noise: float, sets: int, size: int, seed: int, *, one_curve: bool) -> Part:
    """1-D: ``sets`` training sets of n = 100, of one curve or of as many curves."""
    batch = excursion_1d.targets(sets, noise=noise, seed=seed, one_curve=one_curve, size=size)
    tuning, validation, report = split(batch, thirds(sets))
    name = "one curve" if one_curve else "many curves"
    ratio = f"M_xi {noise:g}, NSR {noise / (1 - noise):.2f}"
    return Part(
        title=f"1-D, {name}, {ratio}, n = 100, delta = {DELTA_1D:g}" + golden("one curve" if one_curve else "", noise),
        study="curve",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(100, 1.0, DELTA_1D, "exponential_1d"),
        delta=DELTA_1D,
        published=(3.0,) if one_curve else (),
    )


def plumes_part(noise: float, sets: int, coarse_side: int, side: int, seed: int) -> Part:
    """2-D: settings and cutoff on a coarse grid, paths on a finer one."""
    n = 400
    delta = n**-1.1
    sizes = thirds(sets)
    tuning, validation, _ = split(plumes_2d.targets(sets, noise=noise, seed=seed, side=coarse_side), sizes)
    report = split(plumes_2d.targets(sets, noise=noise, seed=seed, side=side), sizes)[2]
    return Part(
        title=f"2-D plumes, M_xi {noise:g}, n = {n}, delta = n^-1.1, paths smoothed on {side} x {side}"
        + golden("plumes", noise),
        study="plumes",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(n, math.sqrt(2), delta, "generic"),
        delta=delta,
        side=side,
        published=(10.0,),
    )


def london_part(sets: int, seed: int) -> Part:
    """London: simulated maps to choose on, the real medians to report on."""
    data = london_excursion.load()
    delta = data.n**-1.1
    tuning, validation, _ = split(london_excursion.search_targets(sets, seed=seed), thirds(sets))
    y = data.clipped_y
    report = Targets(X=data.X[None], y=y[None], grid=data.X, truth=(y >= 0)[None])
    return Part(
        title=f"London, {data.n} hexagons, ln price >= {london_excursion.THRESHOLD:g}, quartiles over draws",
        study="london",
        tuning=tuning,
        validation=validation,
        report=report,
        cost=accounting(data.n, math.sqrt(2), delta, "generic"),
        delta=delta,
    )


def thirds(sets: int) -> tuple[int, int, int]:
    """Sizes of the three groups: 40 % to search on, 30 % to validate, 30 % to report, none empty."""
    some = max(1, round(0.3 * sets))
    return max(1, sets - 2 * some), some, some


def golden(name: str, noise: float) -> str:
    """The golden figures of a part as a remark."""
    if noise not in GOLDEN.get(name, {}):
        return ""
    estimate, path = GOLDEN[name][noise]
    return f"; golden: not private {estimate:.3f}, one path {path:.3f} (published accounting)"


def table(lines: Sequence[tuple[str, ...]]) -> str:
    """Lay the rows out in columns."""
    cells = [COLUMNS, *lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def parts(options: argparse.Namespace) -> list[Callable[[], Part]]:
    """Builders of the chosen parts."""
    chosen: list[Callable[[], Part]] = []
    o = options
    for name, one_curve in (("curve", True), ("curves", False)):
        if name in o.parts:
            chosen += [
                partial(curve_part, noise, o.curve_sets, o.curve_grid, o.curve_seed, one_curve=one_curve)
                for noise in excursion_1d.NOISE_OF_RATIO.values()
            ]
    if "plumes" in o.parts:
        chosen += [
            partial(plumes_part, noise, o.plume_sets, o.coarse_side, o.side, o.seed) for noise in GOLDEN["plumes"]
        ]
    if "london" in o.parts:
        chosen.append(partial(london_part, o.london_sets, o.seed))
    return chosen


def speed_line(sets: int, size: int, seed: int) -> str:
    """Time the 1-D search on all of ``sets`` training sets, for all limits together."""
    targets = excursion_1d.targets(sets, seed=seed, one_curve=True, size=size)
    began = time.perf_counter()
    search(targets, accounting(100, 1.0, DELTA_1D, "exponential_1d")("proven"), BUDGETS)
    seconds = time.perf_counter() - began
    limits = ", ".join("none" if math.isinf(limit) else f"{limit:g}" for limit in BUDGETS)
    return f"search, {sets} sets, {size} grid points, limits {limits}: {seconds:.1f} s (target {SPEED_TARGET:g} s)"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark and print its tables."""
    parser = argparse.ArgumentParser(description="Excursion sets: posterior sampling against Hall's release.")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--curve-sets", type=int, default=100, help="training sets of each 1-D table")
    parser.add_argument("--curve-grid", type=int, default=800, help="points of the 1-D grid")
    parser.add_argument("--curve-seed", type=int, default=6, help="seed of the 1-D targets; 6 is the published one")
    parser.add_argument("--plume-sets", type=int, default=20, help="training sets of each 2-D table")
    parser.add_argument(
        "--coarse-side", type=int, default=24, help="side of the grid that 2-D settings are searched on"
    )
    parser.add_argument("--side", type=int, default=48, help="side of the grid of the 2-D paths")
    parser.add_argument("--london-sets", type=int, default=20, help="simulated maps for London")
    parser.add_argument("--draws", type=int, default=20, help="paths drawn from each release")
    parser.add_argument("--bayes-sets", type=int, default=10, help="reported sets with a Bayes release; 0 for none")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything else")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, tcp://host:port; default: DPGP_SCHEDULER")
    options = parser.parse_args(argv)
    try:
        with engine(options.scheduler) as executor:
            print_tables(options, executor)
    except ValueError as error:
        raise SystemExit(str(error)) from None


def print_tables(options: argparse.Namespace, executor: Executor | None) -> None:
    """Build, compute and print the chosen parts."""
    started = time.perf_counter()
    for build in parts(options):
        began = time.perf_counter()
        part = build()
        lines = rows(part, options.draws, options.seed, executor, options.bayes_sets)
        trivial = np.median(part.report.truth.mean(axis=1))  # IoU of the whole domain with a set of that share
        print(f"\n{part.title}\n{table(lines)}")
        print(f"the whole domain as estimate: IoU {trivial:.3f}; {time.perf_counter() - began:.1f} s", flush=True)
    if "speed" in options.parts:
        print(f"\n{speed_line(options.curve_sets, options.curve_grid, options.curve_seed)}", flush=True)
    print(f"\ntotal {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main()
