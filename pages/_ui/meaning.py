"""What a budget means for one person: words and numbers of the start page."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from dpgp_core.kernels import EQ
from dpgp_core.mechanisms import Cloaking
from dpgp_core.privacy import Guarantee
from dpgp_core.tradeoff import attacker_success
from pages._ui.analysis import Draw

COMMON_EPSILONS = (0.1, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50)

WHO = """
A record's **output** (a height, a price) is protected from anyone who sees what was released, even if they know
every other record, the method and its settings. **Inputs** (an age, a place) are public on most pages: who took
part is not hidden, what they answered is. **Excursion sets** and **Sparse DP-GP** protect inputs too.
"""

WHAT = """
**ε** bounds how much one person's answer can change the odds of anything that is released: by a factor of at most
exp(ε). **δ** is the probability mass exempted from that bound. Smaller is more private for both, and costs accuracy.
"""

TRADEOFF_ALT = (
    "Misses against false alarms of an attacker. No attack on this noise gets below the red curve; "
    "inside the green region the (ε, δ) promise would be broken; the dotted line is blind guessing."
)

PAGES = (
    ("kung_curves", "How much noise hides one woman's height, on a growth curve?"),
    ("london_noise_map", "Where on a map of London is privacy cheap, and where is it dear?"),
    ("excursion_sets", "Where is it too high, seen through private posterior paths?"),
    ("sparse_dp_gp", "What if the inputs are private too?"),
    ("attack", "Can an attacker tell who is in the data?"),
    ("lengthscale_choice", "Which lengthscale should a private analysis use, and what does choosing it cost?"),
    ("compare", "Which mechanism costs least, and which ε does a target error need?"),
    ("how_cloaking_works", "Why does one person need so little noise to hide?"),
)

LESSONS = (
    ("ε = 0.1: the attacker learns almost nothing.", {"epsilon": 0.1}),
    ("ε = 10: what many deployments use.", {"epsilon": 10}),
    ("A rare fact, believed at 1 % beforehand: how much does ε = 1 give away?", {"prior": 1}),
)


class Attack(NamedTuple):
    """The best attacker's chance of being right before and after, and the noise behind it."""

    before: float
    after: float
    multiplier: float
    guarantee: Guarantee


def odds_of_attack(draw: Draw, prior: float) -> Attack:
    """For one cloaking release at this budget and an attacker of this prior belief in (0, 1)."""
    mechanism = Cloaking(kernel=EQ(), noise_variance=1.0, epsilon=draw.epsilon, delta=draw.delta)
    return Attack(
        before=max(prior, 1 - prior),
        after=attacker_success(prior, 1 / mechanism.noise_multiplier),
        multiplier=mechanism.noise_multiplier,
        guarantee=mechanism.guarantee,
    )


def table(draw: Draw, prior: float) -> pd.DataFrame:
    """The same at common values of epsilon, at this delta."""
    rows = []
    for epsilon in COMMON_EPSILONS:
        attack = odds_of_attack(Draw(epsilon=epsilon, delta=draw.delta), prior)
        rows.append(
            {
                "epsilon": epsilon,
                "delta": draw.delta,
                "attacker right before [%]": round(100 * attack.before, 2),
                "attacker right after [%]": round(100 * attack.after, 2),
                "noise sd / one person's reach": round(attack.multiplier, 4),
            }
        )
    return pd.DataFrame(rows)
