import streamlit as st

from pages._ui import tour
from pages._ui.look import in_python, layout, pictures, settings, tables, text
from pages._ui.look.about import of_theory
from pages._ui.look.pictures import as_it_is
from pages._ui.scripts import studies
from pages._ui.start import brief, decision, overview, promise
from pages._ui.work import cached

chosen = settings.chosen(decision.Decision)
layout.title(brief.QUESTION)
draw, prior, family = chosen.draw, chosen.prior, chosen.family
beliefs = cached.value("Working out beliefs", decision.along, draw.delta, prior, family, here=True)
data = cached.dataset(chosen.contest.model.dataset)

said = decision.sentence(draw, chosen.belief)
say = layout.headline(said)
advice = st.container()
left, errors = st.columns(2)
with left:
    believed = cached.drawn(decision.beliefs_figure, beliefs, draw.epsilon)
    alt = brief.beliefs_alt(beliefs)
    pictures.chart(believed, "beliefs", alt, as_it_is(believed, of_theory(alt, finding=said)), caption="")
    after = cached.value("Working out beliefs", decision.after_each, draw, prior, family, here=True)
    dots = cached.drawn(decision.belief_dots, after, prior, of=(draw, prior, family))
    alt = brief.risk_dots_alt(after)
    shown = as_it_is(dots, of_theory(alt, finding=said))
    pictures.chart(dots, "risk_dots", alt, shown, caption=brief.RISK_DOTS)
overview.doors(tour.invitation)
with st.container(key=text.ANCHOR), st.expander(overview.REST, icon=":material/menu_book:"):
    explained, who, promised, others, decided, printed, python, lesson = st.tabs(overview.TABS)
with explained:
    overview.colours()
    st.markdown(text.listed())
with who:
    st.markdown(promise.WHO)
    st.markdown(promise.MEANING)
with promised:
    caption = f"{promise.TRADEOFF_ALT} {promise.FAMILY_NOTES[family]}"
    traded = cached.drawn(promise.tradeoff_figure, draw, family)
    best = f"The best attack on a release at ε = {draw.epsilon:g}"
    pictures.chart(traded, "tradeoff", caption, as_it_is(traded, of_theory(caption, finding=best)))
    layout.table(promise.meaning_table(draw, prior, family), "attacker", promise.MEANING_NOTE)
    if family == "gaussian":
        st.markdown(promise.split_sentence(draw, settings.value_of(promise.SPLIT) / 100))
with others:
    strip = cached.drawn(overview.strip, draw.epsilon)
    budgets = overview.table()
    pictures.chart(strip, "deployments", overview.NOTE, as_it_is(strip, overview.ABOUT), budgets)
    layout.table(budgets, "published_budgets")
with python:
    in_python.draw(studies.decision(chosen))
with lesson:
    layout.lessons("start", decision.LESSONS)
layout.guarantee_card(promise.guarantee(draw, family), brief.CARD_NOTE)

# Last, because errors that are not in the cache take longest; everything else can be read meanwhile.
with errors:
    cost, numbers = brief.cost(chosen, data) if chosen.overlay else None, tables.of_figure(believed)
    if cost:
        figure = cached.drawn(decision.errors_figure, cost, draw.epsilon, of=(chosen, cost.interpolated))
        numbers = tables.of_figure(believed, figure)
        pictures.chart(
            figure, "errors", brief.errors_alt(data, cost), numbers=numbers, caption=brief.errors_caption(cost)
        )
        dots = cached.drawn(decision.error_dots, cost, draw.epsilon, of=chosen)
        alt = brief.error_dots_alt(cost, draw.epsilon)
        pictures.chart(dots, "error_dots", alt, caption=brief.error_dots_caption(cost, draw.epsilon))
    else:
        st.info("Errors are computed from true data: switch “True data shown” on in the sidebar to see them.")
if cost:
    say(decision.headline(chosen, cost, data.privacy_unit))
    with advice:
        decision.adopt(cost, draw.epsilon)
        layout.overlay_banner()
with printed:
    drawn = [
        ("What is believed afterwards, against ε", believed),
        *([("Error against ε (not private)", figure)] if cost else []),
    ]
    with st.popover("One-page brief", icon=":material/print:", key="brief", on_change="rerun") as box:
        if box.open:  # drawing it takes longer than all else on this page
            st.download_button(
                "Download",
                brief.brief(chosen, data, cost, settings.link(), drawn),
                "privacy-brief.html",
                "text/html",
                icon=":material/download:",
                help="An HTML file that prints on one A4 page: setting, figure, promise, QR code.",
                on_click="ignore",
            )
with decided:
    layout.table(numbers, "decision", brief.TABLE_NOTE)
layout.state_link()
