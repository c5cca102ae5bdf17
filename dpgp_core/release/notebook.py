"""Write a notebook for a published release: its guarantee and figure, further questions, and the next release."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from ..accounting.guarantee import Guarantee
from .json_text import spec_to_json
from .specification import ReleaseSpec

ZIP, CONFIGURATION = "release.zip", "config.json"
_RELEASE = "python -m dpgp_core release --csv table.csv --config config.json --ledger ledger.json --new-ledger"
COMMANDS = f"{_RELEASE} --check\n{_RELEASE} --out next-release.zip"
"""Command lines of a dry run and of a release whose configuration is in a file. ``--new-ledger`` is for the first
release of a table.
"""
_PLACES = 5  # number of points at which the notebook predicts


def notebook(spec: ReleaseSpec, guarantee: Guarantee) -> str:
    """Return a notebook (nbformat 4.5, JSON) that reads the zip of a release and analyses it. Nothing is spent.

    The notebook expects the zip as ``release.zip`` in its own folder, and needs this library.

    Args:
        spec: specification of the release, with a mechanism that ``load`` reads.
        guarantee: guarantee on the card of the release.

    Raises:
        ValueError: ``load`` does not read releases by this mechanism.
    """
    if not spec.choice.kind.automatic:
        raise ValueError(f"{spec.mechanism!r} releases cannot be read again; a notebook is for Bayes cloaking")
    cells = [
        _words(f"# {_safe(spec.y)} by {_safe(' and '.join(spec.x))}: a private release", *_promise(guarantee)),
        _code(*_imports(), f'release = load("{ZIP}")', "print(release.guarantee.budget)"),
        _words("## The released curve", "The curve with its 95 % interval, drawn from what was released."),
        _code("release.plot();"),
        _words(
            "## Two further questions",
            "What is computed from released numbers spends nothing, so any question may be asked. First: where is the "
            "curve at places of your own, and within which interval?",
        ),
        _code(*_places(spec), *_curve(spec)),
        _words(f"Second: how probable is it that the curve is above {_level(spec)}?"),
        _code(f"above = release.probability_above({_measured_level(spec)!r}, places)", "print((100 * above).round(1))"),
        _words(
            "## The next release",
            "The configuration of this release, and the commands that make another one with it. Change what should be "
            f"different, and save it as `{CONFIGURATION}` next to the table. The first command is a dry run: it says "
            "what you should know before a release, and spends nothing. Every release of the same table spends budget, "
            "and the ledger adds it up: leave `--new-ledger` out from the second release on.",
            f"```json\n{spec_to_json(spec).strip()}\n```",
            f"```\n{COMMANDS}\n```",
        ),
    ]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    found = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _promise(guarantee: Guarantee) -> list[str]:
    budget = guarantee.budget
    return [
        f"**What is protected**: {_safe(guarantee.protects)}. **Privacy unit**: {_safe(guarantee.unit)}. "
        f"**Neighbouring tables**: {_safe(guarantee.neighbours)}.",
        f"**Promise**: ε = {budget.epsilon:g} at δ = {budget.delta:g}, by {_safe(guarantee.theorem)}. It does not "
        f"cover: {_safe('; '.join(guarantee.not_covered))}.",
        f"Put `{ZIP}` next to this notebook. It needs the library `dpgp_core`, matplotlib, and no table.",
    ]


def _imports() -> list[str]:
    return ["import numpy as np", "from dpgp_core import load", ""]


def _places(spec: ReleaseSpec) -> list[str]:
    """Return code for points along the box, for the first group if there are several."""
    sides = [f"np.linspace({low!r}, {high!r}, {_PLACES})" for low, high in (each.box for each in spec.numbers)]
    groups = {name: levels[0] for name, levels in spec.levels.items()}
    units = ", ".join(f"{each.name} [{each.unit}]" if each.unit else each.name for each in spec.numbers)
    about = " ".join(units.split())
    numbers = sides[0] if len(sides) == 1 else f"np.column_stack([{', '.join(sides)}])"
    return [
        f"numbers = {numbers}  # {about}",
        f"places = release.places(numbers, {groups!r})" if groups else "places = release.places(numbers)",
    ]


def _curve(spec: ReleaseSpec) -> list[str]:
    back = "np.exp" if spec.log else "np.asarray"
    return [
        "curve, (low, high) = release.predict(places), release.interval(places, 0.95)",
        f"print(np.column_stack([{back}(each) for each in (curve, low, high)]).round(3))",
    ]


def _measured_level(spec: ReleaseSpec) -> float:
    """Return the middle of the bounds, on the scale that was measured."""
    return float(spec.outcome.measured.midpoint)


def _level(spec: ReleaseSpec) -> str:
    unit = f" {_safe(spec.y_unit)}" if spec.y_unit else ""
    if spec.log:
        return "the middle of the bounds"
    return f"{_measured_level(spec):g}{unit}, the middle of the bounds"


def _safe(text: str) -> str:
    """Return text of a configuration so that it is safe in Markdown."""
    return html.escape(" ".join(text.split())).replace("[", "&#91;").replace("`", "&#96;").replace("*", "&#42;")


def _cell(kind: str, lines: Sequence[str]) -> dict[str, Any]:
    return {"cell_type": kind, "id": "", "metadata": {}, "source": "\n".join(lines)}


def _words(*paragraphs: str) -> dict[str, Any]:
    return _cell("markdown", ["\n\n".join(paragraphs)])


def _code(*lines: str) -> dict[str, Any]:
    return _cell("code", lines) | {"execution_count": None, "outputs": []}
