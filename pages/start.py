import streamlit as st

from pages._ui import menu
from pages._ui.look import frame, glossary, pictures
from pages._ui.look.picture import as_it_is
from pages._ui.look.sheet import of_theory
from pages._ui.start import arriving, brief, controls, decision, deployments, meaning, overview, split, words
from pages._ui.tour import walk
from pages._ui.work import cached

chosen = controls.decision()
draw, prior, family = chosen.draw, chosen.prior, chosen.family
moved = decision.moved(draw, prior, family)
beliefs = cached.value("Working out beliefs", decision.along, draw.delta, prior, family)
data = cached.dataset(chosen.contest.model.dataset)

say = frame.heading(words.QUESTION, decision.sentence(draw, moved))
advice = st.container()
left, errors = st.columns(2)
with left:
    believed = cached.drawn(decision.beliefs_figure, beliefs, draw.epsilon)
    said = words.beliefs_alt(beliefs)
    pictures.chart(believed, "beliefs", said, as_it_is(believed, of_theory(said)))
overview.doors(walk.invitation)
with st.container(key=glossary.ANCHOR), st.expander(overview.REST, icon=":material/menu_book:"):
    explained, who, promised, others, rest, decided, printed, lesson = st.tabs(overview.TABS)
with explained:
    overview.colours()
    st.markdown(glossary.listed())
with who:
    st.markdown(meaning.WHO)
    st.markdown(meaning.WHAT)
with promised:
    caption = f"{meaning.TRADEOFF_ALT} {meaning.FAMILY_NOTES[family]}"
    traded = cached.drawn(meaning.tradeoff_figure, draw, family)
    pictures.chart(traded, "tradeoff", caption, as_it_is(traded, of_theory(caption)))
    frame.table(meaning.table(draw, prior, family), "attacker", "The best attacker's success at common budgets.")
    if family == "gaussian":
        split.show(draw)
with others:
    strip = cached.drawn(deployments.strip, draw.epsilon)
    pictures.chart(strip, "deployments", deployments.NOTE, as_it_is(strip, deployments.ABOUT))
    frame.table(deployments.table(), "published_budgets")
with rest:
    overview.page_cards(menu.cards())
with lesson:
    frame.lessons("start", meaning.LESSONS)
frame.guarantee_card(meaning.best_attack(draw, prior, family).guarantee, words.CARD_NOTE)

# Last, as errors take longest where they are not in the cache: all the rest can be read meanwhile.
with errors:
    cost = arriving.cost(chosen, data) if chosen.overlay else None
    if cost:
        figure = cached.drawn(decision.errors_figure, cost, draw.epsilon, of=chosen)
        pictures.chart(figure, "errors", words.errors_alt(data, cost))
    else:
        st.info("It takes the true data to know an error: switch “True data shown” on in the sidebar to see it.")
if cost:
    say(decision.lead(draw, moved, cost, words.method(chosen), data.privacy_unit))
    with advice:
        frame.overlay_banner()
with printed:
    page = words.brief(chosen, data, moved, cost, frame.here())
    drawn = [("Chance afterwards against ε", believed), *([("Error against ε (not private)", figure)] if cost else [])]
    st.download_button(
        "One-page brief", brief.written(page, drawn), "privacy-brief.html", "text/html",
        icon=":material/print:", help="An HTML file that prints on one A4 page: setting, figure, promise, QR code.",
    )  # fmt: skip
with decided:
    frame.table(decision.table(beliefs, cost), "decision", words.TABLE_NOTE)
frame.state_link()
