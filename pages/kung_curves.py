import streamlit as st

from pages._ui.cloaking import computed, figures, variants, words
from pages._ui.look import in_python, layout, pictures, settings, sidebar
from pages._ui.scripts import releases
from pages._ui.work import cached

chosen = settings.chosen(sidebar.ReleaseSettings)
show = chosen.overlay
head = st.container()
with head:
    layout.title(figures.question(cached.dataset(chosen.dataset)))
ours, beside, errors = computed.compared(chosen, variants.curve_view(chosen))
kept = variants.find("kung_curves", chosen)
data, guarantee = ours.dataset, ours.guarantee

with head:
    layout.headline(figures.headline(ours, errors) + words.meanwhile(errors, show))
    if show:
        layout.overlay_banner()
player = st.container()
left, right = (st.container(), None) if beside is None else st.columns(2)
with left:
    st.header(words.own_title(ours))
    picture = cached.drawn(figures.curves, ours, show, *(() if kept is None else (False, kept)))
    numbers, public = words.rows_of(picture, ours), figures.public_curves(ours, kept=kept)
    alt = words.curves_alt(ours, "orange", show)
    pictures.chart(picture, "curves", alt, public, numbers, caption=words.CURVES_CAPTION)
played = {"curves": picture}
if right is not None and beside is not None:
    with right:
        st.header(words.beside_title(beside))
        other = cached.drawn(figures.curves, beside, show, True)
        alt, public = words.curves_alt(beside, "pink", show), figures.public_curves(beside, other=True)
        pictures.chart(other, "curves_beside", alt, public, caption=words.CURVES_CAPTION)
        played["curves_beside"] = other
variants.play(played, player)
layout.metrics(words.release_metrics(ours, beside, errors))
variants.curves(ours, show)
variants.show_pinned("kung_curves", kept, ours, show)
figures.show(ours, beside, show)
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    layout.table(numbers, f"{data.name}_curve", words.OVERLAY_NOTE)
with how:
    variants.computation(ours, errors)
with python:
    in_python.draw(releases.release(chosen))
with lesson:
    layout.lessons(
        "kung_curves",
        [
            (
                "As in Smith et al. 2018: log-det objective, Hall's calibration, δ = 0.01.",
                {"delta": 0.01, "mechanism": "cloaking", "objective": "logdet", "calibration": "hall"},
            ),
            ("Ten times more privacy: does the curve still show growth?", {"epsilon": 0.1}),
            ("Twenty releases to play: what stays, and what is chance?", {"draws": 20}),
            ("Bayes cloaking, which chooses no lengthscale.", {"mechanism": "bayes"}),
            ("The same noise, designed by the published objective.", {"mechanism": "cloaking", "objective": "logdet"}),
            ("A short lengthscale follows every bump, and each person shows.", {"lengthscale_years": 5}),
            (
                "ε = 50 with Hall's formula: a promise that does not hold.",
                {"epsilon": 50, "mechanism": "cloaking", "calibration": "hall"},
            ),
        ],
    )
layout.guarantee_card(guarantee, layout.TEACHING_NOTE)
seen = [each for each in (ours, beside, kept) if each is not None]
sidebar.spent(data.name, *((each.released, each.guarantee) for each in seen), free=words.free(ours))
layout.state_link()
