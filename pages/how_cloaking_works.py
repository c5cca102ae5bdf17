import streamlit as st

from pages._ui.hiding import clipping, measured, spend, steps, two
from pages._ui.look import in_python, layout, settings
from pages._ui.scripts import studies

top = st.container()
setting = settings.chosen(steps.HidingSettings)
with top:
    layout.title(steps.TITLE)
step, chosen = setting.step, setting.release
if step in ("moves", "covered"):
    two.show(step, chosen, top)
elif step == "measured":
    measured.show(chosen.model.dataset, chosen.draw, top)
elif step == "spend":
    spend.show(chosen.draw, top)
else:
    clipping.show(chosen.draw, top)
steps.walk(step)
with st.expander(in_python.TITLE):
    in_python.draw(studies.hiding(setting))
with st.expander("Try this"):
    layout.lessons(
        "how_cloaking_works",
        [
            (
                "Two people far apart: each hides alone.",
                {"x1": 1, "x2": 9, "two_l": 1, "two_people": 1, "step": "covered"},
            ),
            ("Two groups close together share the work.", {"x1": 4.5, "x2": 5.5, "step": "covered"}),
            (
                "A short lengthscale: nearly everyone carries noise.",
                {"step": "covered", "everybody": "true", "lengthscale_years": 3},
            ),
            ("A narrow clip: little noise, but skewed outcomes are moved.", {"step": "clip", "clip_kept": 30}),
        ],
    )
if step != "clip":
    layout.guarantee_card(steps.guarantee(chosen), steps.NOTE)
layout.state_link()
