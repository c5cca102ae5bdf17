import streamlit as st

from pages._ui.cloaking import computed, controls, design_words, explain, figures, two_points
from pages._ui.look import frame, pictures, sidebar, text
from pages._ui.measured import section as measured
from pages._ui.person import section as person
from pages._ui.work import cached

draw = sidebar.privacy()
data_name = sidebar.dataset()
sidebar.delta_fits(draw.delta, cached.dataset(data_name).n)
show = sidebar.overlay()
model = sidebar.model(data_name)
design, draw = sidebar.expert(draw, ("cloaking",))
result = computed.run(model, design, draw)
data, guarantee = result.dataset, result.outcome.guarantee

top = st.container()
with st.expander("Move the two records", expanded=True, icon=":material/tune:"):
    pair = controls.two_point_sliders()
points = two_points.build(pair)
with top:
    frame.heading(
        "Why does one person need so little noise to hide?",
        f"One record can push the two predictions only along its own column of C. Noise that fills just those "
        f"directions has **{text.number(two_points.area_ratio(points))} times** less variance than noise shaped "
        f"like the prior, and hides the same change d = {pair.d:g}.",
    )
    left, right = st.columns(2)
    with left:
        pictures.chart(
            cached.drawn(two_points.curves, points, pair.moved - 1, of=pair),
            "two_curves",
            f"Record {pair.moved} changes by d = {pair.d:g}; the prediction moves from the solid to the dashed curve.",
        )
    with right:
        pictures.chart(
            cached.drawn(two_points.plane, points, of=pair),
            "two_plane",
            "Moves that one record can cause, as lines; the cloaking ellipse (orange) just encloses them, the "
            "prior's ellipse (grey, dotted) is larger.",
        )

st.header(f"The same with {data.n} records")
st.markdown(design_words.cloaking_answer(result))
frame.metrics(design_words.certificate(result))
left, right = st.columns(2)
with left:
    st.subheader("C: who moves which prediction")
    pictures.chart(cached.drawn(figures.cloaking_heat, result), "C", design_words.C_ALT)
with right:
    st.subheader("M: the noise that hides them")
    pictures.chart(cached.drawn(figures.noise_heat, result), "M", design_words.M_ALT)
st.subheader("λ: few records carry the noise")
pictures.chart(cached.drawn(figures.stems, result), "lambda", design_words.lambda_alt(result))
values, how, lesson = st.tabs(["Table", "How it is computed", "Try this"])
with values:
    frame.table(design_words.record_table(result), f"{data_name}_lambda", "Inputs only: C, λ and M are public.")
with how:
    frame.steps(explain.explain(result))
with lesson:
    frame.lessons(
        "how_cloaking_works",
        [
            ("Records far apart: each hides alone.", {"x1": 1, "x2": 9, "two_l": 1}),
            ("Records close together: they share the work.", {"x1": 4.5, "x2": 5.5}),
            ("A short lengthscale: nearly everyone carries noise.", {"lengthscale_years": 3}),
        ],
    )
person.show(result, show)
measured.show(data_name, draw)
frame.guarantee_card(
    guarantee, "C, λ, M and B use public inputs only; true data stand under “One person, moved” alone."
)
frame.state_link()
