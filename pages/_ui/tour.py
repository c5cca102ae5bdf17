"""The guided tour (``?tour=1``): its steps, with questions and computed answers."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import streamlit as st

from datasets import exhibit
from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.accounting.tradeoff import attacker_success
from dpgp_core.arrays import FloatArray
from pages._ui import attack, menu, session
from pages._ui.cloaking.computed import run, run_published
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.words import at_records
from pages._ui.compare import compute as compare
from pages._ui.hiding import two
from pages._ui.hiding.two import TwoPointSettings
from pages._ui.lengthscale import compute as lengthscale_choice
from pages._ui.look import offers, settings, text
from pages._ui.look.offers import whole
from pages._ui.model import Design, Draw, Model, usual

DELTA = offers.DELTA
KUNG = usual("kung")
_DENSE = 15  # sales in a hexagon


def success(epsilon: float) -> float:
    """Return the probability that the best attacker guesses a fair coin flip, given Gaussian noise at the tour's
    delta.
    """
    return attacker_success(0.5, 1 / noise_multiplier(epsilon, DELTA))


def promise() -> str:
    """Return the answer of step 1."""
    strong, start, weak = (text.percent(success(epsilon)) for epsilon in (0.1, 0.5, 10))
    return (
        f"Who tosses a coin is right 50 % of the time. At ε = 0.5 the best attacker is right **{start}** of the time. "
        f"At ε = 0.1 it is {strong}, at ε = 10 {weak}. A small ε leaves almost nothing to learn about you, a large one "
        "most of it."
    )


def two_point_noise(x2: float) -> float:
    """Return the cloaking noise per unit budget at the more exposed test point: group 1 at 4.5, group 2 at x2, d =
    2.
    """
    points = two.build(TwoPointSettings(4.5, x2, 1.5, 0.1, 2.0))
    return float(np.sqrt(points.cloaking.diagonal().max()))


def neighbours() -> str:
    """Return the answer of step 2."""
    apart, together = two_point_noise(5.5), two_point_noise(4.5)
    return (
        "In the same place all share one pull on the predictions. Each can move them less, and in the same "
        "direction. The lines in the right picture fall together, and the orange ellipse shrinks onto them. The "
        f"privacy noise at the more exposed point falls from {text.number(apart)} to **{text.number(together)}** for "
        "the same promise."
    )


def kung_noise(epsilon: float, published: bool) -> float:
    """Return the half-width of the 95 % interval of the privacy noise [cm], median over the records."""
    draw = Draw(epsilon=epsilon, delta=DELTA)
    result = run_published(KUNG, draw) if published else run(KUNG, Design(mechanism="cloaking"), draw)
    return at_records(result, _noise(result))


def _noise(result: Result) -> FloatArray:
    assert result.intervals.noise is not None  # this noise is added once
    return result.intervals.noise


def twice_the_budget() -> str:
    """Return the answer of step 3."""
    half, one, paper = kung_noise(0.5, False), kung_noise(1, False), kung_noise(0.5, True)
    return (
        f"The privacy noise falls from ± {text.number(half)} cm to ± {text.number(one)} cm (95 % of releases, for a "
        "typical person). Twice the ε needs a little more than half the noise. The method of 2018 needs "
        f"± {text.number(paper)} cm at ε = 0.5. That is **{text.number(paper / half)} times** as much for the same "
        "promise."
    )


def london_noise(lengthscale: float) -> tuple[float, float]:
    """Return the half-width of the noise's 95 % interval in log price: medians where many sales are, and where none
    is.
    """
    model = Model("london_hexes", "EQ", lengthscale, 0.3)
    result = run(model, Design(mechanism="refined"), Draw(epsilon=1.0, delta=DELTA))
    assert result.scene.labels is not None
    sales = result.scene.labels["sales"].to_numpy()
    noise = _noise(result)
    return float(np.median(noise[sales >= _DENSE])), float(np.median(noise[sales == 0]))


def dear_places() -> str:
    """Return the answer of step 4."""
    dense, empty = london_noise(15.0)
    dense_8, _ = london_noise(8.0)
    return (
        f"Where at least {_DENSE} sales are, 95 % of releases stay within {text.factor_of(dense)} of a price. In "
        f"hexagons without a sale it is **{text.factor_of(empty)}**. They have few neighbours to hide among. At 8 km "
        f"every hexagon has fewer of them. Then even the dense ones need {text.factor_of(dense_8)}."
    )


def best_lengthscales() -> tuple[float, float]:
    """Return the lengthscales [years] with the smallest expected private error at epsilon 0.1 and 10."""
    grid = lengthscale_choice.Grid(KUNG, exhibit(KUNG.dataset).lengthscales, "trace")
    scored = lengthscale_choice.scored(grid)
    best = []
    for epsilon in (0.1, 10.0):
        budgets = lengthscale_choice.Budgets(1.0, epsilon, DELTA, "analytic", "exponential")
        best.append(lengthscale_choice.Choice(grid, budgets, scored).best)
    return best[0], best[1]


def best_lengthscale() -> str:
    """Return the answer of step 5."""
    private, loose = best_lengthscales()
    return (
        f"Yes. At ε = 10 the least error comes with **{loose:g} years**, at ε = 0.1 with **{private:g} years**. "
        "The more noise a release needs, the more people each value should average over. "
        "The likeliest tiles climb from left to right."
    )


def attack_limit() -> str:
    """Return the answer of step 6."""
    attacked = attack.attacked(attack.OutputAttack(KUNG, "cloaking", Draw(epsilon=1.0, delta=DELTA), 10000))
    return (
        "**No.** But for chance, the attack stays below the green limit. It is the best attack that there is against "
        f"Gaussian noise. It proves ε ≥ {text.at_least(attacked.epsilon_lower, 2)} where "
        f"{attacked.guarantee.budget.epsilon:g} is promised. Against posterior paths the attack stays far below the "
        "limit. There the promise is a bound, and no known attack comes near it."
    )


def needed(target: float) -> float:
    """Return the epsilon that refined cloaking needs for an error of ``target`` cm on people left out; inf if none
    suffices.
    """
    epsilon = compare.needed(compare.curve(compare.opened()[0], "refined"), target)
    return math.inf if epsilon is None else epsilon


def price_of_accuracy() -> str:
    """Return the answer of step 7."""
    nine, eight = needed(9.0), needed(8.0)
    return (
        f"Refined cloaking needs ε = {text.at_most(nine, 2)} for an error of 9 cm, and **ε = "
        f"{text.at_most(eight, 2)}** for 8 cm. The last centimetre costs {text.number(eight / nine)} times the ε. So "
        "ask for the accuracy that you need, and no more."
    )


class Step(NamedTuple):
    """A step of the tour: page, initial state, question, hint, and a function that computes the answer."""

    page: str
    state: dict[str, str]
    question: str
    attempt: str
    answer: Callable[[], str]
    from_true_data: bool = False  # the answer quotes errors, which are not private

    @property
    def title(self) -> str:
        """Title of the step's page."""
        return next(page.title for page in menu.PAGES if page.file == self.page)


STEPS = (
    Step(
        "start",
        {"epsilon": "0.5", "prior": "50"},
        "What does ε mean for one person?",
        "Move ε to 0.1 and to 10, and watch the chance after the release.",
        promise,
    ),
    Step(
        "how_cloaking_works",
        {"step": "covered", "x1": "4.5", "x2": "5.5"},
        "Why do people who are alike hide each other?",
        "Open “Move the two groups”, and move group 2 from 5.5 onto group 1, at 4.5.",
        neighbours,
    ),
    Step(
        "kung_curves",
        {"epsilon": "0.5", "mechanism": "cloaking", "beside": "published"},
        "What does twice the ε buy?",
        "Note the privacy noise, then move ε from 0.5 to 1. Compare with the method of 2018 next to it.",
        twice_the_budget,
    ),
    Step(
        "london_noise_map",
        {"map": "noise", "mechanism": "refined"},
        "Where on the map does privacy cost most?",
        "Find the dark and the bright hexagons, then shorten the lengthscale from 15 to 8 km.",
        dear_places,
    ),
    Step(
        "lengthscale_choice",
        {"epsilon": "0.1"},
        "Does the best lengthscale depend on how private the release is?",
        "Look along the columns from left to right, then move ε to 10.",
        best_lengthscale,
        from_true_data=True,
    ),
    Step(
        "attack",
        {"attack_on": "cloaking"},
        "Could a clever attacker do more than ε allows?",
        "Compare the attack (solid) with the limit (green), then attack posterior paths instead.",
        attack_limit,
        from_true_data=True,
    ),
    Step(
        "compare",
        {"target_cm": "9"},
        "Which ε does the accuracy you need cost?",
        "Ask for an error of at most 8 cm instead of 9.",
        price_of_accuracy,
        from_true_data=True,
    ),
)

_ENDING = "\n\nThat was the tour. **Your data & release** does the same with a table of your own."
_NUMBERED = {str(number): step for number, step in enumerate(STEPS, 1)}


@contextlib.contextmanager
def banner(page: str) -> Iterator[None]:
    """Show the tour's step above a page if a tour is under way; fill in its answer once the page has been drawn."""
    number = _number()
    if number is None:
        yield
        return
    step = STEPS[number - 1]
    away = (page or "start") != step.page
    with st.container(border=True, key="tour_banner"):
        st.caption(f":material/route: Guided tour, step {number} of {len(STEPS)}: {step.title}")
        if away:
            st.markdown(f"This page is off the tour. The question was: **{step.question}**")
        else:
            st.markdown(f"**{step.question}** {step.attempt}")
            # A new key for each step, so that it is closed
            reveal = st.expander("What you should see", key=f"tour_answer_{number}")
        _ways_on(number, away)
    yield
    if away:
        return
    with reveal:
        hidden = step.from_true_data and session.control("overlay") is False
        answer = "The answer quotes true data. Switch “True data shown” on to see it." if hidden else step.answer()
        st.markdown(answer + (_ENDING if number == len(STEPS) else ""))


def invitation() -> None:
    """Offer the tour on the start page, unless it is under way."""
    if st.query_params.get("tour") is None:
        label = "Take the tour: seven questions"
        st.button(label, icon=":material/route:", key="tour_start", on_click=_begin)


def _begin() -> None:
    """Set the state of the first step here, because a link to the same page would change nothing."""
    st.query_params["tour"] = "1"
    session.move({key: whole([float(value)])[0] for key, value in STEPS[0].state.items()})


def arrive(page: str, address: dict[str, str]) -> dict[str, str]:
    """Return the address of a page that was opened from another one; for the link of a step, the whole state of that
    step.

    Streamlit removes parameters from such a link for which the previous page had controls, and keeps the values of
    those controls. Here these parameters are put back, and the old values are forgotten.
    """
    step = _NUMBERED.get(address.get("tour", ""))
    if step is None or step.page != (page or "start"):
        return address
    whole = step.state | address
    keys = {*session.CARRIED.get({}), *whole}
    session.forget(key for key in keys if isinstance(session.control(key), (bool, int, float, str)))
    session.CARRIED.put({})
    return whole


def step_of(raw: str) -> int | str:
    """Return the number of the step in a link, or a sentence if there is no such step."""
    if raw in _NUMBERED:
        return int(raw)
    return text.bad_link_value("tour", raw, f"the tour has steps 1 to {len(STEPS)}.", "the page without it")


def _number() -> int | None:
    raw = st.query_params.get("tour")
    step = None if raw is None else step_of(raw)
    if isinstance(step, str):
        st.warning(step)
        settings.leave_out("tour")
        return None
    return step


def _ways_on(number: int, away: bool) -> None:
    """Draw links to the previous and next step and out of the tour; on a page off the tour, the link back to the
    step.
    """
    with st.container(horizontal=True, vertical_alignment="center"):
        if away:
            _link(number, "Back to the tour", "undo")
        if not away and number > 1:
            _link(number - 1, "Back", "arrow_back")
        if not away and number < len(STEPS):
            _link(number + 1, "Next question", "arrow_forward")
        st.button("Leave the tour", key="tour_leave", type="tertiary", on_click=settings.leave_out, args=("tour",))


def _link(number: int, label: str, icon: str) -> None:
    """Draw a link to a step with its own state, not with that of other pages."""
    step = STEPS[number - 1]
    address = {"tour": str(number)} | ({"lesson": "1"} if settings.is_lesson() else {}) | step.state
    st.page_link(f"../{step.page}.py", label=label, icon=f":material/{icon}:", query_params=address, width="content")
