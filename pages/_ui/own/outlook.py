"""What other budgets would bring, before any is spent."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from dpgp_core.arrays import FloatArray
from dpgp_core.release import ReleaseSpec
from pages._ui.look.text import number, plain
from pages._ui.own import curves, figures, upload
from pages._ui.own.slots import OWN_OUTLOOK
from pages._ui.own.upload import OUTLOOK, Prepared
from pages._ui.work import cached


def shown(spec: ReleaseSpec, ready: Prepared) -> None:
    """Error against budget for this design, worked out when asked for; it reads no output."""
    if spec.bounds_unit is not None:
        return  # an error in the output's unit cannot be told before its bounds are known
    with st.expander("What would other budgets give?"):
        if st.button("Work it out: costs nothing, reads no output"):
            widths = cached.of_one_session("Working out other budgets", upload.outlook, ready)
            OWN_OUTLOOK.put((ready.plan.spec, widths))
        known = OWN_OUTLOOK.find()
        if known is None or known[0] != spec:
            return
        st.dataframe(table(spec, known[1]), hide_index=True, key="own_outlook_table")
        rate = spec.y_kind == "yes/no"
        unit = "percentage points" if rate else plain(spec.y_unit) or "y"
        within = "a factor of" if spec.log else f"± [{unit}]"
        wanted = st.number_input(f"I need the curve to within {within}", 0.0, value=None)
        if wanted is not None:
            st.markdown(answer(spec, known[1], wanted / 100 if rate else wanted))


def table(spec: ReleaseSpec, widths: FloatArray) -> pd.DataFrame:
    """Budget and half of the interval, or its factor, over the middle of the grid."""
    rate = spec.y_kind == "yes/no"
    unit = " [percentage points]" if rate else f" [{spec.y_unit}]" if spec.y_unit else ""
    within = "a factor of" if spec.log else f"±{unit}"
    rows = [
        figures.factor(width) if spec.log else number(width) for width in map(float, curves.in_per_cent(spec, widths))
    ]
    return pd.DataFrame({"ε": OUTLOOK, f"curve within {within}, 95 %": rows})


def answer(spec: ReleaseSpec, widths: FloatArray, wanted: float) -> str:
    """The smallest of the budgets that gives the wanted precision."""
    needed = math.log(max(wanted, 1.0)) if spec.log else wanted
    enough = [epsilon for epsilon, width in zip(OUTLOOK, widths, strict=True) if width <= needed]
    if enough:
        return (
            f"**ε = {enough[0]:g}** is the smallest of these that gives {figures.error(spec, needed)} at half of the "
            "grid."
        )
    least = figures.error(spec, float(widths.min()))
    return (
        f"None of these does: at ε = {OUTLOOK[-1]:g} it is still {least}, of which privacy is a small part. "
        "More records, or a coarser question, would help; a larger ε hardly."
    )
