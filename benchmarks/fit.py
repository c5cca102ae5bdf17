"""Does a release notice that its models are wrong, and only then?

    python -m benchmarks fit --repeats 300

False alarms: curves, noises and levels drawn from the models themselves, people evenly over the box: how many
releases say that they do not fit (declared: at most one in 1,000). If more than one outcome in a hundred is cut by the
bounds, the mean of the outcomes bends there as no model does: such data sets are counted by themselves, and there it
is no false alarm. Power: people on
few values, counts read as if they had to be smooth and cells as if they were filled evenly, as before 0.3.0: how
often that is found out, by how much intervals are widened, and the share of the curve inside them with and without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np

from benchmarks.inputs import OUTCOMES, PLACES, World
from benchmarks.outcomes import DELTA, PROTECTS, wage
from benchmarks.shared.curves import LEVEL
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes import counts, engine, filter, settings, update
from dpgp_core.bayes.changepoints import no_change_points
from dpgp_core.bayes.model import curve_models
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.gp.pivoted import factorise
from dpgp_core.measurement.fit import Fit
from dpgp_core.measurement.measurement import CellCounts
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
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


def alarms(repeats: int) -> Iterator[dict[str, object]]:
    """Two rows a size: outcomes within the bounds, and outcomes that are cut by them."""
    X = np.linspace(0.05, 0.95, 5)[:, None]
    for n in SIZES:
        fits: dict[bool, list[Fit]] = {False: [], True: []}
        for repeat in range(repeats):
            rng = np.random.default_rng([n, repeat])
            data, beyond = drawn(n, rng)
            mechanism = BayesCloaking(epsilon=1.0, delta=DELTA, protects="inputs and outputs")
            fits[beyond].append(mechanism.measure(mechanism.plan_for(data, X), data, X, rng, mean=False).fit)
        for beyond, found in fits.items():
            ratios = [fit.ratio for fit in found]
            yield {
                "n": n,
                "outcomes": "cut by the bounds" if beyond else "within the bounds",
                "releases": len(found),
                "alarms": sum(not fit.fits for fit in found),
                "median ratio": float(np.median(ratios)) if found else math.nan,
                "largest": max(ratios, default=math.nan),
            }


def waves_of_counts(B: FloatArray, noise_multiplier: float, people: bool) -> CellCounts:
    """As of a smooth density: its longest waves, and not each cell by itself."""
    M = len(B)
    waves = np.cos(np.pi * np.arange(min(WAVES, M))[:, None] * (np.arange(M) + 0.5) / M)
    longest = np.linalg.norm(waves, axis=0).max()
    return CellCounts(B=waves / longest, noise_multiplier=noise_multiplier, people=people)


@contextmanager
def as_if_inputs_were_even() -> Iterator[None]:
    """Nothing of what makes few values and clusters right: counts of a smooth density, no location that many share."""
    with (
        mock.patch.object(counts, "TUNING", replace(TUNING, roughness=(0.0,))),
        mock.patch.object(engine, "CellCounts", waves_of_counts),
        mock.patch.object(filter, "change_points_of", lambda columns, variance: no_change_points(columns)),
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


def main(argv: Sequence[str] | None = None) -> None:
    """Print both tables."""
    given = options_of(__doc__, argv, repeats=100)
    show(alarms(given.repeats))
    print()
    show(power(max(given.repeats // 20, 3)))
