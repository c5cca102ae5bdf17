"""Random tables through plan, measurement and reading: ``python -m tests.fuzz_releases --count 10000``.

Once a budget is charged nothing may fail, whatever is in the table: few values, everybody in one cell, one person,
equal outcomes, bounds that all outcomes pass. Prints what raised, and what was no number.
"""

import argparse
import traceback
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np

from benchmarks.shared.simulated import simulated
from dpgp_core.bayes import settings
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.mechanisms.bayes_cloaking import BayesCloaking
from tests.core.tables import read_again

KINDS = ("number", "amount", "count", "yes/no")


def inputs(rng, n, dim):
    """Where people are: even, on few values, in one place, in two corners, at an edge, outside of the box."""
    which = rng.integers(6)
    if which == 0:
        return rng.uniform(0, 1, (n, dim))
    if which == 1:
        return rng.choice(rng.uniform(0, 1, rng.integers(1, 6)), (n, dim))
    if which == 2:
        return np.tile(rng.uniform(0, 1, dim), (n, 1))
    if which == 3:
        return rng.integers(0, 2, (n, 1)) + 1e-9 * rng.standard_normal((n, dim))
    if which == 4:
        return np.where(rng.uniform(size=(n, 1)) < 0.99, 0.5, rng.uniform(0, 1, (n, dim)))
    return 1e6 * rng.standard_normal((n, dim))


def outcomes(rng, n, kind):
    """Outcomes and bounds: even, all equal, at the ends, far outside."""
    low, high = (0.0, 1.0) if kind == "yes/no" else (0.0, float(rng.choice([1.0, 10.0, 121.0, 1e6])))
    which = rng.integers(4)
    if which == 0:
        y = rng.uniform(low, high, n)
    elif which == 1:
        y = np.full(n, rng.choice([low, high, (low + high) / 2]))
    elif which == 2:
        y = rng.choice([low, high], n, p=[0.99, 0.01])
    else:
        y = high * 10.0 ** rng.uniform(-12, 6, n)
    y = np.clip(y, low, high) if kind in ("amount", "yes/no") else y
    return (np.rint(np.clip(y, low, high)) if kind in ("count", "yes/no") else y), (low, high)


def table(rng):
    """One random table, and how it is to be released."""
    dim, n = int(rng.choice([1, 1, 2, 3])), int(np.ceil(10 ** rng.uniform(0, 3.2)))
    kind = str(rng.choice(KINDS))
    X, (y, bounds) = inputs(rng, n, dim), outcomes(rng, n, kind)
    more = {"x_levels": (None,) * (dim - 1) + (("a", "b"),)} if dim > 1 and rng.random() < 0.3 else {}
    box = ((0.0, 1.0),) * (dim - len(more))
    if more:
        X[:, -1] = rng.integers(0, 2, n)
    if rng.random() < 0.2:
        more["person"] = rng.integers(0, max(n // 3, 1), n)
    scale = float(rng.choice([1.0, (bounds[1] - bounds[0]) / 6]))
    data = simulated(X, y, bounds, box, y_kind=kind, y_scale=scale, **more)
    protects = str(rng.choice(["outputs", "inputs and outputs"]))
    epsilon, delta = float(10 ** rng.uniform(-2, 2)), float(rng.choice([1e-2, 1e-5]))
    return data, BayesCloaking(epsilon=epsilon, delta=delta, protects=protects, stages=int(rng.integers(1, 4)), gap=0.3)


def fuzz(count, seed=0):
    """Problems among so many tables: the seed of each, and what was wrong."""
    problems = []
    for each in range(count):
        rng = np.random.default_rng([seed, each])
        data, mechanism = table(rng)
        X_test = rng.uniform(0, 1, (5, data.X.shape[1]))
        if data.x_levels is not None:
            X_test[:, -1] = rng.integers(0, 2, 5)
        try:
            # positions in cells, which are measured of many people, of few of them too
            tuning = replace(TUNING, many_to_locate=rng.choice([0, TUNING.many_to_locate]))
            many = mock.patch.object(settings, "TUNING", tuning)
            with warnings.catch_warnings(), many:
                warnings.simplefilter("error")
                plan = mechanism.plan_for(data, X_test)
                source = None if rng.random() < 0.2 else rng
                release = mechanism.measure(plan, data, X_test, source, mean=False)
                numbers = [release.samples, *release.interval(0.95, "function"), *release.interval(0.95)]
                if source is None:
                    numbers.append(read_again(mechanism, release.statistics[0], X_test))
        except Exception:  # whatever it is, it came after the charge
            problems.append((each, traceback.format_exc(limit=-4)))
            continue
        if not all(np.isfinite(each).all() for each in numbers):
            problems.append((each, "no number"))
    return problems


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = fuzz(given.count, given.seed)
    for each, what in found:
        print(each, what)
    print(f"{given.count} tables, {len(found)} problems")
