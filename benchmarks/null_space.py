"""Can a linear score, learnt on releases of two neighbours, tell fresh releases apart better than the promise allows?

It sees every digit: directions without noise, rounding errors, all numbers in a zip. For every mechanism,
``python -m benchmarks.null_space`` prints the accuracy that the promise allows (as many releases of either data set),
the one attained, and the lower bound on epsilon that fresh releases prove with confidence 1 - 1e-6: for the library's
samples and for zips. It takes about half an hour of one core.
"""

from __future__ import annotations

import argparse
import io

import numpy as np

from benchmarks.audit_releases import CONFIDENCE, Pair, neighbours, zip_samples
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.accounting.tradeoff import attacker_success, laplace_attacker_success
from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.null_space import null_space_attack
from dpgp_core.data import Dataset
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms.base import Mechanism, Planned, PlannedForBudget
from dpgp_core.mechanisms.catalogue import CATALOGUE
from dpgp_core.mechanisms.entry import Parameters
from dpgp_core.release import CHOICES, read_table
from dpgp_core.release.specification_json import EXAMPLE

EPSILONS = (0.01, 1.0, 10.0)
BOUNDS = (EXAMPLE.y_bounds, (1e9, 1e9 + 2))
FULL_RANK = ("gp_prior", "kernel_sum")  # as many numbers as test points: more points would be no null space
NAMES = tuple(name for name in CATALOGUE if name != "paths")  # paths are no release


def allowed(guarantee: Guarantee) -> float:
    """Largest share of right answers about which of two neighbours was released, each with probability 1/2."""
    if isinstance(guarantee.loss, GaussianLoss):
        return attacker_success(0.5, guarantee.loss.mu)
    return laplace_attacker_success(0.5, guarantee.budget.epsilon)


def attacked(inside: FloatArray, outside: FloatArray, delta: float) -> tuple[float, float]:
    """Accuracy and proven epsilon on the second halves of samples (2 k, numbers), of a score learnt on the first."""
    (learn_in, test_in), (learn_out, test_out) = (np.array_split(each, 2) for each in (inside, outside))
    attack = null_space_attack(learn_in, learn_out)
    middle = (attack.score(learn_in).mean() + attack.score(learn_out).mean()) / 2
    scores = attack.score(test_in), attack.score(test_out)
    accuracy = ((scores[0] > middle).mean() + (scores[1] <= middle).mean()) / 2
    return float(accuracy), epsilon_lower_bound(*scores, delta, CONFIDENCE)


def library_samples(mechanism: Mechanism, data: Dataset, X_test: FloatArray, count: int) -> FloatArray:
    """Real releases (count, P), planned once."""
    if isinstance(mechanism, Planned):
        plan = mechanism.plan(data.X, X_test)
        return mechanism.release_planned(plan, data, X_test, None, count).samples
    if isinstance(mechanism, PlannedForBudget):
        return mechanism.measure(mechanism.plan_for(data, X_test), data, X_test, None, count).samples
    return mechanism.release(data, X_test, None, count).samples


def built(name: str, epsilon: float, delta: float) -> Mechanism:
    """A mechanism of the catalogue with the model of the example configuration."""
    spec = EXAMPLE
    return CATALOGUE[name].build(
        Parameters(
            kernel=EQ(lengthscale=spec.lengthscale),
            noise_variance=spec.noise_variance,
            epsilon=epsilon,
            delta=delta,
            x_box=spec.x_box,
            cells=3,
            ridge=1.5,
        )
    )


def tables(pair: Pair) -> list[Dataset]:
    """The two data sets of a pair."""
    return [read_table(io.BytesIO(each), pair.spec) for each in pair.tables]


def printed(name: str, epsilon: float, y_bounds: tuple[float, float], samples: int, zips: int) -> str:
    """One line of the table. Half of the samples and zips teach the score, the other half tests it."""
    points = 5 if name in FULL_RANK else 40
    pair = neighbours(name if name in CHOICES else "cloaking", epsilon, 0.01, y_bounds, points)
    mechanism = built(name, epsilon, 0.01)
    delta = mechanism.guarantee.budget.delta
    X_test = pair.spec.points()
    inside, outside = (library_samples(mechanism, data, X_test, samples) for data in tables(pair))
    found = [attacked(inside, outside, delta)]
    if name in CHOICES:
        found.append(attacked(*zip_samples(pair, zips), pair.spec.guarantee.budget.delta))
    where = "usual" if y_bounds == EXAMPLE.y_bounds else "1e9, 1e9 + 2"
    shown = " ".join(f"{accuracy:9.3f} {bound:8.3f}" for accuracy, bound in found)
    verdict = "" if max(bound for _, bound in found) <= mechanism.guarantee.proven_epsilon else "  REFUTED"
    return f"{name:14} {where:13} {epsilon:5g} {allowed(mechanism.guarantee):8.3f} {shown}{verdict}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4000, help="library samples of each data set")
    parser.add_argument("--zips", type=int, default=1000, help="of each table")
    parser.add_argument("--only", default="", help="one mechanism")
    arguments = parser.parse_args()
    print(f"{arguments.samples} samples and {arguments.zips} zips of each of two neighbours, confidence 1 - 1e-6")
    print(f"{'':33} {'':>8} {'library':>18} {'zip':>18}")
    print(f"{'mechanism':14} {'bounds':13} {'eps':>5} {'allowed':>8} " + f"{'accuracy':>9} {'eps >=':>8} " * 2)
    for name in NAMES:
        for y_bounds in BOUNDS:
            for epsilon in EPSILONS if arguments.only in ("", name) else ():
                print(printed(name, epsilon, y_bounds, arguments.samples, arguments.zips), flush=True)


if __name__ == "__main__":
    main()
