import streamlit as st

from pages._ui.compare import compute, contenders, view, words
from pages._ui.look import in_python, layout, pictures, pin, settings, text
from pages._ui.look.text import Metric
from pages._ui.scripts import studies
from pages._ui.work import cached

chosen = settings.chosen(view.CompareSettings)
contest, epsilon = chosen.contest, chosen.draw.epsilon
cards = ["integral_bins", "bayes_cells"]

if chosen.overlay:
    layout.title(view.QUESTION)
    target, one = view.target(contest), view.release_of()
    compared = view.growing(contest, epsilon, target)
    kept = view.pinned_comparison(compared)
    best, in_words = words.ranking(compared)[0], compared.scale.with_unit
    layout.headline(words.headline(compared))
    layout.overlay_banner(words.NOT_PRIVATE)
    picture = cached.drawn(view.errors, compared, chosen.every)
    if kept is not None:
        picture = view.with_pinned(picture, kept, compared)
    alt_text = words.errors_alt(compared, view.drawn_first(compared.curves, chosen.every))
    view.curves(picture, alt_text, compared, one)
    plain = in_words(compared.nonprivate)
    published = in_words(words.error_of(compared, "published", epsilon))
    layout.metrics(
        [
            Metric("Smallest error", in_words(best.error), best.title, text.help_of("Error")),
            Metric("Method of 2018", published, f"ε = {epsilon:g}"),
            Metric("Error without privacy", plain, "no privacy noise", text.help_of("Without privacy")),
            Metric("ε for the target", words.least_epsilon(compared), f"error at most {in_words(target)}"),
        ]
    )
    if kept is not None:
        st.markdown(pin.differences())
        layout.metrics(view.metrics(kept, compared), "pinned")
    pin.buttons(view.PAGE)
    values, limits, how, python, lesson = st.tabs(
        ["Table", "What is possible", "How it is computed", in_python.TITLE, "Try this"]
    )
    with values:
        layout.table(words.table(compared, kept), "compare", words.TABLE_NOTE, true_data=True)
        others = contenders.table(compute.peers(contest, epsilon), compared.scale)
        layout.table(others, "otherwise", contenders.NOTE, true_data=True)
    with how:
        layout.steps(words.EXPLANATION)
    with python:
        in_python.draw(studies.comparison(chosen))
    with lesson:
        layout.lessons("compare", words.LESSONS)
    with limits:
        if settings.value_of(view.LIMITS):
            attainable = compute.limits(contest)
            drawn = cached.drawn(contenders.figure, attainable, compared.scale, of=contest)
            pictures.chart(drawn, "possible", contenders.caption())
    cards = [one or best.name, best.name, *cards]
else:
    layout.needs_overlay(view.QUESTION)
    cards = ["bayes", *cards]
for name in dict.fromkeys(cards):
    with st.expander(f"What the guarantee of “{contenders.CONTENDERS[name].title}” says", expanded=name == cards[0]):
        promise = contenders.contender(contest, name, epsilon).guarantee
        layout.guarantee_card(promise.for_unit(compute.dataset(contest).privacy_unit))
layout.state_link()
