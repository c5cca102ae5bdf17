import streamlit as st

from pages._ui.explore import controls, figures, words
from pages._ui.look import frame, pictures, spending
from pages._ui.look.picture import as_it_is

top = st.container()
question = st.container()
chosen = controls.chosen(question)
statistics, guarantee = chosen.explored.statistics, chosen.explored.guarantee

with top:
    frame.heading(words.TITLE, words.answer(chosen))
picture, caption = figures.picture(statistics, chosen.read, chosen.view), words.caption(chosen)
pictures.chart(picture, "explored", caption, as_it_is(picture, words.about(chosen, caption)))
frame.metrics(words.metrics(chosen))
values, likely, how, lesson = st.tabs(["Table", "Lengthscales", "How it is computed", "Try this"])
with values:
    frame.table(words.table(chosen), "explored_curve", "Computed from released numbers: all of it may be published.")
with likely:
    labels = figures.share_labels(statistics)
    picture = figures.lengthscales(labels, chosen.read, chosen.view.lengthscale)
    public = as_it_is(picture, words.about(chosen, words.LENGTHSCALE_CAPTION))
    pictures.chart(picture, "explored_lengthscales", words.LENGTHSCALE_CAPTION, public)
    frame.table(words.likely(chosen), "explored_likely")
with how:
    frame.steps(words.explain(chosen))
with lesson:
    frame.lessons(
        "explore_release",
        [
            (
                "Try a short lengthscale: what is spent does not move.",
                {"explore_model": "one", "explore_share": 3},
            ),
            ("Where is a woman or girl above 130 cm?", {"explore_shown": "threshold", "explore_threshold": 70}),
            ("More privacy: is the lengthscale still known?", {"epsilon": 0.2}),
            ("A rough kernel.", {"kernel": "Matern12"}),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE if chosen.taught else words.FILE_NOTE)
if chosen.taught:
    spending.spent(chosen.taught.dataset, (chosen.taught, guarantee))
    frame.state_link()
