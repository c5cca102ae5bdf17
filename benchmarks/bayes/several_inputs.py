"""Error and intervals of Bayes cloaking on two and three inputs, of which one, each by itself, or all together matter.

    python -m benchmarks bayes_several_inputs
    python -m benchmarks bayes_several_inputs --shapes one additive --sizes 3000 --inputs 2 --repeats 8

Inputs are uniform on [0, 1]; outcomes are normal about the curve with standard deviation 3, within bounds of -20 to 20.
one: the curve varies quickly with the first input and not with the others. additive: it is a sum of functions of one
input each. joint: it varies along the sum of all inputs. smooth: it varies slowly. Inputs and outputs are protected.

error: root mean square distance of the released curve from the true one at 400 uniform points, mean over simulated
tables +- standard error. coverage: share of these points inside the 95 % intervals of the curve. half_width: their mean
half-width. seconds: processor seconds of one thread for a release.
"""

from __future__ import annotations

import math
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from benchmarks.outcomes import DELTA
from benchmarks.shared.curves import Curves
from benchmarks.shared.options import options_of
from benchmarks.shared.simulated import simulated
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from dpgp_core import BayesCloaking
from dpgp_core.arrays import FloatArray

SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "one": lambda X: 6 * np.sin(6 * np.pi * X[:, 0]),
    "additive": lambda X: 4 * np.sin(7 * X[:, 0]) + 4 * np.cos(6 * X[:, 1]),
    "joint": lambda X: 6 * np.sin(6 * X.sum(axis=1) - 3),
    "smooth": lambda X: 5 * X[:, 0] + 3 * np.sin(3 * X[:, 1]),
}
_SD, _END, _POINTS = 3.0, 20.0, 400


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One for each shape, number of inputs and number of people."""
    for name, inputs, n in product(given.shapes, given.inputs, given.sizes):
        mechanism = BayesCloaking(epsilon=given.epsilon, delta=DELTA, protects="inputs and outputs")
        curve, found, start = SHAPES[name], Curves(), time.process_time()
        for repeat in range(given.repeats):
            rng = np.random.default_rng([n, inputs, repeat])
            X, points = rng.uniform(size=(n, inputs)), rng.uniform(size=(_POINTS, inputs))
            y = np.clip(curve(X) + _SD * rng.standard_normal(n), -_END, _END)
            table = simulated(X, y, (-_END, _END), ((0.0, 1.0),) * inputs)
            found.measure(mechanism, table, points, curve(points), rng)
        curves, low, high = found.deviations
        errors = np.sqrt((curves**2).mean(axis=1))
        yield {
            "shape": name,
            "inputs": inputs,
            "n": n,
            "error": f"{errors.mean():.3g} +- {errors.std() / math.sqrt(given.repeats):.2g}",
            "coverage": f"{found.inside.mean():.3f}",
            "half_width": f"{(high - low).mean() / 2:.3g}",
            "seconds": f"{(time.process_time() - start) / given.repeats:.2f}",
        }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"shapes": list(SHAPES)}
    given = options_of(__doc__, argv, names, sizes=[3000], inputs=[2, 3], epsilon=1.0, repeats=8)
    print(machine())
    print(f"epsilon {given.epsilon:g}, delta {DELTA:g}, {given.repeats} repeats")
    show(rows(given))
