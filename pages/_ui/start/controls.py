"""Controls of the start page."""

from __future__ import annotations

from typing import NamedTuple

from dpgp_core.accounting.losses import GaussianLoss, PureLoss
from pages._ui.compare.contenders import CONTENDERS, Contest, contender
from pages._ui.compare.controls import DATASET
from pages._ui.look.bound import choice, folded, pick
from pages._ui.look.offers import DropDown
from pages._ui.look.sidebar import dataset, delta_fits, overlay, privacy
from pages._ui.model import Draw, usual
from pages._ui.start.meaning import Family
from pages._ui.work import cached

FAMILY: DropDown[Family] = DropDown(
    "family",
    {
        "gaussian": "Gaussian: cloaking, GP prior, sparse DP-GP",
        "laplace": "Laplace: binning (δ = 0)",
        "any": "Any: nothing known but (ε, δ)",
    },
)
MECHANISM: DropDown[str] = DropDown(  # those whose promise holds at any epsilon, the recommended one first
    "decide_by",
    {name: entry.title for name, entry in CONTENDERS.items() if name != "published" and not entry.on_request},
)
_LOSSES = {"gaussian": GaussianLoss, "laplace": PureLoss, "any": object}


class Decision(NamedTuple):
    """What is decided: budget, the belief asked about, kind of noise; and the release whose error is shown."""

    draw: Draw
    prior: float
    family: Family
    contest: Contest
    mechanism: str
    overlay: bool


def decision() -> Decision:
    """The whole sidebar."""
    draw = privacy()
    belief = choice(
        "Chance beforehand [in 100]",
        "prior",
        (1, 5, 10, 25, 50, 75, 90),
        1,
        help="How likely somebody thinks the fact is, before seeing the release.",
    )
    name = dataset(DATASET)
    data = cached.dataset(name)
    delta_fits(draw.delta, data.n)
    contest = Contest(usual(name), draw.delta, 10, 6)
    with folded("What is released"):
        family = pick("Kind of privacy noise", FAMILY)
        fitting = [
            each
            for each in MECHANISM.titles
            if isinstance(contender(contest, each, 1.0).guarantee.loss, _LOSSES[family])
        ]
        mechanism = pick("Method", MECHANISM, fitting)
    return Decision(draw, belief / 100, family, contest, mechanism, overlay())
