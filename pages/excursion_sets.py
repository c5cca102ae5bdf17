from dataclasses import replace

import streamlit as st

from pages._ui.excursion import bayes, compute, figures, view
from pages._ui.excursion.bayes import Findings
from pages._ui.look import in_python, layout, pictures, settings, sidebar
from pages._ui.scripts import studies
from pages._ui.work import cached

top = st.container()
view.search_on_request()
chosen = settings.chosen(view.ExcursionSettings)
view.release_caption(chosen.release)
with top:
    layout.title(view.TITLES[chosen.release.study.scene])
explored = compute.explored(chosen.release)
found = Findings(explored, bayes.bayes_set(explored))
if chosen.overlay:
    repeated = bayes.overlaps_of_bayes(explored)
    found = replace(found, plain=bayes.without_privacy(explored), bayes_iou=repeated)

with top:
    layout.headline(view.answer(found, chosen.epsilon))
    if chosen.overlay:
        layout.overlay_banner()
if chosen.overlay:
    pictures.chart(cached.drawn(figures.overlap, found), "overlap", view.overlap_alt(found), caption=view.OVERLAP)
layout.metrics(view.metrics(found))
numbers = figures.rows_of(found)
view.pictures_of(found, numbers)
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    layout.table(numbers, "excursion_paths", view.TABLE)
with how:
    layout.steps(view.steps(found))
with python:
    in_python.draw(studies.excursions(chosen))
with lesson:
    layout.lessons(
        "excursion_sets",
        [
            ("Three paths share the ε of one: is their vote better?", {"paths": 3}),
            ("A large r and a tiny s: nearly Hall's release.", {"r": 30}),
            ("A map with two plumes.", {"excursion": "plumes"}),
            ("London above a price: is it better than colouring the whole map?", {"excursion": "london"}),
        ],
    )
layout.guarantee_card(explored.guarantee, layout.TEACHING_NOTE)
if found.bayes is not None:
    with st.expander("What the guarantee of Bayes cloaking says"):
        layout.guarantee_card(found.bayes.guarantee)
sidebar.spent(explored.dataset.name, *view.released(found))
layout.state_link()
