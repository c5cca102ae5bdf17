"""Time and certified gap of the strategy of least Bayes risk, over data, models and budgets.

    python -m benchmarks.bayes_strategy                        # two minutes or so
    python -m benchmarks.bayes_strategy --data kung --epsilons 1 20

Problem: outputs within +-1, EQ kernels of variance 1/3 whose lengthscale is a share of the box, noise sd a share of
the half-range. "one" is lengthscale 1/8, noise .2; "auto" mixes lengthscales 1/16 ... 1/2 and noises .1, .2, .4. The
targets are a regular grid over the box. t = (2 s)^2 / share, with s the noise multiplier of (epsilon, delta) and share
what one stage of five gets of it, from 1/31 to 16/31. One thread; seconds are processor seconds, and in units of a
Cholesky factorisation of size 2,000. Building the models is not counted.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from benchmarks.noise_design import machine  # isort: skip; sets the thread caps before numpy is imported

import numpy as np
from scipy.linalg import cholesky

import datasets
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.gp.pivoted import factorise
from dpgp_core.kernels import EQ
from dpgp_core.strategies.bayes import bayes, risk_without_privacy
from dpgp_core.strategies.risk_model import RiskModel

DATA = {"kung": {}, "kung2": {"dims": 2}, "london_hexes": {}, "london_sales": {}}
AUTO = ((1 / 16, 1 / 8, 1 / 4, 1 / 2), (0.1, 0.2, 0.4))
ONE = ((1 / 8,), (0.2,))
SHARES = (1 / 31, 16 / 31)
HEADER = f"{'data':13}{'n':>6} {'models':7}{'epsilon':>8}{'delta':>8}{'share':>6}{'t / n':>10}{'rank':>5}{'gap':>9}"
HEADER += f"{'steps':>6}{'seconds':>9}{'Cholesky':>9}{'excess':>9}"


def load(name: str) -> Dataset:
    """The dataset of one name in DATA."""
    return datasets.load(name.removesuffix("2"), **DATA[name])


def models_of(data: Dataset, lengthscales: Sequence[float], noises: Sequence[float]) -> list[RiskModel]:
    """One model for every lengthscale and noise."""
    box = np.array(data.x_box)
    side = box[:, 1] - box[:, 0]
    axes = [np.linspace(low, high, 100 if data.dim == 1 else 14) for low, high in box]
    X_test: FloatArray = np.stack(np.meshgrid(*axes), -1).reshape(-1, data.dim)
    models = []
    for share in lengthscales:
        kernel = EQ(variance=1 / 3, lengthscale=tuple(share * side))
        V = factorise(kernel, np.vstack([data.X, X_test]), 1e-6).features.values()
        root = V[: data.n]
        targets = root @ V[data.n :].T / np.sqrt(len(X_test))
        weight = 1 / (len(lengthscales) * len(noises))
        for sd in noises:
            noise = np.full(data.n, sd**2)
            models.append(RiskModel(noise=noise, root=root, targets=targets, prior_risk=1 / 3, weight=weight))
    return models


def cholesky_seconds() -> float:
    """Processor seconds of the unit of time."""
    A = np.eye(2000) + np.ones((2000, 2000))
    seconds = []
    for _ in range(3):
        start = time.process_time()
        cholesky(A)
        seconds.append(time.process_time() - start)
    return min(seconds)


def rows(names: Sequence[str], epsilons: Sequence[float], delta: float, unit: float) -> Iterator[str]:
    """Lines of the table, one a problem."""
    for name in names:
        data = load(name)
        for label, grid in (("one", ONE), ("auto", AUTO)):
            models = models_of(data, *grid)
            least = risk_without_privacy(models)
            for epsilon in epsilons:
                for share in SHARES:
                    t = (2 * noise_multiplier(epsilon, delta)) ** 2 / share
                    start = time.process_time()
                    found = bayes(models, t)
                    seconds = time.process_time() - start
                    yield (
                        f"{name:13}{data.n:6} {label:7}{epsilon:8g}{delta:8g}{share:6.2f}{t / data.n:10.2g}"
                        f"{found.rank:5}{found.gap:9.1e}{found.iterations:6}{seconds:9.3f}{seconds / unit:9.2f}"
                        f"{found.risk - least:9.2g}"
                    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.05, 1.0, 5.0, 20.0])
    parser.add_argument("--delta", type=float, default=1e-2)
    choice = parser.parse_args(argv)
    unit = cholesky_seconds()
    print(machine())
    print(f"Cholesky(2000): {unit:.3f} s")
    print(HEADER)
    for row in rows(choice.data, choice.epsilons, choice.delta, unit):
        print(row, flush=True)


if __name__ == "__main__":
    main()
