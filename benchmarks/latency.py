"""Every speed target of the core, measured on this machine in one run: what a page waits for, and what a batch takes.

    python -m benchmarks latency                     # a few minutes
    python -m benchmarks latency --largest 100000 --parts pages design

Times of pages are the best of a few runs of the functions that pages call, without their caches: "lengthscale" is C,
the noise of the default mechanism (refined cloaking) and of the published one, a draw of each, and intervals; "epsilon"
is a new budget and draw of each, whose intervals are a row of their own. The slowest lengthscale of the page's slider
counts. Other rows run other benchmarks' code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import log
from typing import NamedTuple

import numpy as np

from benchmarks import noise_design, scale
from benchmarks.attacks import lira
from benchmarks.excursion import tables as excursion_tables
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine, quickest, timed
from datasets import EXHIBITS, exhibit, kung, load, london_sales
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from dpgp_core.gp.regression import cloaking_matrix
from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import SparseVariational
from pages._ui.cloaking import results
from pages._ui.model import PAPER_DESIGN, Design, Draw, Model, load_dataset

PARTS = ("design", "pages", "batch", "scale")
PAGES = {"kung": 0.15, "london_hexes": 0.5}  # seconds allowed for a new lengthscale
BUDGET_SECONDS = 0.05
INTERVAL_SECONDS: dict[str | None, float] = {"curve": 0.15, "map": 0.5}
DESIGN_SECONDS, LIRA_SECONDS, SPARSE_SECONDS = 0.1, 5.0, 0.02
SCALE_SECONDS, SCALE_MEMORY = 60.0, 8.0


class Row(NamedTuple):
    """What was measured against its target, both in ``unit``; a smaller figure is better."""

    work: str
    target: float
    measured: float
    unit: str = "ms"

    def cells(self) -> dict[str, object]:
        """As printed."""
        ratio = self.measured / self.target
        target, measured = (f"{value:.4g} {self.unit}".rstrip() for value in (self.target, self.measured))
        verdict = "met" if ratio <= 1 else f"missed by {100 * (ratio - 1):.0f} %"
        return {"work": self.work, "target": target, "measured": measured, "ratio": f"{ratio:.2f}", "": verdict}


def milliseconds(work: str, target: float, seconds: float) -> Row:
    """A row in milliseconds from seconds."""
    return Row(work, 1e3 * target, 1e3 * seconds)


def design_rows(repeats: int) -> Iterator[Row]:
    """The noise of !Kung at 200 test ages, and C and noise of the published London size over a dense Cholesky."""
    C = cloaking_matrix(EQ(lengthscale=25.0), kung.load().X, np.linspace(-50, 150, 200)[:, None], 0.3)
    for objective in ("trace", "logdet"):
        seconds = noise_design.our_seconds(C, objective)
        yield milliseconds(f"noise design, !Kung n 287, P 200, {objective}", DESIGN_SECONDS, seconds)
    n = london_sales.N_PUBLISHED
    took = min(scale.measure(n, 400, 1).release for _ in range(repeats))
    yield Row(f"C and design, n {n:,}, P 400, over a Cholesky", 1.0, took / scale.floor_seconds(n), "")


class Page:
    """What a page on one dataset computes for noise that is added once, and for the published method beside it."""

    designs = (Design(mechanism="refined"), PAPER_DESIGN)
    draws = (Draw(epsilon=1.0, delta=0.01), Draw(epsilon=1.0, delta=0.01, calibration="hall"))

    def __init__(self, name: str) -> None:
        self.name = name
        self.dataset = load_dataset(name)
        shown = exhibit(name)
        self.scene = results.scene_of(self.dataset, shown.name)

    def prepare(
        self, lengthscale: float
    ) -> tuple[Callable[[], list[tuple[FloatArray, Guarantee]]], Callable[[], list[tuple[FloatArray, ...]]]]:
        """Stages 1 and 2; returns stage 3, which is all that a new draw needs, and the intervals of a new budget."""
        model = Model(self.name, "EQ", lengthscale, 0.3)
        fit = results.stage_matrix(self.dataset, self.scene, model)
        plans = [results.stage_plan(self.dataset, self.scene, fit, model, design) for design in self.designs]
        settings = list(zip(plans, self.designs, self.draws, strict=True))

        def draws() -> list[tuple[FloatArray, Guarantee]]:
            return [
                results.stage_draws(self.dataset, self.scene, plan, model, design, draw)
                for plan, design, draw in settings
            ]

        def intervals() -> list[tuple[FloatArray, ...]]:
            return [
                results.stage_halves(self.dataset, self.scene, plan, model, design, draw)
                for plan, design, draw in settings
            ]

        return draws, intervals

    def show(self, lengthscale: float) -> None:
        """All stages, nothing cached."""
        for stage in self.prepare(lengthscale):
            stage()


def page_rows(repeats: int) -> Iterator[Row]:
    """What changing a control costs in the core."""
    for name in analysed():
        page, shown = Page(name), exhibit(name)
        outcomes, intervals = page.prepare(shown.lengthscale)
        yield milliseconds(f"epsilon, delta, draw: {name}", BUDGET_SECONDS, quickest(outcomes, repeats))
        yield milliseconds(
            f"intervals at a new epsilon: {name}", INTERVAL_SECONDS[shown.scene], quickest(intervals, repeats)
        )
        if name in PAGES:
            times = {length: quickest(partial(page.show, length), repeats) for length in shown.lengthscales}
            for what, length in (("default", shown.lengthscale), ("slowest", max(times, key=times.__getitem__))):
                yield milliseconds(f"lengthscale: {name}, {length:g} {shown.unit} ({what})", PAGES[name], times[length])


def analysed() -> list[str]:
    """Datasets of the pages that show a release."""
    return [shown.name for scene in ("curve", "map") for shown in EXHIBITS.values() if shown.scene == scene]


def batch_rows(shadows: int, sets: int, grid: int) -> Iterator[Row]:
    """LiRA, the excursion search and a sparse fit, by the code of their own benchmarks."""
    seconds = lira.measure(lira.GOLDEN[0], "halves", 0, shadows)[1]
    yield Row(f"LiRA, {shadows:,} shadows, L 3", LIRA_SECONDS, seconds, "s")
    seconds = timed(lambda: excursion_tables.speed_line(sets, grid, 6))
    yield Row(f"1-D excursion search, {sets} sets", excursion_tables.SPEED_TARGET, seconds, "s")
    growth = load("growth_2d")
    mechanism = SparseVariational(
        epsilon=1.0, delta=0.01, kernel=EQ(lengthscale=[3.0, 15.0]), noise_variance=0.05, n_inducing=3
    )
    seconds = quickest(lambda: mechanism.fit(growth, np.random.default_rng(0)), 3)
    yield milliseconds(f"sparse DP-GP fit, N {growth.n:,}, 9 inducing", SPARSE_SECONDS, seconds)


def scale_rows(largest: int) -> Iterator[Row]:
    """C and the trace design for very many records, in processes of their own; two threads."""
    small, large = (scale.measure_apart(n, 400, 2) for n in (largest // 100, largest))
    yield Row(f"n = {largest:,}, P 400, C and design", SCALE_SECONDS, large.release, "s")
    yield Row(f"n = {largest:,}, P 400, memory", SCALE_MEMORY, large.peak, "GB")
    yield Row(f"growth from n = {small.n:,}, exponent", 1.0, log(large.release / small.release, 100), "")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    given = options_of(__doc__, argv, {"parts": PARTS}, repeats=5, largest=1_000_000, shadows=10_000)
    parts = {
        "design": partial(design_rows, given.repeats),
        "pages": partial(page_rows, given.repeats),
        "batch": partial(batch_rows, given.shadows, 100, 800),
        "scale": partial(scale_rows, given.largest),
    }
    print(machine())
    show(row.cells() for name in given.parts for row in parts[name]())
