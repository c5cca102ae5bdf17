import streamlit as st

from pages._ui.cloaking import computed, figures, variants, words
from pages._ui.look import frame, in_python, pictures, settings, sidebar
from pages._ui.scripts import releases
from pages._ui.work import cached

chosen = settings.chosen(sidebar.ReleaseSettings)
show = chosen.overlay
ours, paper, errors = computed.compared(chosen)
kept = variants.find("kung_curves", chosen)
data, guarantee = ours.dataset, ours.guarantee

frame.heading(figures.question(data), figures.lead(ours, paper, errors) + words.meanwhile(errors, show))
if show:
    frame.overlay_banner()
player = st.container()
left, right = st.columns(2)
with left:
    st.header(words.own_title(ours))
    picture = cached.drawn(figures.curves, ours, show, *(() if kept is None else (False, kept)))
    numbers, public = words.rows_of(picture, ours), figures.public_curves(ours, kept=kept)
    pictures.chart(picture, "curves", words.curves_alt(ours, "orange", show), public, numbers)
with right:
    st.header(words.published_title(paper))
    of_paper = cached.drawn(figures.curves, paper, show, True)
    pictures.chart(
        of_paper, "curves_paper", words.curves_alt(paper, "purple", show), figures.public_curves(paper, other=True)
    )
variants.play({"curves": picture, "curves_paper": of_paper}, player)
frame.metrics(words.release_metrics(ours, paper, errors))
variants.curves(ours, show)
variants.show_pinned("kung_curves", kept, ours, show)
figures.show(ours, paper, show)
values, how, python, lesson = st.tabs(["Table", "How it is computed", in_python.TITLE, "Try this"])
with values:
    frame.table(numbers, f"{data.name}_curve", words.OVERLAY_NOTE)
with how:
    if errors is not None and errors.ours is not None:
        st.header("How much of the error is luck?")
        pictures.chart(figures.error_distribution(errors, data.y_unit), "errors", words.errors_alt(errors))
    frame.steps([*words.explain(ours), words.ERROR])
with python:
    in_python.show(releases.release(chosen))
with lesson:
    frame.lessons(
        "kung_curves",
        [
            (
                "As in Smith et al. 2018: log-det objective, Hall's calibration, δ = 0.01.",
                {"delta": 0.01, "mechanism": "cloaking", "objective": "logdet", "calibration": "hall"},
            ),
            ("Ten times more privacy: does the curve still show growth?", {"epsilon": 0.1}),
            ("Twenty draws to play: what stays, and what is chance?", {"draws": 20}),
            ("Noise that is added once: its size is known beforehand, and larger.", {"mechanism": "refined"}),
            ("The same noise, designed by the published objective.", {"mechanism": "cloaking", "objective": "logdet"}),
            (
                "A short lengthscale follows every bump, and each person shows.",
                {"mechanism": "cloaking", "lengthscale_years": 5},
            ),
            (
                "ε = 50 with Hall's formula: a promise that does not hold.",
                {"epsilon": 50, "mechanism": "cloaking", "calibration": "hall"},
            ),
        ],
    )
frame.guarantee_card(guarantee, frame.TEACHING_NOTE)
releases = [each for each in (ours, paper, kept) if each is not None]
sidebar.spent(data.name, *((each.released, each.guarantee) for each in releases), free=words.free(ours))
frame.state_link()
