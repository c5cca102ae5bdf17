import streamlit as st

from pages._ui import left_out
from pages._ui.compare import compute, contenders, view, words
from pages._ui.look import frame, pictures, pin, settings, text
from pages._ui.look.text import Metric
from pages._ui.work import cached

chosen = settings.chosen(view.CompareSettings)
contest, epsilon, names = chosen.contest, chosen.draw.epsilon, chosen.names
every, show = chosen.every, chosen.overlay
data = cached.dataset(contest.model.dataset)
scale = contenders.scale_of(data)
cards = ["integral_bins", "bayes_cells" if "bayes_cells" in names else "sparse"]
QUESTION = "Which method has the smallest error?"
in_words = scale.with_unit

if show:
    nonprivate = left_out.without_privacy(contest.model.dataset, contest.model)
    target, one = view.target(nonprivate, scale), view.release_of()
    curves = view.growing_curves(contest, names, QUESTION, epsilon, nonprivate, target)
    comparison = compute.compared(contest, epsilon, curves, target)
    kept = view.pinned_comparison(comparison, target)
    best = words.ranking(curves, epsilon)[0]
    frame.heading(QUESTION, words.lead(comparison, scale, target))
    frame.overlay_banner("It takes the true data to know an error.")
    picture = cached.drawn(view.errors, curves, nonprivate, epsilon, target, scale, every, of=(contest, names))
    if kept is not None:
        picture = view.with_pinned(picture, kept, comparison, scale)
    alt_text = words.errors_alt(comparison, view.drawn_first(curves, every), scale)
    view.curves(picture, alt_text, contest, one, epsilon)
    frame.metrics(
        [
            Metric("Smallest error", in_words(best.error), best.title, text.help_of("Error")),
            Metric("Method of 2018", in_words(words.error_of(curves, "published", epsilon)), f"ε = {epsilon:g}"),
            Metric("Error without privacy", in_words(nonprivate), "nothing hidden", text.help_of("Without privacy")),
            Metric("ε for the target", words.least_epsilon(comparison), f"error at most {in_words(target)}"),
        ]
    )
    if kept is not None:
        st.markdown(pin.differences())
        frame.metrics(view.metrics(kept, comparison, target, scale), "pinned")
    pin.buttons(view.PAGE)
    values, limits, how, lesson = st.tabs(["Table", "What is possible", "How it is computed", "Try this"])
    with values:
        rows = words.table(comparison, scale)
        rows = rows if kept is None else view.with_pinned_columns(rows, kept, scale)
        frame.table(rows, "compare", words.TABLE_NOTE, true_data=True)
        others = contenders.table(compute.peers(contest, epsilon), scale)
        frame.table(others, "otherwise", contenders.NOTE, true_data=True)
    with how:
        frame.steps(words.EXPLANATION)
    with lesson:
        frame.lessons("compare", words.LESSONS)
    with limits:
        if settings.value_of(view.LIMITS):
            attainable = compute.limits(contest)
            drawn = cached.drawn(contenders.figure, attainable, scale, of=contest)
            pictures.chart(drawn, "possible", contenders.caption())
    cards = [one or best.name, best.name, *cards]
else:
    frame.needs_overlay(QUESTION)
    cards = ["bayes", *cards]
for name in dict.fromkeys(cards):
    with st.expander(f"What the guarantee of “{contenders.CONTENDERS[name].title}” says", expanded=name == cards[0]):
        promise = contenders.contender(contest, name, epsilon).guarantee.for_unit(data.privacy_unit)
        frame.guarantee_card(promise)
frame.state_link()
