"""The field's words in plain ones: beside the guarantee card, and together on the start page."""

from __future__ import annotations

TERMS = {
    "ε (epsilon)": "The privacy budget. Because of one person no event's probability can grow by more than a "
    "factor exp(ε), plus δ. 0 would be perfect privacy; smaller is more private and less accurate.",
    "δ (delta)": "What a probability may grow by beyond that factor; well below 1 / number of people to mean much.",
    "Differential privacy": "Noise is added so that what is published looks nearly the same whoever takes part.",
    "Unit": "Whom one row is about: one woman's height, one hexagon's median price. Only this much is protected. "
    "Somebody with three rows has a weaker promise: ε is three times as large, and δ grows by more than that.",
    "Neighbours": "Two tables that differ in one unit. The promise is that a release cannot tell them apart by more "
    "than (ε, δ), whatever else is known.",
    "Sensitivity": "How far one record can move the result. Noise is sized to hide exactly that.",
    "Gaussian process (GP)": "A way to draw a smooth curve or map through scattered data that says how sure it is.",
    "Lengthscale": "The distance over which the curve may change. A longer one averages over more people, so that each "
    "counts less and less noise hides them.",
    "Cloaking": "Noise shaped like the moves that single records can cause, instead of equal noise everywhere "
    "(Smith et al. 2018).",
    "Error": "Root mean square error on people left out. Each fifth of the people is left out in turn, and predicted "
    "from a release about the others. So it holds their own scatter too, and is never 0.",
    "Without privacy": "The error of the same method with nothing hidden. It is the least that privacy can come to. "
    "Where clipping far outcomes, or a model that a page declares, does better with nothing hidden, that counts.",
    "Foreseen by a plan": "What a plan expects of a release, averaged over its prior, before any output is read.",
    "Example draw": "One numbered simulation of a release, the same for everybody who opens a link. It is not private.",
    "Privacy noise": "What the mechanism adds to hide each person.",
    "Spread of people": "How far people are from the curve: their own scatter. Privacy does not change it.",
    "Range for one more person": "Where one more person's value lies in so many of 100 cases.",
    "Where the curve is": "Where the curve lies in so many of 100 cases, privacy noise included.",
    "Method of 2018": "Cloaking as Smith et al. published it in 2018: log-det objective, Hall's calibration.",
    "True data shown": "A badge for what only teaching may show: true data, and errors computed with them.",
    "Release": "Numbers that leave the building. Each one spends budget, also the second draw of the same.",
    "Ledger": "The account of all releases of one table. It adds up what they spend together.",
}

ROWS = {  # of the guarantee card
    "Protects": "what of a record is hidden; the rest is public.",
    "Neighbours": "tables that a release must not tell apart.",
    "Unit": "whom one record is about.",
    "Promise": "how much more probable one person can make anything that is seen.",
    "How sure": "whether a proof covers this setting.",
    "Rests on": "the theorem behind it.",
    "Assumes": "what must be true for it to hold.",
    "Does not cover": "what could still give someone away.",
}

ANCHOR = "words"  # on the start page
_ALL = f"[All words](./#{ANCHOR})"


def help_of(term: str) -> str:
    """What a term means, and where all words are explained."""
    return f"{term}: {TERMS[term]} {_ALL}"


def listed() -> str:
    """All terms as a markdown list."""
    return "\n".join(f"- **{term}.** {meaning}" for term, meaning in TERMS.items())
