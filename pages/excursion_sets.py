import streamlit as st

from pages._ui.excursion import computed, controls, figures, shown, words
from pages._ui.look import frame, pictures, spending
from pages._ui.work import cached

top = st.container()
controls.search_if_asked()
study = controls.chosen_study()
view, show, spent = controls.excursion_settings(study)
explored = computed.explored(view)
controls.said_of(explored, view, spent)
beside = computed.beside(view, explored)
plain = computed.without_privacy(view, explored) if show else None
best = None if plain is None else computed.best_without(explored, plain)

with top:
    frame.heading(words.TITLE, words.answer(explored, best))
    if show:
        frame.overlay_banner()
shown.pictures_of(view, explored, beside, plain)
frame.metrics(words.metrics(explored, beside, best))
if best is not None:
    st.header("How much of the area is found?")
    overlap = cached.drawn(figures.overlap, explored, beside, best, of=view)
    pictures.chart(overlap, "overlap", words.overlap_alt(explored, beside, best))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(figures.path_table(explored, beside, show), "excursion_paths", words.TABLE)
with how:
    frame.steps(words.steps(explored, view))
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
if beside is not None:
    with st.expander("What the guarantee of Bayes cloaking says"):
        frame.guarantee_card(beside.guarantee)
spending.spent(explored.dataset.name, *words.released(view, explored, beside))
frame.state_link()
