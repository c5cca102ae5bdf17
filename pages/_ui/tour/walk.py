"""The guided tour: seven steps over the pages, each with a question, something to try and what one should see."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import streamlit as st

from pages._ui import menu, session
from pages._ui.look import state, text
from pages._ui.look.offers import whole
from pages._ui.tour import answers


class Step(NamedTuple):
    """One stop: the page, the state it opens in, what is asked, what to try, and the answer with its numbers."""

    page: str
    state: dict[str, str]
    question: str
    attempt: str
    answer: Callable[[], str]
    from_true_data: bool = False  # the answer quotes errors: not private

    @property
    def title(self) -> str:
        """The page's title."""
        return next(page.title for page in menu.PAGES if page.file == self.page)


STEPS = (
    Step(
        "start",
        {"epsilon": "0.5", "prior": "50"},
        "What does ε mean for one person?",
        "Move ε to 0.1 and to 10, and watch the chance after the release.",
        answers.promise,
    ),
    Step(
        "how_cloaking_works",
        {"step": "covered", "x1": "4.5", "x2": "5.5"},
        "Why do two people who are alike hide each other?",
        "Open “Move the two people”, and move person 2 from 5.5 onto person 1, at 4.5.",
        answers.neighbours,
    ),
    Step(
        "kung_curves",
        {"epsilon": "0.5", "mechanism": "cloaking"},
        "What does twice the ε buy?",
        "Note the privacy noise, then move ε from 0.5 to 1. Compare with the method of 2018 beside it.",
        answers.twice_the_budget,
    ),
    Step(
        "london_noise_map",
        {"map": "noise", "mechanism": "refined"},
        "Where on the map does privacy cost most?",
        "Find the dark and the bright hexagons, then shorten the lengthscale from 15 to 8 km.",
        answers.dear_places,
    ),
    Step(
        "lengthscale_choice",
        {"epsilon": "0.1"},
        "Does the best lengthscale depend on how private the release is?",
        "Look along the columns from left to right, then move ε to 10.",
        answers.best_lengthscale,
        from_true_data=True,
    ),
    Step(
        "attack",
        {"attack_on": "cloaking"},
        "Could a clever attacker do more than ε allows?",
        "Compare red with green, then attack posterior paths instead.",
        answers.attack_limit,
        from_true_data=True,
    ),
    Step(
        "compare",
        {"target_cm": "9"},
        "Which ε does the accuracy you need cost?",
        "Ask for an error of at most 8 cm instead of 9.",
        answers.price_of_accuracy,
        from_true_data=True,
    ),
)


_ENDING = "\n\nThat was the tour. **Your data & release** does the same with a table of your own."
_NUMBERS = tuple(str(number + 1) for number in range(len(STEPS)))


@contextlib.contextmanager
def banner(page: str) -> Iterator[None]:
    """The tour's step above a page, if one is under way; its answer is filled in once the page has been drawn."""
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
            reveal = st.expander("What you should see", key=f"tour_answer_{number}")  # another at each step: closed
        _ways_on(number, away)
    yield
    if away:
        return
    with reveal:
        hidden = step.from_true_data and session.control("overlay") is False
        answer = "The answer quotes true data. Switch “True data shown” on to see it." if hidden else step.answer()
        st.markdown(answer + (_ENDING if number == len(STEPS) else ""))


def invitation() -> None:
    """On the start page: begin the tour, unless it is under way."""
    if st.query_params.get("tour") is None:
        label = "Take the tour: seven questions"
        st.button(label, icon=":material/route:", key="tour_start", on_click=_begin)


def _begin() -> None:
    """The first step's state, set in place: a link to the page one is on would change nothing."""
    st.query_params["tour"] = "1"
    session.move({key: whole([float(value)])[0] for key, value in STEPS[0].state.items()})


def arrive(page: str, address: dict[str, str]) -> dict[str, str]:
    """The address of a page newly opened from another one; for a step's link, with that step's whole state.

    Streamlit takes parameters out of such a link that the page before had controls for, and lets what those were left
    at win. So they are put back, and forgotten as values of controls and as what is carried along.
    """
    number = address.get("tour", "")
    if number not in _NUMBERS or STEPS[int(number) - 1].page != (page or "start"):
        return address
    whole = STEPS[int(number) - 1].state | address
    keys = {*session.CARRIED.get({}), *whole}
    session.forget(key for key in keys if isinstance(session.control(key), (bool, int, float, str)))
    session.CARRIED.put({})
    return whole


def link(number: int) -> str:
    """The address of a step's state, relative to any page."""
    step = STEPS[number - 1]
    query = "&".join(f"{key}={value}" for key, value in ({"tour": str(number)} | step.state).items())
    return f"./{'' if step.page == 'start' else step.page}?{query}"


def _number() -> int | None:
    raw = st.query_params.get("tour")
    if raw is None:
        return None
    if raw in _NUMBERS:
        return int(raw)
    st.warning(text.bad_link_value("tour", raw, f"the tour has steps 1 to {len(STEPS)}.", "the page without it"))
    _forget()
    return None


def _ways_on(number: int, away: bool) -> None:
    """Back, next, leave; or the way back to the step from a page off the tour."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if away:
            _link(number, "Back to the tour", "undo")
        if not away and number > 1:
            _link(number - 1, "Back", "arrow_back")
        if not away and number < len(STEPS):
            _link(number + 1, "Next question", "arrow_forward")
        st.button("Leave the tour", key="tour_leave", type="tertiary", on_click=_forget)


def _link(number: int, label: str, icon: str) -> None:
    """To a step in its own state, not in what the other pages left behind."""
    step = STEPS[number - 1]
    address = {"tour": str(number)} | ({"lesson": "1"} if state.is_lesson() else {}) | step.state
    st.page_link(f"../{step.page}.py", label=label, icon=f":material/{icon}:", query_params=address, width="content")


def _forget() -> None:
    """Take the tour out of the address and of what is carried to other pages."""
    if "tour" in st.query_params:
        del st.query_params["tour"]
    session.CARRIED.put({key: value for key, value in session.CARRIED.get({}).items() if key != "tour"})
