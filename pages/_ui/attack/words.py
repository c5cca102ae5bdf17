"""What an attack found, in sentences and numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.attack.roc import Estimate
from pages._ui.attack.attacks import CONFIDENCE, RATES, Attacked, allowed
from pages._ui.look import text
from pages._ui.look.text import Metric

BLAMED = 0.05  # innocent people that are accused, in the sentence


def metrics(attacked: Attacked) -> list[Metric]:
    """Area under the curve, how many are found, promised and proven epsilon."""
    auc, power = attacked.roc.auc(CONFIDENCE), attacked.roc.power_at(0.01, CONFIDENCE)
    return [
        Metric(
            "Area under the curve", f"{auc.value:.3f}", f"95 % range {auc.low:.3f} to {auc.high:.3f}; guessing has 0.5"
        ),
        Metric(
            "Found if 1 in 100 is accused",
            text.percent(power.value),
            f"{text.percent(power.low)} to {text.percent(power.high)}",
        ),
        Metric(
            "ε promised",
            text.at_most(attacked.guarantee.budget.epsilon),
            f"δ = {text.small(attacked.guarantee.budget.delta)}",
        ),
        Metric("ε proven by this attack", f"≥ {text.at_least(attacked.epsilon_lower)}", "95 % confidence"),
    ]


TITLE = "What can an attacker tell about one person?"


_WHO = "The attack asks who is in the data, for here inputs are hidden too."
_WHAT = (
    "The attack asks what one person answered, not who took part, which is not hidden. Those present gave the "
    "highest answer that the bounds allow, the innocent the lowest."
)


def about(paths: bool) -> str:
    """What the attacker wants to know: whether somebody took part, or what they answered."""
    return _WHO if paths else _WHAT


def answer(attacked: Attacked, paths: bool) -> str:
    """The plain sentences under the question, in people of 100."""
    share = 100 * attacked.roc.power_at(BLAMED, CONFIDENCE).value
    most = 100 * float(allowed(attacked.guarantee, np.array([BLAMED]))[0])
    refuted = "" if _held(attacked) else " **The attack refutes the promise.**"
    return (
        f"An attacker who may accuse {100 * BLAMED:g} in 100 innocent people finds **{text.number(share)} in 100** of "
        f"those present. Guessing finds {100 * BLAMED:g}; the promise allows {text.at_most(most, 2)} at most.{refuted} "
        f"{about(paths)}"
    )


def _held(attacked: Attacked) -> bool:
    return attacked.epsilon_lower <= attacked.guarantee.budget.epsilon


def caption(attacked: Attacked) -> str:
    """What the picture shows, with its values."""
    rows = ((rate, attacked.roc.power_at(rate, CONFIDENCE).value) for rate in RATES)
    limits = (100 * float(allowed(attacked.guarantee, np.array([rate]))[0]) for rate in RATES)
    values = ", ".join(
        f"{text.number(100 * found)} found of {text.at_most(most, 2)} allowed where {100 * rate:g} are accused"
        for (rate, found), most in zip(rows, limits, strict=True)
    )
    promised = "what is promised (green, dashed)"
    held = f"stays below {promised}, as it must" if _held(attacked) else f"finds more than {promised.partition(' ')[2]}"
    return f"The attack (red) {held}. In 100: {values}."


LOGARITHMIC = "The same, stretched on the left: a real attacker needs few false accusations."


def table(attacked: Attacked) -> pd.DataFrame:
    """How many are found at the usual rates of false accusations, beside what is allowed."""
    rows = []
    for rate in RATES:
        estimate: Estimate = attacked.roc.power_at(rate, CONFIDENCE)
        rows.append(
            {
                "innocent people accused [%]": 100 * rate,
                "people present who are found [%]": round(100 * estimate.value, 2),
                "95 % range from [%]": round(100 * estimate.low, 2),
                "to [%]": round(100 * estimate.high, 2),
                "the promise allows [%]": round(100 * float(allowed(attacked.guarantee, np.array([rate]))[0]), 2),
            }
        )
    return pd.DataFrame(rows)


def steps(attacked: Attacked, paths: bool) -> list[tuple[str, str]]:
    """How the attack works, with its numbers."""
    count = len(attacked.roc.inside)
    first = (
        (
            "Attack",
            "LiRA: the likelihood ratio of the released values at the target. Densities are fitted to simulated data",
        )
        if paths
        else (
            "Attack",
            "the likelihood ratio of two neighbouring data sets under the known noise. It is linear in the release",
        )
    )
    return [
        first,
        ("Trials", f"{count:,} releases with the person and {len(attacked.roc.outside):,} without, all fresh"),
        (
            "Proven epsilon",
            "the threshold is chosen on half of the scores and tested once on the other half (Clopper-Pearson)",
        ),
        ("Time", f"{attacked.seconds:.2f} s"),
    ]
