"""The decision on one printed page: an HTML file that needs nothing else."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go
import segno

from pages._ui.look import sheet_figure
from pages._ui.look.sheet import Box

_WIDTH, _HEIGHT = 1200, 430  # px of a picture, which is shrunk to the page
_STYLE = """
@page { size: A4; margin: 13mm }
body { font: 10pt/1.35 system-ui, sans-serif; color: #1a1a1a; max-width: 178mm; margin: 1rem auto; padding: 0 1rem }
h1 { font-size: 15pt; margin: 0 0 .3rem } h2 { font-size: 11pt; margin: .6rem 0 .1rem } p { margin: .4rem 0 }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600; width: 22% }
th, td { padding: .12rem .4rem .12rem 0; vertical-align: top; font-size: 8.5pt }
.figure { max-height: 46mm; display: block; margin: auto }
.foot { display: flex; margin-top: .5rem; gap: 1rem; align-items: center; font-size: 8.5pt; overflow-wrap: anywhere }
.foot svg { flex: 0 0 30mm; width: 30mm; height: 30mm } svg { max-width: 100% }
@media print { body { margin: 0; padding: 0 } }
"""


@dataclass(frozen=True)
class Brief:
    """What the page says.

    Attributes:
        title, recommendation, people: sentences.
        setting: names and values of what was chosen.
        card: rows of the guarantee.
        link: address of this state.
    """

    title: str
    recommendation: str
    people: str
    setting: Sequence[tuple[str, str]]
    card: Sequence[tuple[str, str]]
    link: str


def written(brief: Brief, pictures: Sequence[tuple[str, go.Figure]]) -> str:
    """The file. Everything in it that could come from outside is escaped.

    Args:
        brief: what it says.
        pictures: those of the page, each with its heading.
    """
    said = "".join(f"<p>{_bold(sentence)}</p>" for sentence in (brief.recommendation, brief.people))
    drawn = "".join(f"<h2>{html.escape(name)}</h2>{_picture(name, figure)}" for name, figure in pictures)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(brief.title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(brief.title)}</h1>{said}{drawn}"
        f"<h2>Setting</h2>{_table(brief.setting)}<h2>What the guarantee says</h2>{_table(brief.card)}"
        f'<div class="foot">{_code(brief.link)}<span>{html.escape(brief.link)}</span></div></body></html>'
    )


def _picture(name: str, figure: go.Figure) -> str:
    """A figure of the page, drawn by the same hand as its picture to take along."""
    return (
        f'<svg class="figure" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(name)}">'
        f"{sheet_figure.drawn(figure, Box(0, 0, _WIDTH, _HEIGHT))}</svg>"
    )


def _bold(sentence: str) -> str:
    parts = html.escape(sentence).split("**")
    return "".join(f"<b>{part}</b>" if number % 2 else part for number, part in enumerate(parts))


def _table(rows: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{cells}</table>"


def _code(link: str) -> str:
    """The link as a QR code."""
    out = io.BytesIO()
    segno.make(link, error="l", micro=False).save(
        out, kind="svg", xmldecl=False, svgclass=None, omitsize=True, title="this state"
    )
    return out.getvalue().decode()
