"""What a row of the catalogue says of a mechanism, and what a mechanism is built from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..kernels import KERNELS, Stationary
from ..seasons import Periods
from .base import Mechanism

EXACT_ROWS = 5_000
"""Most rows for mechanisms that keep a matrix of rows by prediction points."""
FACTORED_ROWS = 200_000
"""Most rows for mechanisms that keep it in factors of low rank."""
ANY_ROWS = 2_000_000
"""Most rows for mechanisms that read records in one pass."""

KERNEL_NAMES = {kernel.__name__: kernel for kernel in KERNELS}
Role = Literal["private", "other", "truth", "guarantee", "bins"]
Dash = Literal["solid", "dash", "dot", "longdash", "dashdot"]


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """What a mechanism is built from, all of it public; each row below takes what it needs.

    Args:
        kernel: the prior, of variance 1 in model units.
        noise_variance: variance of one record about the curve, in squared model units.
        epsilon, delta: the budget of one release; pure mechanisms leave delta out.
        x_box: D public (low, high) pairs.
        n: number of records, public.
        cells: cells of the box along each input, for mechanisms that divide it.
        inducing: number of inducing inputs in all; None for one in every cell.
        clip: of refined cloaking, in noise standard deviations; None for its default.
        fit_noise: integral bins choose the noise variance themselves.
        ridge, path_scale: r and s of kernel sums and posterior paths.
        periods: of each input, for mechanisms that make their models themselves; () where none has one.
        gap: of planned strategies; looser is faster, costs accuracy and never privacy. None for its default.
    """

    kernel: Stationary
    noise_variance: float
    epsilon: float
    delta: float
    x_box: tuple[tuple[float, float], ...]
    n: int = 0
    cells: int | None = None
    inducing: int | None = None
    clip: float | None = None
    fit_noise: bool = False
    ridge: float = 2.0
    path_scale: float = 0.8
    periods: Periods = ()
    gap: float | None = None

    @property
    def needed_cells(self) -> int:
        """``cells``.

        Raises:
            ValueError: there is no such number.
        """
        if self.cells is None:
            raise ValueError("this mechanism needs cells, the number of cells along each input")
        return self.cells


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A row of the catalogue.

    Attributes:
        id: its name in configurations and addresses; titles may change, it does not.
        kind: its class.
        title: a few words for menus, tables and legends.
        build: the mechanism for parameters.
        released: offered for real releases.
        compared: offered in comparisons.
        drawn: offered on pages that show one release.
        pure: its delta is 0.
        private_inputs: it protects inputs too.
        max_rows: most rows it takes in a real release, see ``rows_for``.
        many_inputs: input columns up to which it takes so many.
        max_inputs: most input columns it takes.
        uses_cells: it divides the box as finely as it is told.
        automatic: it makes its models itself, from box and bounds; kernel, lengthscale and noise are not used.
        scatter: it measures how far people are apart.
        levels: it takes inputs that are categories.
        people: it hides all rows of one person at the price of one, where a column says whose row each is.
        kernels: names of the kernels it works with.
        simulated: draws in comparisons; fewer where each is a fit of its own.
        on_request: compared only where asked for, since it takes long.
        look: colour and dash of its line.
        banded: its spread over draws is drawn too.
    """

    id: str
    kind: type[Mechanism]
    title: str
    build: Callable[[Parameters], Mechanism]
    released: bool = False
    compared: bool = False
    drawn: bool = False
    pure: bool = False
    private_inputs: bool = False
    max_rows: int = EXACT_ROWS
    many_inputs: int = 10
    max_inputs: int = 10
    uses_cells: bool = False
    automatic: bool = False
    scatter: bool = False
    levels: bool = False
    people: bool = False
    kernels: tuple[str, ...] = tuple(KERNEL_NAMES)
    simulated: int = 60
    on_request: bool = False
    look: tuple[Role, Dash] = ("other", "solid")
    banded: bool = False

    def rows_for(self, inputs: int) -> int:
        """Most rows of so many input columns that it takes in a real release."""
        return self.max_rows if inputs <= self.many_inputs else min(self.max_rows, EXACT_ROWS)
