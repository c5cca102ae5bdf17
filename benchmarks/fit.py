"""Does a release notice that its models are wrong, and only then?

    python -m benchmarks fit --repeats 300
    python -m benchmarks fit --tables alarms --sizes 3000 --repeats 60
    python -m benchmarks fit --tables local --repeats 160

False alarms: curves, noises and levels drawn from the models themselves, people evenly over the box: how many
releases say that they do not fit (declared: at most one in 1,000). If more than one outcome in a hundred is cut by the
bounds, the mean of the outcomes bends there as no model does: such data sets are counted by themselves, and there it
is no false alarm. Power: people on
few values, counts read as if they had to be smooth and cells as if they were filled evenly, as before 0.3.0: how
often that is found out, by how much intervals are widened, and the share of the curve inside them with and without.

Local misfit: the plateau and the mass of ``bayes_ends``, with the models that include them and without these (no steps,
bumps, plateaus and masses); and curves that no model includes: four narrow bumps, a plateau in a plane, and a jump
along one of two inputs, of people evenly over the box; girls: heights by age and weight (``datasets/growth_2d.py``), a
smooth curve, which is steeper at some ages than at others. by squares: how many releases were found out by |w|^2; Bayes
factor: median of its decimal logarithm; there, and there not widened: share of the curve inside the 95 % intervals
where the plateau or the mass is (everywhere if no model includes the curve), as released and as if nothing were
widened; widened there: by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from unittest import mock

import numpy as np

from benchmarks.bayes.ends import ENDS
from benchmarks.inputs import OUTCOMES, PLACES, World
from benchmarks.outcomes import DELTA, PROTECTS, wage
from benchmarks.shared.curves import LEVEL, covered
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from datasets import growth_2d
from dpgp_core.arrays import BoolArray, FloatArray
from dpgp_core.bayes import counts, engine, filter, settings, update
from dpgp_core.bayes.changepoints import no_change_points
from dpgp_core.bayes.model import curve_models
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.gp.pivoted import factorise
from dpgp_core.measurement.fit import Fit
from dpgp_core.measurement.measurement import CellCounts
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking, BayesRelease
from dpgp_core.table import Dataset

SIZES, FEW = (300, 3000, 30_000), ("five_values", "even_ages", "one_heap", "towns")
HALF = 30.0
CUT = 0.01
WAVES = 20  # of counts that are taken for smooth, along one input


def drawn(n: int, rng: np.random.Generator) -> tuple[Dataset, bool]:
    """A data set from the automatic models, and whether more than ``CUT`` of its outcomes are cut by the bounds."""
    models = curve_models([(0.0, 1.0)], HALF, rough=0.0)
    model = models[rng.choice(len(models), p=np.array([m.weight for m in models]) / sum(m.weight for m in models))]
    X = rng.uniform(0, 1, (n, 1))
    features = factorise(model.kernel, np.linspace(0, 1, 200)[:, None], 1e-9).features.at(X).values()
    f = features @ rng.standard_normal(features.shape[1])
    y = f + np.sqrt(min(model.noise_variance, (HALF / 4) ** 2)) * rng.standard_normal(n)
    return simulated(X, np.clip(y, -HALF, HALF), (-HALF, HALF), ((0.0, 1.0),)), bool((np.abs(y) > HALF).mean() > CUT)


def alarms(repeats: int, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, object]]:
    """Two rows a size: outcomes within the bounds, and outcomes that are cut by them."""
    X = np.linspace(0.05, 0.95, 5)[:, None]
    for n in sizes:
        fits: dict[bool, list[Fit]] = {False: [], True: []}
        for repeat in range(repeats):
            rng = np.random.default_rng([n, repeat])
            data, beyond = drawn(n, rng)
            mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
            fits[beyond].append(mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False).fit)
        for beyond, found in fits.items():
            ratios, local = [fit.ratio for fit in found], [fit.local for fit in found]
            yield {
                "n": n,
                "outcomes": "cut by the bounds" if beyond else "within the bounds",
                "releases": len(found),
                "alarms": sum(not fit.fits for fit in found),
                "median ratio": float(np.median(ratios)) if found else math.nan,
                "largest": max(ratios, default=math.nan),
                "largest Bayes factor": f"{max(local, default=math.nan):.1f}",
            }


def waves_of_counts(B: FloatArray, noise_multiplier: float, people: bool) -> CellCounts:
    """As of a smooth density: its longest waves, and not each cell by itself."""
    M = len(B)
    waves = np.cos(np.pi * np.arange(min(WAVES, M))[:, None] * (np.arange(M) + 0.5) / M)
    longest = np.linalg.norm(waves, axis=0).max()
    return CellCounts(B=waves / longest, noise_multiplier=noise_multiplier, people=people)


@contextmanager
def without_change_points() -> Iterator[None]:
    """No model has steps, bumps, plateaus or masses."""
    with mock.patch.object(filter, "change_points_of", lambda columns, variance: no_change_points(columns)):
        yield


@contextmanager
def as_if_inputs_were_even() -> Iterator[None]:
    """Nothing of what makes few values and clusters right: counts of a smooth density, no location that many share."""
    with (
        mock.patch.object(counts, "TUNING", replace(TUNING, roughness=(0.0,))),
        mock.patch.object(engine, "CellCounts", waves_of_counts),
        without_change_points(),
        mock.patch.object(update, "TUNING", replace(TUNING, shared_location_factor=0)),
        mock.patch.object(settings, "TUNING", replace(TUNING, many_to_locate=math.inf)),
    ):
        yield


def power(repeats: int) -> Iterator[dict[str, object]]:
    """One row a place and a size."""
    for where in FEW:
        world = World(PLACES[where], wage, OUTCOMES["normal"])
        X, truth = world.places.judged, world.truth(world.places.judged)
        for n in SIZES[1:]:
            rows = []
            for repeat in range(repeats):
                rng = np.random.default_rng([n, repeat])
                data, mechanism = (
                    world.table(n, rng),
                    BayesCloaking(epsilon=1.0, delta=DELTA, protects=PROTECTS["inputs"]),
                )
                with as_if_inputs_were_even():
                    release = mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False)
                low, high = (end[0] for end in release.interval(LEVEL, "function"))
                middle, widened = release.samples[0], release.fit.widened
                inside = [(np.abs(truth - middle) <= (high - low) / 2 / by).mean() for by in (1.0, widened)]
                rows.append([not release.fit.fits, release.fit.ratio, widened, *inside])
            noticed, ratio, widened, held, alone = np.mean(rows, axis=0)
            yield {
                "people": where,
                "n": n,
                "found out": float(noticed),
                "ratio": float(ratio),
                "widened": float(widened),
                "inside": float(held),
                "inside, not widened": float(alone),
            }


def _four_bumps(X: FloatArray) -> FloatArray:
    return 25 + 12 * np.exp(-0.5 * ((X - [0.13, 0.37, 0.61, 0.87]) / 0.012) ** 2).sum(axis=1)


def _plateau(X: FloatArray) -> FloatArray:
    return 20 + 10 * X[:, 0] + 15 * (np.abs(X - [0.5, 0.4]) < 0.1).all(axis=1)


def _jump(X: FloatArray) -> FloatArray:
    return 20 + 6 * X[:, 1] + 12 * (X[:, 0] > 0.5)


@dataclass(frozen=True)
class Local:
    """A curve with a local feature: how its tables are made, where it is judged, and whether models include it.

    Attributes:
        table: function of a random generator that returns a table.
        X, truth: where the curve is judged (P, D), and the curve there (P,).
        there: at which of these points the feature is (P,).
        excluded: whether change points are taken out of the models.
    """

    table: Callable[[np.random.Generator], Dataset]
    X: FloatArray
    truth: FloatArray
    there: BoolArray
    excluded: bool = False


def _of_ends(name: str, n: int, excluded: bool) -> Local:
    world = replace(ENDS[name], n=n)
    low, high = world.there
    there = (low <= world.places) & (world.places <= high)
    return Local(world.table, world.places[:, None], world.truth, there, excluded)


def _of_curve(curve: Callable[[FloatArray], FloatArray], X: FloatArray, n: int) -> Local:
    """A curve that no model includes, with outcomes of standard deviation 5 within 0 and 60."""

    def table(rng: np.random.Generator) -> Dataset:
        inputs = rng.uniform(0, 1, (n, X.shape[1]))
        y = np.clip(curve(inputs) + 5 * rng.standard_normal(n), 0, 60)
        return simulated(inputs, y, (0.0, 60.0), ((0.0, 1.0),) * X.shape[1])

    return Local(table, X, curve(X), np.ones(len(X), dtype=bool))


def _girls() -> Local:
    """Simulated heights of girls by age and weight: a smooth curve, and intervals that cover it before any widening.

    With L(a, w) the logarithm of the weight minus that of the weight of a girl of median height and mean body mass
    index, log height is normal given age and weight, as is log weight given height.
    """
    X = growth_2d.load(n=300, seed=1).X
    age, weight = X.T
    median, sd, bmi_sd = growth_2d.median_height(age), growth_2d.HEIGHT_SD, growth_2d.BMI_SD
    expected = np.log((15 + 0.035 * (age - 5) ** 2) * (median / 100) ** 2) - bmi_sd**2 / 2
    share = 2 * sd**2 / (4 * sd**2 + bmi_sd**2)
    truth = median * np.exp(share * (np.log(weight) - expected) + sd**2 * (1 - 2 * share) / 2)
    return Local(lambda rng: growth_2d.load(seed=int(rng.integers(1 << 30))), X, truth, np.ones(len(X), dtype=bool))


def local_cases() -> dict[tuple[str, int], Local]:
    """The data sets with local misfit, by their name and their number of people."""
    line, side = np.linspace(0.005, 0.995, 199)[:, None], np.linspace(0.02, 0.98, 25)
    plane = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    found = {}
    for name, n in (("plateau", 2900), ("mass", 395), ("mass", 4000)):
        found[name, n] = _of_ends(name, n, excluded=False)
        found[f"{name} without {'masses' if name == 'mass' else 'plateaus'}", n] = _of_ends(name, n, excluded=True)
    for name, curve, X in (
        ("four bumps", _four_bumps, line),
        ("plateau in a plane", _plateau, plane),
        ("jump in a plane", _jump, plane),
    ):
        found |= {(name, n): _of_curve(curve, X, n) for n in SIZES[1:]}
    return found | {("girls", growth_2d.N_PUBLISHED): _girls()}


def released(case: Local, protects: str, repeat: int) -> BayesRelease:
    """One simulated release."""
    rng = np.random.default_rng([25, repeat])
    data, mechanism = case.table(rng), BayesCloaking(epsilon=1.0, delta=DELTA, protects=PROTECTS[protects])
    with without_change_points() if case.excluded else nullcontext():
        return mechanism.measure(mechanism.plan_for(data, case.X), data, case.X, rng, mean=False)


def not_widened(release: BayesRelease) -> BayesRelease:
    """A release with intervals as if its misfit, and outliers and plateaus, were not allowed for; itself if it fits."""
    if release.fit.fits:
        return release
    found = release.uncertainty.prediction
    plain = replace(found, variances=found.variances - found.cautious[:, None], cautious=0.0, fit=())
    return replace(release, uncertainty=replace(release.uncertainty, prediction=plain))


def local(repeats: int) -> Iterator[dict[str, object]]:
    """One row a data set and protection."""
    for ((name, n), case), protects in product(local_cases().items(), PROTECTS):
        releases = [released(case, protects, repeat) for repeat in range(repeats)]
        widths, inside = np.empty((2, 2, repeats))
        for repeat, release in enumerate(releases):
            for i, each in enumerate((release, not_widened(release))):
                low, high = (end[0][case.there] for end in each.interval(LEVEL, "function"))
                inside[i, repeat] = covered(low - case.truth[case.there], high - case.truth[case.there]).mean()
                widths[i, repeat] = (high - low).mean()
        yield {
            "curve": name,
            "n": n,
            "protects": protects,
            "found out": f"{sum(not each.fit.fits for each in releases)} of {repeats}",
            "by squares": sum(each.fit.widened > 1 for each in releases),
            "Bayes factor": f"{np.median([each.fit.local for each in releases]):.1f}",
            "there": f"{inside[0].mean():.2f}",
            "there, not widened": f"{inside[1].mean():.2f}",
            "widened there": f"{(widths[0] / widths[1]).mean():.2f}",
        }


TABLES = ("alarms", "power", "local")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    given = options_of(__doc__, argv, {"tables": TABLES}, sizes=SIZES, repeats=100)
    made = {
        "alarms": lambda: alarms(given.repeats, given.sizes),
        "power": lambda: power(max(given.repeats // 20, 3)),
        "local": lambda: local(max(given.repeats // 20, 3)),
    }
    for table in given.tables:
        show(made[table]())
        print()
