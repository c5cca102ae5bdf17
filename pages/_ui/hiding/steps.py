"""The steps in which How cloaking works is walked."""

from __future__ import annotations

import streamlit as st

from pages._ui import session
from pages._ui.look.bound import segments
from pages._ui.look.offers import DropDown

TITLE = "Why does so little noise hide a person?"
STEP = DropDown(
    "step",
    {
        "moves": "1 One person moves",
        "covered": "2 Noise covers it",
        "measured": "3 Measured instead",
        "spend": "4 Spend it yourself",
        "clip": "5 What the clip does",
    },
)


def chosen() -> str:
    """Which step."""
    return segments("Step", STEP)


def walk(step: str) -> None:
    """Buttons to the step before and the next one."""
    steps = list(STEP.titles)
    at = steps.index(step)
    with st.container(horizontal=True, key="walk"):
        if at > 0:
            _button("Back", steps[at - 1], ":material/arrow_back:")
        if at + 1 < len(steps):
            _button("Next step", steps[at + 1], ":material/arrow_forward:")


def _button(label: str, to: str, icon: str) -> None:
    moved = {STEP.key: STEP.titles[to]}
    st.button(label, key=f"walk_{label[:4]}", icon=icon, on_click=session.move, args=(moved,))
