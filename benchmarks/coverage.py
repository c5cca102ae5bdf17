"""How often intervals hold what they promise: on held-out real outputs, and on data drawn from the declared model.

    python -m benchmarks coverage                 # about two minutes on one core
    python -m benchmarks coverage --draws 20 --worlds 100 --mechanisms refined sparse

Share of outputs inside the 50 / 90 / 95 / 99 % interval for one more output, for every mechanism of the catalogue and
epsilon 0.2, 1 and 5. Real data: five folds, each mechanism fitted on four and judged on the fifth, ``--draws`` noise
draws. From the model: ``--worlds`` data sets, each with test points of its own. The declared model is that of the pages
for the data sets that ship. Diabetes (442 patients, progression against body mass index and blood pressure) comes with
scikit-learn and was never looked at for a choice: its model and bounds are round numbers. Bayes cloaking takes its
automatic models, so its data from the model are of those; where inputs are private too, its intervals end at the
bounds, and so do the outputs that they are asked to hold. Mechanisms without an interval say why.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import datasets
from benchmarks.bayes.unseen import RAW, Unseen, declared
from benchmarks.shared import judged
from benchmarks.shared.judged import judge, releasing, splits
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.mixture import MixtureUncertainty
from dpgp_core.bayes.model import auto_models
from dpgp_core.gp.regression import output_covariance
from dpgp_core.gp.uncertainty import NoInterval
from dpgp_core.kernels import EQ, Kernel, Stationary
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.base import Mechanism, Release
from dpgp_core.mechanisms.catalogue import Parameters
from dpgp_core.table import Dataset

EPSILONS = (0.2, 1.0, 5.0)
TESTS = 40


@dataclass(frozen=True)
class Declared:
    """A table, the model declared for it, and bins along each input."""

    data: Dataset
    kernel: Stationary
    cells: int
    noise_variance: float = 0.3

    def mechanism(self, name: str, epsilon: float) -> Mechanism:
        """A row of the catalogue, built for this table."""
        public = Parameters(
            kernel=self.kernel,
            noise_variance=self.noise_variance,
            epsilon=epsilon,
            delta=0.01,
            x_box=self.data.x_box,
            n=self.data.n,
            cells=self.cells,
        )
        return CATALOGUE[name].build(public)


def tables() -> dict[str, Declared]:
    """Real data, by name."""
    return {
        "!Kung": Declared(datasets.load("kung"), EQ(lengthscale=25.0), 6),
        "London": Declared(datasets.load("london_hexes"), EQ(lengthscale=15.0), 5),
        "diabetes": Declared(diabetes(), EQ(lengthscale=(10.0, 30.0)), 4),
    }


def diabetes() -> Dataset:
    """Progression of 442 patients against body mass index and mean blood pressure."""
    box = ((15.0, 45.0), (60.0, 140.0))
    data = declared("diabetes", Unseen("load_diabetes", ("bmi", "bp"), box, "target", (0.0, 350.0), RAW))
    return replace(data, X=np.clip(data.X, *np.array(box).T), outcome=replace(data.outcome, scale=100.0))


def on_table(name: str, table: Declared, epsilon: float, draws: int) -> FloatArray:
    """Share of held-out outputs inside each interval (4,)."""
    return judge(table.mechanism(name, epsilon), splits(table.data), draws).inside


def on_worlds(name: str, table: Declared, epsilon: float, worlds: int) -> FloatArray:
    """Share of outputs inside each interval (4,), data drawn from the declared model at the table's inputs."""
    mechanism, data, rng = table.mechanism(name, epsilon), table.data, np.random.default_rng(5)
    low, high = np.array(data.x_box).T
    X_test = np.random.default_rng(6).uniform(low, high, (TESTS, len(low)))
    models: list[tuple[Kernel, float]] = [(table.kernel, table.noise_variance)]
    if isinstance(mechanism, BayesCloaking):
        half_range = data.output_range / data.y_scale / 2
        models = [(each.kernel, each.noise_variance) for each in auto_models(data.x_box, half_range)]
    release, shares = releasing(mechanism, data, X_test), []
    for index in rng.integers(len(models), size=worlds):
        y = data.in_data_units(drawn(*models[index], np.vstack([data.X, X_test]), rng))
        shares.append(inside(release(replace(data, y=y[: data.n]), rng, 1), y[data.n :]))
    return np.asarray(np.mean(shares, axis=0))


def drawn(kernel: Kernel, noise_variance: float, X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Outputs (n,) of a model, in its unit."""
    root = np.linalg.cholesky(output_covariance(kernel, X, noise_variance))
    return np.asarray(root @ rng.standard_normal(len(X)))


def inside(release: Release, truth: FloatArray) -> list[float]:
    """Share of truths inside each interval for one more output; cut to the bounds where the intervals are."""
    found = release.uncertainty
    if isinstance(found, MixtureUncertainty):
        truth = np.clip(truth, *found.outcome.bounds)
    return judged.inside(release, truth)


def without(name: str, table: Declared) -> str | None:
    """Why a mechanism has no interval; None if it has."""
    small = table.data.subset(np.arange(12))
    release = replace(table, data=small).mechanism(name, 1.0).release(small, small.X[:2], np.random.default_rng(0))
    return release.uncertainty.reason if isinstance(release.uncertainty, NoInterval) else None


def rows(given: Namespace) -> Iterator[dict[str, object]]:
    """One a mechanism and budget."""
    of_tables = tables()
    kung = of_tables["!Kung"]
    for name in given.mechanisms:
        title, reason = CATALOGUE[name].title, without(name, kung)
        for epsilon in given.epsilons if reason is None else ():
            row: dict[str, object] = {"mechanism": title, "ε": epsilon}
            found = {each: on_table(name, table, epsilon, given.draws) for each, table in of_tables.items()}
            found["the model"] = on_worlds(name, kung, epsilon, given.worlds)
            yield row | {each: " / ".join(f"{100 * share:.0f}" for share in found[each]) for each in found}
        if reason is not None:
            yield {
                "mechanism": title,
                "ε": "",
                "!Kung": f"none: {reason}",
                "London": "",
                "diabetes": "",
                "the model": "",
            }


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    names = {"mechanisms": list(CATALOGUE)}
    show(rows(options_of(__doc__, argv, names, draws=4, worlds=12, epsilons=list(EPSILONS))))
