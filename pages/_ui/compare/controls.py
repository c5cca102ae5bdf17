"""Controls of the comparison."""

from __future__ import annotations

from typing import NamedTuple

from datasets import EXHIBITS
from pages._ui import session
from pages._ui.compare.contenders import BY_WAIT, CONTENDERS, USUAL, Contest
from pages._ui.compare.words import Scale
from pages._ui.look import offers, pictures, state
from pages._ui.look.bound import choice, folded, pick, side, switch
from pages._ui.look.offers import DropDown, of_datasets
from pages._ui.look.sidebar import dataset, delta_fits, model, privacy
from pages._ui.work import cached

BINS = (3, 4, 6, 10, 20, 30)
INDUCING = (4, 6, 10, 20, 30, 50)
_INPUTS_TOO = (
    "A dozen seconds where it is new, a minute with two inputs: every draw plans its stages anew. Two draws, so its "
    "standard error is wide."
)
DATASET = of_datasets("compare_dataset", (exhibit for exhibit in EXHIBITS.values() if exhibit.cross_validated))


CHART = "compare_errors"
_NONE = "none"
RELEASE_OF = DropDown("release_of", {_NONE: "None", **{name: entry.title for name, entry in CONTENDERS.items()}})


class CompareSettings(NamedTuple):
    """Settings shared by all methods, the epsilon where they are ranked, who they are, and whether all are drawn."""

    contest: Contest
    epsilon: float
    names: tuple[str, ...] = USUAL
    every: bool = False


def compare_settings() -> CompareSettings:
    """The sidebar of the comparison."""
    draw = privacy()
    name = dataset(DATASET)
    delta_fits(draw.delta, cached.dataset(name).n)
    chosen = model(name)
    with folded("Methods"):
        every = switch("All methods in the picture", "all_methods", help="The table always has all.")
        names = BY_WAIT if switch("Bayes cloaking, inputs too", "inputs_too", help=_INPUTS_TOO) else USUAL
        bins = choice("Bins along each input", "bins", BINS, 10, help="For both binning mechanisms; public.")
        inducing = choice("Inducing inputs", "inducing", INDUCING, 6, help="For cloaking with inducing inputs; public.")
    return CompareSettings(Contest(chosen, draw.delta, int(bins), int(inducing)), draw.epsilon, names, every)


def target(nonprivate: float, scale: Scale) -> float:
    """The inverse question: the largest error that would do, in the output's unit.

    Untouched it is a quarter above the error without privacy, wherever the other controls move that.
    """
    usual = float(f"{1.25 * scale.show(nonprivate):.2g}")
    key = "target_percent" if scale.logarithmic else f"target_{scale.unit or 'units'}"
    typed = side().number_input(
        f"I need an error of at most [{scale.unit}]",
        min_value=0.001,
        max_value=10_000.0,
        value=None,
        placeholder=f"{usual:g}",
        key=key,
        bind="query-params",
        help="The table and the sentence then say which ε that needs.",
    )
    goal = usual if typed is None else float(typed)
    state.note(key, typed, None, f"{goal:g}")
    return scale.back(goal)


def release_of() -> str | None:
    """The contender whose release is shown beside the curves; None for none."""
    with folded("One release"):
        name = pick("Show one release of", RELEASE_OF, help="Or click a point of its curve.")
    return None if name == _NONE else name


def take_point() -> None:
    """Callback: of the clicked point of a curve, show the release."""
    point = pictures.clicked(CHART)
    if point is not None:
        name, at = point
        epsilon = next(option for option in offers.EPSILONS if option == at)
        session.move({"epsilon": epsilon, RELEASE_OF.key: RELEASE_OF.titles[name]})


def asks_for_limits() -> bool:
    """Whether what is possible under the prior is wanted: some seconds of simulation."""
    return switch("Draw the limits", "limits", help="Simulated for these settings, some ten seconds. Reads no output.")
