import streamlit as st

from pages._ui.excursion import compute, figures
from pages._ui.excursion import view as excursion_view
from pages._ui.look import frame, pictures, settings, sidebar
from pages._ui.work import cached

top = st.container()
excursion_view.search_on_request()
chosen = settings.chosen(excursion_view.ExcursionSettings)
view, show = chosen.release, chosen.overlay
explored = compute.explored(view)
excursion_view.release_caption(explored, view)
bayes = compute.bayes_set(view, explored)
plain = compute.without_privacy(view, explored) if show else None
best = None if plain is None else compute.best_without(explored, plain)

with top:
    frame.heading(excursion_view.TITLE, excursion_view.answer(explored, best))
    if show:
        frame.overlay_banner()
numbers = figures.rows_of(explored, bayes, plain)
excursion_view.pictures_of(view, explored, bayes, plain, numbers)
frame.metrics(excursion_view.metrics(explored, bayes, best))
if best is not None:
    st.header("How much of the area is found?")
    overlap = cached.drawn(figures.overlap, explored, bayes, best, of=view)
    pictures.chart(overlap, "overlap", excursion_view.overlap_alt(explored, bayes, best))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(numbers, "excursion_paths", excursion_view.TABLE)
with how:
    frame.steps(excursion_view.steps(explored, view))
with lesson:
    frame.lessons(
        "excursion_sets",
        [
            ("Three paths cost more than one: is their vote better?", {"paths": 3}),
            ("Most private: a large r and a tiny s, nearly Hall's release.", {"r": 30, "sigma": 0.002}),
            ("A map with two plumes.", {"excursion": "plumes"}),
            ("London above a price: is it better than naming the whole area?", {"excursion": "london"}),
        ],
    )
frame.guarantee_card(explored.guarantee, frame.TEACHING_NOTE)
if bayes is not None:
    with st.expander("What the guarantee of Bayes cloaking says"):
        frame.guarantee_card(bayes.guarantee)
sidebar.spent(explored.dataset.name, *excursion_view.released(view, explored, bayes))
frame.state_link()
