"""Can a linear score, learnt on releases of two neighbours, tell fresh releases apart better than the promise allows?

    python -m benchmarks null_space                    # about twenty minutes of one core
    python -m benchmarks null_space --only refined sparse --samples 1000 --zips 100

The score sees every digit: directions without noise, rounding errors, all numbers in a zip. A row has three budgets,
epsilon 0.01, 1 and 10. Cells say the share of right answers about which of the two was released, and the lower bound on
epsilon that fresh releases prove with confidence 1 - 1e-6:

- allowed: what the best attacker may attain, by the promise;
- before: mean plus noise, both rounded in floating point, as releases were made at first;
- library: samples, and zips: all numbers in them.

Half of the releases of each data set teach the score, the other half tests it. Bayes cloaking takes fewer: where inputs
are private it plans its stages anew for every release. Every finished case is a line of the --out file: start the same
command again and only what is missing is computed.
"""

from __future__ import annotations

import io
import math
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.attacks.null_space_work import BOUNDS, Case, before, in_zips, null_space_attack, samples
from benchmarks.audit_releases import CONFIDENCE
from benchmarks.shared.options import options_of
from benchmarks.shared.results import finished, keep
from benchmarks.shared.table import show
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.accounting.tradeoff import attacker_success
from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.mechanisms.catalogue import CATALOGUE
from dpgp_core.release import CHOICES, read_table

EPSILONS = (0.01, 1.0, 10.0)
NAMES = tuple(name for name in CATALOGUE if name != "paths")  # paths are no release
MOST = {"bayes": (1000, 400), "bayes_cells": (160, 100)}  # samples and zips of those that take longer


def allowed(guarantee: Guarantee) -> float:
    """Largest share of right answers about which of two neighbours was released, each with probability 1/2."""
    if isinstance(guarantee.loss, GaussianLoss):
        return attacker_success(0.5, guarantee.loss.mu)
    return 1 - math.exp(-guarantee.budget.epsilon / 2) / 2  # both errors of the best test of Laplace noise are equal


def attacked(inside: FloatArray, outside: FloatArray, delta: float) -> tuple[float, float]:
    """Accuracy and proven epsilon on the second halves of samples (2 k, numbers), of a score learnt on the first."""
    varies = ((inside != inside[0]) | (outside != inside[0])).any(axis=0)
    (learn_in, test_in), (learn_out, test_out) = (np.array_split(each[:, varies], 2) for each in (inside, outside))
    attack = null_space_attack(learn_in, learn_out)
    middle = (attack.score(learn_in).mean() + attack.score(learn_out).mean()) / 2
    scores = attack.score(test_in), attack.score(test_out)
    accuracy = ((scores[0] > middle).mean() + (scores[1] <= middle).mean()) / 2
    return float(accuracy), epsilon_lower_bound(*scores, delta, CONFIDENCE)


def measured(case: Case) -> list[float]:
    """Promised epsilon, allowed accuracy; accuracy and proven epsilon before, in the library, in zips; NaN if none."""
    mechanism, pair = case.mechanism, case.pair
    X_test, data = pair.spec.points(), [read_table(io.BytesIO(table), pair.spec) for table in pair.tables]
    found = [mechanism.guarantee.proven_epsilon, allowed(mechanism.guarantee)]
    old = [before(mechanism, each, X_test, case.samples) for each in data]
    new = [samples(mechanism, each, X_test, case.samples) for each in data]
    zips = in_zips(pair, case.zips) if case.name in CHOICES else [None, None]
    for inside, outside in (old, new, zips):
        delta = mechanism.guarantee.budget.delta
        none = inside is None or outside is None
        found += (np.nan, np.nan) if none else attacked(inside, outside, delta)
    return found


def row(cases: Sequence[Case], found: Sequence[Sequence[float]]) -> dict[str, object]:
    """One line of the table: the budgets of one mechanism with one pair of bounds."""
    claims, allow, *columns = zip(*found, strict=True)
    case, pairs = cases[0], list(zip(columns[::2], columns[1::2], strict=True))
    refuted = any(bound > claim for _, bounds in pairs[1:] for bound, claim in zip(bounds, claims, strict=True))
    cells: dict[str, object] = {
        "mechanism": CATALOGUE[case.name].title + (" **REFUTED**" if refuted else ""),
        "bounds": case.bounds,
        "samples, zips": f"{case.samples:,}" + (f", {case.zips:,}" if case.name in CHOICES else ""),
        "allowed": _written(allow, 3),
    }
    for what, (accuracy, bounds) in zip(("before", "library", "zips"), pairs, strict=True):
        cells |= {what: _written(accuracy, 3), f"{what}: ε ≥": _written(bounds, 2)}
    return cells


def _written(numbers: Sequence[float], digits: int) -> str:
    """Those of the three budgets, without zeros before the point."""
    return "–" if np.isnan(numbers).all() else " / ".join(f"{each:.{digits}f}".removeprefix("0") for each in numbers)


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One for each mechanism and bounds; what is not in the file of results yet is computed."""
    for name, bounds in product(given.only, given.bounds):
        most = MOST.get(name, (given.samples, given.zips))
        numbers = [min(pair) for pair in zip(most, (given.samples, given.zips), strict=True)]
        cases = [Case(name, bounds, epsilon, *numbers) for epsilon in EPSILONS]
        for case in cases:
            if case.key not in finished(given.out):
                started = time.process_time()
                keep(given.out, case.key, measured(case))
                print(f"{case.key} {time.process_time() - started:.0f} s", file=sys.stderr, flush=True)
        results = finished(given.out)
        yield row(cases, [results[case.key] for case in cases])


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"only": NAMES, "bounds": list(BOUNDS)}
    show(rows(options_of(__doc__, argv, names, samples=4000, zips=500, out=Path("null_space.jsonl"))))
