"""The decision on one printed page: an HTML file that needs nothing else."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import segno

from dpgp_core.arrays import FloatArray
from pages._ui.compare.contenders import CURVE_EPSILONS
from pages._ui.look import text
from pages._ui.look.palette import GUARANTEE, NON_PRIVATE, PRIVATE
from pages._ui.start.decision import Cost

_WIDTH, _HEIGHT, _EDGE = 640, 240, 46
_STYLE = """
@page { size: A4; margin: 13mm }
body { font: 10pt/1.35 system-ui, sans-serif; color: #1a1a1a; max-width: 178mm; margin: 1rem auto; padding: 0 1rem }
h1 { font-size: 15pt; margin: 0 0 .3rem } h2 { font-size: 11pt; margin: .6rem 0 .1rem } p { margin: .4rem 0 }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600; width: 22% }
th, td { padding: .12rem .4rem .12rem 0; vertical-align: top; font-size: 8.5pt }
.figure { max-height: 58mm; display: block; margin: auto }
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


def written(brief: Brief, cost: Cost | None, epsilon: float) -> str:
    """The file. Everything in it that could come from outside is escaped."""
    said = "".join(f"<p>{_bold(sentence)}</p>" for sentence in (brief.recommendation, brief.people))
    figure = "" if cost is None else f"<h2>Error against ε</h2>{_curve(cost, epsilon)}"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(brief.title)}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{html.escape(brief.title)}</h1>{said}{figure}"
        f"<h2>Setting</h2>{_table(brief.setting)}<h2>What the guarantee says</h2>{_table(brief.card)}"
        f'<div class="foot">{_code(brief.link)}<span>{html.escape(brief.link)}</span></div></body></html>'
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


def _curve(cost: Cost, epsilon: float) -> str:
    """The error against epsilon, its names beside the lines."""
    top = 4 * cost.nonprivate
    x = _EDGE + (_WIDTH - 2 * _EDGE) * (np.log10(CURVE_EPSILONS) + 1) / 3
    bottom, tall = _HEIGHT - _EDGE, _HEIGHT - 1.5 * _EDGE
    y = bottom - tall * cost.errors / top
    flat = bottom - tall / 4
    at = x[CURVE_EPSILONS.index(epsilon)]
    plain = html.escape(cost.shown(cost.nonprivate))
    ticks = "".join(
        f'<text x="{x[i]:.1f}" y="{_HEIGHT - _EDGE + 16}" text-anchor="middle">{each:g}</text>'
        for i, each in enumerate(CURVE_EPSILONS)
        if each in (0.1, 0.3, 1, 3, 10, 100)
    )
    inside = next((i for i, each in enumerate(y) if each > bottom - tall), len(y) - 1)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*_below(x, y, inside, bottom - tall), strict=True))
    heights = "".join(
        f'<text x="{_EDGE - 6}" y="{bottom - tall * share + 4:.1f}" text-anchor="end">{text.number(share * top)}</text>'
        for share in (0, 0.5, 1)
    )
    return (
        f'<svg class="figure" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="11" role="img" aria-label="Error against ε">'
        f'<line x1="{x[0]}" x2="{x[-1]}" y1="{flat}" y2="{flat}" stroke="{NON_PRIVATE}" stroke-width="2"/>'
        f'<polyline points="{points}" fill="none" stroke="{PRIVATE}" stroke-width="2.5"/>'
        f'<line x1="{at}" x2="{at}" y1="10" y2="{_HEIGHT - _EDGE}" stroke="{GUARANTEE}" stroke-dasharray="3 3"/>'
        f'<text x="{at + 4:.1f}" y="18">ε = {epsilon:g}: {html.escape(cost.shown(cost.at(epsilon)))}</text>'
        f'<text x="{x[-1]:.1f}" y="{flat + 15}" text-anchor="end">without privacy: {plain}</text>'
        f'<text x="{x[inside] + 10:.1f}" y="{max(y[inside] - 4, 12):.1f}">private release</text>{ticks}{heights}'
        f'<path d="M{_EDGE} {bottom - tall:.1f}V{bottom}H{_WIDTH - _EDGE}" fill="none" stroke="#444"/>'
        f'<text x="{_EDGE}" y="12" text-anchor="middle">error [{html.escape(cost.scale.unit)}]</text>'
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 6}" text-anchor="middle">ε (more private to the left)</text></svg>'
    )


def _below(x: FloatArray, y: FloatArray, inside: int, top: float) -> tuple[FloatArray, FloatArray]:
    """A curve that comes down from above the picture, from where it enters: before the point ``inside``."""
    if inside == 0:
        return x, y
    share = (top - y[inside - 1]) / (y[inside] - y[inside - 1])
    enters = x[inside - 1] + share * (x[inside] - x[inside - 1])
    return np.r_[enters, x[inside:]], np.r_[top, y[inside:]]
