"""What one should see at each step of the tour, with numbers computed here, so that no claim can go stale."""

from __future__ import annotations

import math

import numpy as np

from datasets import exhibit
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.tradeoff import attacker_success
from dpgp_core.arrays import FloatArray
from pages._ui import attack as _ui_attack
from pages._ui.cloaking.computed import run, run_published
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.words import at_records
from pages._ui.compare import computed as compare
from pages._ui.compare import contenders
from pages._ui.hiding import two_points
from pages._ui.hiding.two_points import TwoPointSettings
from pages._ui.lengthscale import choice
from pages._ui.lengthscale import computed as lengthscale
from pages._ui.look import offers, text
from pages._ui.model import Design, Draw, Model

DELTA = offers.DELTA
KUNG = Model("kung", "EQ", 25.0, 0.3)
_DENSE = 15  # sales in a hexagon


def success(epsilon: float) -> float:
    """The best attacker's chance to be right about a fair coin, against Gaussian noise at the tour's delta."""
    return attacker_success(0.5, 1 / noise_multiplier(epsilon, DELTA))


def promise() -> str:
    """Step 1."""
    strong, start, weak = (text.percent(success(epsilon)) for epsilon in (0.1, 0.5, 10))
    return (
        f"Who tosses a coin is right 50 % of the time. At ε = 0.5 the best attacker is right **{start}** of the time. "
        f"At ε = 0.1 it is {strong}, at ε = 10 {weak}. A small ε leaves almost nothing to learn about you, a large one "
        "most of it."
    )


def two_point_noise(x2: float) -> float:
    """Cloaking noise per unit budget at the more exposed test point: record 1 at 4.5, record 2 at x2, d = 2."""
    points = two_points.build(TwoPointSettings(4.5, x2, 1.5, 0.1, 2.0))
    return points.d * float(np.sqrt(points.design.covariance().diagonal().max()))


def neighbours() -> str:
    """Step 2."""
    apart, together = two_point_noise(5.5), two_point_noise(4.5)
    return (
        "In the same place the two share one pull on the predictions. Each can move them less, and in the same "
        "direction. The lines in the right picture fall together, and the orange ellipse shrinks onto them. The "
        f"privacy noise at the more exposed point falls from {text.number(apart)} to **{text.number(together)}** for "
        "the same promise."
    )


def kung_noise(epsilon: float, published: bool) -> float:
    """Half of the 95 % interval of the privacy noise, median over the records, in cm."""
    draw = Draw(epsilon=epsilon, delta=DELTA)
    result = run_published(KUNG, draw) if published else run(KUNG, Design(mechanism="cloaking"), draw)
    return at_records(result, _noise(result))


def _noise(result: Result) -> FloatArray:
    assert result.intervals.noise is not None  # it is added once
    return result.intervals.noise


def twice_the_budget() -> str:
    """Step 3."""
    half, one, paper = kung_noise(0.5, False), kung_noise(1, False), kung_noise(0.5, True)
    return (
        f"The privacy noise falls from ± {text.number(half)} cm to ± {text.number(one)} cm (95 % of releases, for a "
        "typical person). Twice the ε needs a little more than half the noise. The method of 2018 needs "
        f"± {text.number(paper)} cm at ε = 0.5. That is **{text.number(paper / half)} times** as much for the same "
        "promise."
    )


def london_noise(lengthscale: float) -> tuple[float, float]:
    """Half of the noise's 95 % interval in log price, median where many sales are and where none is."""
    model = Model("london_hexes", "EQ", lengthscale, 0.3)
    result = run(model, Design(mechanism="refined"), Draw(epsilon=1.0, delta=DELTA))
    assert result.outcome.scene.labels is not None
    sales = result.outcome.scene.labels["sales"].to_numpy()
    noise = _noise(result)
    return float(np.median(noise[sales >= _DENSE])), float(np.median(noise[sales == 0]))


def dear_places() -> str:
    """Step 4."""
    dense, empty = london_noise(15.0)
    dense_8, _ = london_noise(8.0)
    return (
        f"Where at least {_DENSE} sales are, 95 % of releases stay within {text.factor_of(dense)} of a price. In "
        f"hexagons without a sale it is **{text.factor_of(empty)}**. They have few neighbours to hide among. At 8 km "
        f"every hexagon has fewer of them. Then even the dense ones need {text.factor_of(dense_8)}."
    )


def best_lengthscales() -> tuple[float, float]:
    """Lengthscales [years] of least expected private error at epsilon 0.1 and 10."""
    unit_grid = choice.Grid(KUNG, exhibit(KUNG.dataset).lengthscales, "trace")
    scored = lengthscale.scored(unit_grid)
    best = []
    for epsilon in (0.1, 10.0):
        budgets = choice.Budgets(1.0, epsilon, DELTA, "analytic", "exponential")
        best.append(choice.describe(choice.tabulate(scored, budgets), unit_grid, budgets).best)
    return best[0], best[1]


def best_lengthscale() -> str:
    """Step 5."""
    private, loose = best_lengthscales()
    return (
        f"Yes. At ε = 10 the least error comes with **{loose:g} years**, at ε = 0.1 with **{private:g} years**. "
        "The more noise a release needs, the more people each value should average over. "
        "The likeliest tiles climb from left to right."
    )


def attack_limit() -> str:
    """Step 6."""
    attack = _ui_attack.OutputAttack(KUNG, "cloaking", Draw(epsilon=1.0, delta=DELTA), 10000)
    attacked = _ui_attack.attacked(attack)
    return (
        "**No.** But for chance, red stays below the green limit. This attack is the best there is against Gaussian "
        f"noise. It proves ε ≥ {text.at_least(attacked.epsilon_lower, 2)} where "
        f"{attacked.guarantee.budget.epsilon:g} is promised. Against posterior paths red stays far below green. There "
        "the promise is a bound, and no known attack comes near it."
    )


def needed(target: float) -> float:
    """Epsilon that refined cloaking needs for an error of ``target`` cm on people left out; inf if none is enough."""
    contest = contenders.Contest(KUNG, DELTA, 10, 6)
    epsilon = compare.needed(contest, "refined", target)
    return math.inf if epsilon is None else epsilon


def price_of_accuracy() -> str:
    """Step 7."""
    nine, eight = needed(9.0), needed(8.0)
    return (
        f"Refined cloaking needs ε = {text.at_most(nine, 2)} for an error of 9 cm, and **ε = "
        f"{text.at_most(eight, 2)}** for 8 cm. The last centimetre costs {text.number(eight / nine)} times the ε. So "
        "ask for the accuracy that you need, and no more."
    )
