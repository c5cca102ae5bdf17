import streamlit as st

from pages._ui.explore import controls, view
from pages._ui.look import in_python, layout, sidebar
from pages._ui.scripts import releases

top = st.container()
question = st.container()
with top:
    layout.title(view.TITLE)
chosen = controls.chosen(question)
guarantee = chosen.explored.guarantee

with top:
    layout.headline(view.answer(chosen))
numbers = view.pictured(chosen)
layout.metrics(view.metrics(chosen))
values, likely, how, python, lesson = st.tabs(
    ["Table", "Lengthscales", "How it is computed", in_python.TITLE, "Try this"]
)
with values:
    layout.table(numbers, "explored_curve", view.TABLE_NOTE)
with likely:
    view.lengthscales_pictured(chosen)
with how:
    layout.steps(view.explain(chosen))
with python:
    in_python.draw(releases.explored(chosen))
    if chosen.explored.spec is not None:
        releases.offer(chosen.explored.spec, guarantee)
with lesson:
    layout.lessons(
        "explore_release",
        [
            (
                "Try a short lengthscale: what is spent does not move.",
                {"explore_model": "one", "explore_share": 3},
            ),
            ("Where is a woman or girl above 130 cm?", {"explore_shown": "threshold", "explore_level_kung": 130}),
            ("More privacy: is the lengthscale still known?", {"epsilon": 0.2}),
            ("A rough kernel.", {"kernel": "Matern12"}),
            (
                "Women and men: how far are they apart?",
                {"explore_example": "kung_sexes", "explore_shown": "difference"},
            ),
        ],
    )
layout.guarantee_card(guarantee, layout.TEACHING_NOTE if chosen.example else view.FILE_NOTE)
if chosen.example:
    sidebar.spent(chosen.example.dataset, (chosen.example, guarantee))
    layout.state_link()
