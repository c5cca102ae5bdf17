"""The field's words in plain ones: beside the guarantee card, and together on the start page."""

from __future__ import annotations

from dataclasses import dataclass

TERMS = {
    "ε (epsilon)": "The privacy budget: because of one person no event's probability can grow by more than a "
    "factor exp(ε), plus δ. 0 would be perfect privacy; smaller is more private and less accurate.",
    "δ (delta)": "What a probability may grow by beyond that factor; well below 1 / number of people to mean much.",
    "Unit": "Whom one record is about: one woman's height, one hexagon's median price. Only this much is protected: "
    "the promise to somebody with three rows is three times weaker, in ε, and also in δ.",
    "Neighbours": "Two tables that differ in one unit. The promise is that a release cannot tell them apart by more "
    "than (ε, δ), whatever else is known.",
    "Sensitivity": "How far one record can move the result. Noise is sized to hide exactly that.",
    "Gaussian process (GP)": "A way to draw a smooth curve or map through scattered data that says how sure it is.",
    "Lengthscale": "The distance over which the curve may change. A longer one averages over more people, so that each "
    "counts less and less noise hides them.",
    "Cloaking": "Noise shaped like the moves that single records can cause, instead of equal noise everywhere "
    "(Smith et al. 2018).",
    "Error at its own records": "How far predictions are off where the data lie that they were made from.",
    "Held-out error": "How far predictions are off at records that were kept back: each fifth in turn, the same ones "
    "on Start, Compare and Lengthscale choice; half of them on Sparse DP-GP, whose training takes longer. It is the "
    "larger and the fairer of the two. So the error without privacy is not one number on every page: how it is "
    "measured stands beside it.",
    "Expected error": "What a plan expects, on average over the worlds of its prior, before any output is read.",
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


@dataclass(frozen=True)
class Measured:
    """How an error without privacy is measured: its name, which stands beside every one, and its term here."""

    name: str
    term: str

    @property
    def beside(self) -> str:
        """Under the figure."""
        return f"{self.name}; not private"

    @property
    def help(self) -> str:
        """What the name means, and where all words are explained."""
        return f"{self.term}: {TERMS[self.term]} {_ALL}"


OWN = Measured("at its own records", "Error at its own records")
FIFTHS = Measured("held out, fifths", "Held-out error")
HALVES = Measured("held out, halves", "Held-out error")


def listed() -> str:
    """All terms as a markdown list."""
    return "\n".join(f"- **{term}.** {meaning}" for term, meaning in TERMS.items())
