"""What an attack found, in sentences and numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpgp_core.attack.roc import Estimate
from pages._ui.attack.attacks import CONFIDENCE, RATES, Attacked, allowed
from pages._ui.look import text
from pages._ui.look.metric import Metric


def metrics(attacked: Attacked) -> list[Metric]:
    """AUC, power at 1 %, promised and proven epsilon."""
    auc, power = attacked.roc.auc(CONFIDENCE), attacked.roc.power_at(0.01, CONFIDENCE)
    return [
        Metric("Area under the curve", f"{auc.value:.3f}", f"95 % interval {auc.low:.3f} to {auc.high:.3f}"),
        Metric(
            "Found at 1 % false alarms",
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


def answer(attacked: Attacked) -> str:
    """The plain sentence under the question."""
    power = attacked.roc.power_at(0.05, CONFIDENCE)
    limit = float(allowed(attacked.guarantee, np.array([0.05]))[0])
    verdict = (
        "The attack stays below what is promised, as it must."
        if attacked.epsilon_lower <= attacked.guarantee.budget.epsilon
        else "**The attack refutes the claim.**"
    )
    return (
        f"At 5 % false alarms this attack finds **{text.percent(power.value)}** of those who are there; "
        f"ε = {text.at_most(attacked.guarantee.budget.epsilon)} would allow "
        f"{text.percent(limit)}, guessing 5 %. {verdict}"
    )


def table(attacked: Attacked) -> pd.DataFrame:
    """Power with intervals at the usual false-alarm rates, beside what is allowed."""
    rows = []
    for rate in RATES:
        estimate: Estimate = attacked.roc.power_at(rate, CONFIDENCE)
        rows.append(
            {
                "false positive rate [%]": 100 * rate,
                "true positive rate [%]": round(100 * estimate.value, 2),
                "95 % low [%]": round(100 * estimate.low, 2),
                "95 % high [%]": round(100 * estimate.high, 2),
                "allowed by (ε, δ) [%]": round(100 * float(allowed(attacked.guarantee, np.array([rate]))[0]), 2),
            }
        )
    return pd.DataFrame(rows)


def steps(attacked: Attacked, paths: bool) -> list[tuple[str, str]]:
    """How the attack works, with its numbers."""
    count = len(attacked.roc.inside)
    first = (
        ("Attack", "LiRA: likelihood ratio of the released values at the target, densities fitted to shadow data sets")
        if paths
        else ("Attack", "likelihood ratio of two neighbouring data sets under the known noise: linear in the release")
    )
    return [
        first,
        ("Trials", f"{count:,} releases with the record and {len(attacked.roc.outside):,} without, all fresh"),
        ("Proven epsilon", "threshold chosen on half the scores, tested once on the other half, Clopper-Pearson"),
        ("Time", f"{attacked.seconds:.2f} s"),
    ]
