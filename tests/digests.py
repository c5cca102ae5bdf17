"""Numbered draws and computed figures of the core as digests.

``python -m tests.digests`` prints how far each is from what is kept, of those whose name holds ``--only``;
``--renew`` writes the file anew. Both run with one thread, as ``make test`` does.

A digest is the size of an array (root mean square) and two weighted sums of it, so that a processor that rounds
differently moves it by a rounding error, and a change of what is computed moves it by more. Renew them where a change
is meant; otherwise a difference says that something changed that should not have. Noise multipliers and budgets have no
digests, because the tests of the accounting compare them with numbers that were computed independently.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.attacks.audit import fitted_attack
from benchmarks.excursion.paths import search_hall
from datasets import excursion_1d
from dpgp_core import (
    EQ,
    Matern12,
    Matern32,
    buy_bounds,
    cloaking_matrix,
    design_noise,
    posterior,
    posterior_sampling_epsilon,
    selection_probabilities,
)
from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.densities import fit_mixture
from dpgp_core.attack.linear import linear_attack, output_neighbours
from dpgp_core.attack.lira import Shadows
from dpgp_core.evaluation.comparison import sweep
from dpgp_core.evaluation.cross_validation import k_folds, plan_folds
from dpgp_core.evaluation.peers import BinnedMeans, Polynomial, held_out
from dpgp_core.excursion.search import SearchSpace, search
from dpgp_core.gp.inducing import choose_inducing, inducing_matrix
from dpgp_core.gp.paths import posterior_process
from dpgp_core.mechanisms import BayesCloaking, Mechanism
from dpgp_core.selection.exponential import permute_and_flip_probabilities
from dpgp_core.selection.scores import difference_sensitivity, grid_scores, published_sensitivity, sse_sensitivity
from tests import bayes_digests
from tests.core.mechanisms.cases import CASES, OTHERS, X_TEST, built
from tests.core.tables import table

KEPT = Path(__file__).parent / "core" / "digests.json"
TOLERANCE = 1e-5
"""Relative, of the size: far above rounding, far below what any change of a formula makes."""

ROUNDING = "how this machine rounds"

Figures = Any
_RNG = np.random.default_rng


def small(n: int = 12, **changes: Any) -> Any:
    """A table of one input in 0 ... 10; some outputs lie outside the bounds."""
    x = np.sort(_RNG(5).uniform(0, 10, n))
    public = {"y_bounds": (-1.0, 3.0), "x_box": ((-2.0, 12.0),), "y_scale": 2.0}
    return table(x[:, None], 1 + 2.5 * np.sin(x), **public | changes)


def digest(figures: Figures) -> list[list[float]]:
    """Of each array the size and two weighted sums; infinite numbers count as their sign."""
    return [_digest(np.ravel(np.asarray(each, dtype=float))) for each in figures]


def _digest(values: FloatArray) -> list[float]:
    values = np.where(np.isfinite(values), values, np.sign(np.nan_to_num(values, nan=0.5)))
    weights = _RNG(len(values)).uniform(-1, 1, (2, len(values))) / math.sqrt(len(values))
    return [float(f"{each:.9e}") for each in (np.sqrt(np.mean(values**2)), *(weights @ values))]


def same(found: list[list[float]], kept: list[list[float]]) -> bool:
    """Whether two digests are of the same figures, but for rounding."""
    parts = zip(found, kept, strict=False)
    return len(found) == len(kept) and all(np.allclose(a, b, rtol=0, atol=TOLERANCE * b[0]) for a, b in parts)


def _draws(mechanism: Mechanism) -> Figures:
    release = mechanism.release(small(), X_TEST, _RNG(1), 3)
    try:
        return [release.samples, *release.interval(0.95, "outputs"), *release.interval(0.5, "function")]
    except ValueError:  # it has no interval
        return [release.samples]


def _gp() -> Figures:
    X, kernel, rng = small().X, EQ(lengthscale=2.0), _RNG(2)
    process = posterior_process(Matern12(lengthscale=2.0), X, np.sin(X[:, 0]), 1.5, 0.8, 0.4)
    return [
        cloaking_matrix(kernel, X, X_TEST, 0.3),
        cloaking_matrix(kernel, X, X_TEST, 0.3, method="lowrank", tolerance=0.05),
        *posterior(kernel, X, np.sin(X[:, 0]), X_TEST, 0.3),
        inducing_matrix(kernel, X, X_TEST, choose_inducing(X, 4, rng), 0.3),
        process.mean(X_TEST),
        process.covariance(X_TEST, X_TEST),
    ]


def _strategies() -> Figures:
    C = cloaking_matrix(Matern32(lengthscale=1.5), small(30).X, X_TEST, 0.3)
    weights = np.linspace(0.1, 1, len(X_TEST))
    designs = [design_noise(C), design_noise(C, "logdet"), design_noise(C, weights=weights, gap=1e-6)]
    return [each.covariance() for each in designs]


def _selection() -> Figures:
    data = small(60)
    plans = [plan_folds(EQ(lengthscale=length), data.X, k_folds(60, 5), 0.3) for length in (0.5, 2.0)]
    scores = grid_scores(plans, data)
    return [
        [difference_sensitivity(plans, 2.0), sse_sensitivity(plans, 2.0), published_sensitivity(plans, 2.0)],
        scores.sse,
        selection_probabilities(np.array([0.1, 0.5, 0.4]), 0.2, 1.0),
        permute_and_flip_probabilities(np.array([0.1, 0.5, 0.4]), 0.2, 1.0),
    ]


def _price(lengthscale: Any, r: Any, scale: Any) -> Any:
    return posterior_sampling_epsilon(40, r, scale, np.exp(-1 / lengthscale), 0.005, sensitivity="exponential_1d")


def _excursion() -> Figures:
    targets = excursion_1d.targets(2, n=20, noise=0.3, size=30)
    space = SearchSpace(lengthscale=(0.1, 1.0, 3), r=(0.5, 8.0, 3), scale=(0.05, 1.0, 3))
    found = [*search(targets, _price, (5.0, math.inf), space, rounds=1), *search_hall(targets, (2.0,), 0.005, space)]
    return [[each.lengthscale, each.r, each.scale, each.bce, each.epsilon] for each in found]


def _attack() -> Figures:
    inside, outside = (built("cloaking").release(data, X_TEST, _RNG(1), 40) for data in output_neighbours(small(), 3))
    attack, x, shadows = linear_attack(inside, outside), np.linspace(-2, 2, 9), Shadows(r=1.0, sigma=0.5, L=3)
    mixture = fit_mixture(np.concatenate([_RNG(3).normal(-1, 0.3, 80), _RNG(4).normal(1, 0.5, 60)]))
    scores = [attack.score(each.samples) for each in (inside, outside)]
    fitted = fitted_attack(inside.samples, outside.samples)
    seen = shadows.observe(_RNG(8), 20, member=True)
    bound = epsilon_lower_bound(_RNG(1).normal(1.5, 1, 200), _RNG(2).normal(0, 1, 200), 1e-3, 0.9)
    return [attack.weights, [attack.mu, bound], *scores, fitted.weights, mixture.log_density(x), *seen]


def _evaluation() -> Figures:
    data, folds = small(40), k_folds(40, 4)
    judged = [built(case) for case in ("cloaking", "sparse")]
    swept = [sweep(each, data, folds, (each.guarantee.budget.epsilon,), 3, 7) for each in judged]
    peers = [held_out(peer, data, folds, 0.5, 3, 7) for peer in (Polynomial(2), BinnedMeans(4))]
    return [*(part[0] for each in swept for part in (each.errors, each.half_width, each.half_score)), *peers]


def _bounds() -> Figures:
    bought = buy_bounds(small(800, y_bounds=(-1e6, 1e6)), 0.1, epsilon=3.0, delta=1e-4, rng=_RNG(4))
    return [bought.dataset.y_bounds, bought.counts, [bought.rest.epsilon]]


def cases() -> Iterator[tuple[str, Callable[[], Figures]]]:
    """Everything that has a digest, by its name."""
    for case in [*CASES, *OTHERS]:
        if not isinstance(built(case), BayesCloaking):
            yield f"draws of {case}", partial(_draws, built(case))
    yield from bayes_digests.cases()
    rooms = (_gp, _strategies, _selection, _excursion, _attack, _evaluation, _bounds)
    yield from ((room.__name__.strip("_").replace("_", " "), room) for room in rooms)


def kept() -> dict[str, list[list[float]]]:
    """The digests of the file."""
    found: dict[str, list[list[float]]] = json.loads(KEPT.read_text(encoding="utf-8"))
    return found


def rounding() -> list[list[float]]:
    """A digest of how this machine rounds: strategies over cells turn with it, and so do draws of Bayes cloaking."""
    A = _RNG(0).standard_normal((300, 200))
    parts = [A @ A.T, *np.linalg.eigh(A[:60].T @ A[:60])]
    return [[float(int(hashlib.sha256(np.ascontiguousarray(each).tobytes()).hexdigest()[:12], 16)) for each in parts]]


def apart(found: list[list[float]], before: list[list[float]]) -> float:
    """How far two digests are apart at most, relative to the size of each array."""
    parts = zip(found, before, strict=True)
    return max(float(np.max(np.abs(np.subtract(a, b)))) / max(abs(b[0]), 1e-300) for a, b in parts)


def compare(words: str) -> None:
    """Print how far those whose name holds the words are from the file."""
    for name, figures in cases():
        if words in name:
            print(f"{apart(digest(figures()), kept()[name]):.1e}  {name}", flush=True)


def renew() -> None:
    """Write the file anew."""
    found = {name: digest(figures()) for name, figures in cases()} | {ROUNDING: rounding()}
    rows = [f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in found.items()]
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} digests in {KEPT}")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(prog="python -m tests.digests", description=__doc__)
    asked.add_argument("--only", default="", metavar="WORDS")
    asked.add_argument("--renew", action="store_true")
    given = asked.parse_args()
    with threadpool_limits(1):  # several round otherwise
        if given.renew:
            renew()
        else:
            compare(given.only)
