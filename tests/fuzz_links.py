"""Garbage in every parameter of every page: `python -m tests.fuzz_links --count 3000` prints what became of it.

Each run opens a page in a fresh session with garbage in all of its controls' parameters at once. A value is a fault
if the page stops with an error, if it is neither used nor named in a sentence that says what is shown instead, or if
any of it appears as markup.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from streamlit.testing.v1 import AppTest

from pages._ui import menu
from tests.pages.reading import ROOT

PAGES = [page.file for page in menu.PAGES]
KINDS = ("toggle", "slider", "select_slider", "number_input", "selectbox", "segmented_control", "text_input", "radio")
MARK = "zqfuzz"  # in every hostile text, so that it is recognised wherever it appears

FIXED = ["", " ", "0", "-1", "-0", "1e9", "1e-9", "1e400", "-1e400", "nan", "NaN", "inf", "-inf", "Infinity", "0x10"]
FIXED += ["1_0", "1,5", "2.5", "9" * 400, "٢", "½", "true", "TRUE", "False", "maybe", "yes", "None", "null", "[]", "{}"]
FIXED += ["[1, 2]", "2024-01-01", "12:30", "%00", "%3Cb%3E", "..", "../../start", "\x00", "\x1b[31m", "\u202e1"]
FIXED += ["\ud7ff", "🙂", "\n\n# 1"]
HOSTILE = [
    "<script>alert('{m}')</script>",
    "<img src=x onerror={m}>",
    "javascript:{m}",
    "[{m}](http://example.org/{m})",
]
HOSTILE += ["![{m}](http://example.org/{m}.png)", "`{m}`", "```\n{m}\n```", "`<b>{m}</b>`[x](http://{m})", "**{m}**"]
HOSTILE += ["$${m}$$", ":red[{m}]", ":material/{m}:", "'; DROP TABLE {m};--", "{{7*7}}{m}", "${{{m}}}", "{m}" * 1700]
HOSTILE += ["\u202e{m}\u2066", "`\n\n[{m}](javascript:{m})", "http://example.org/{m}", "&lt;b&gt;{m}"]


def garbage(rng: random.Random) -> str | list[str]:
    """One value that no control offers on purpose, though some may be valid by chance."""
    kind = rng.randrange(6)
    if kind == 0:
        return "".join(chr(rng.choice((rng.randrange(1, 128), rng.randrange(128, 0xD800)))) for _ in range(9))
    if kind == 1:
        return f"{rng.uniform(-10, 10) * 10 ** rng.randrange(-9, 9):.{rng.randrange(1, 17)}g}"
    if kind == 2:
        return quote(rng.choice(HOSTILE).replace("{m}", MARK))
    if kind == 3:
        return [_text(rng), _text(rng)]
    return _text(rng)


def _text(rng: random.Random) -> str:
    return rng.choice(FIXED) if rng.random() < 0.5 else rng.choice(HOSTILE).replace("{m}", MARK)


def open_at(page: str, address: dict[str, Any]) -> AppTest:
    """A page in a fresh session at an address."""
    app = AppTest.from_file(str(ROOT / "pages/_ui/main.py"), default_timeout=120)
    for key, value in address.items():
        app.query_params[key] = value
    return app.switch_page(f"../{page}.py").run()


def states(page: str) -> list[dict[str, str]]:
    """A page as it opens, and once for each choice of a drop-down that brings other controls."""
    brings = {"excursion_sets": "excursion", "attack": "attack_on"}
    return [{}] + [{brings[page]: value} for value in menu.TITLES[brings[page]]] if page in brings else [{}]


def controls(app: AppTest) -> dict[str, str]:
    """Keys of the controls on screen that are bound to the address, with their kind.

    Bound or not is read off the protocol message that tells the browser so.
    """
    found = {}
    for kind in KINDS:
        for widget in app.get(kind):
            if widget.key and getattr(widget.proto, "query_param_key", ""):
                found[widget.key] = kind
    return found


@dataclass
class Report:
    """What became of the values, by kind of control and outcome, and every fault found."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def values(self) -> int:
        """How many were tried."""
        return sum(self.outcomes.values())


def judge(page: str, address: dict[str, Any], known: dict[str, str], report: Report) -> None:
    """Open the page at the address and look at what became of the value of each known control."""
    app = open_at(page, address)
    where = f"{page} { ({key: str(value)[:40] for key, value in address.items()})!r}"
    if app.exception:
        report.faults.append(f"error: {where}")
    sentences = [warning.value for warning in app.warning]
    for key in address.keys() & known.keys():
        named = [line for line in sentences if line.startswith(f"The link asks for {key} = `")]
        raw = address[key][-1] if isinstance(address[key], list) else address[key]
        if named:
            outcome = "explained"
            if not re.search(rf" Showing {re.escape(key)} = .+ instead\.$", named[0], re.DOTALL) or len(named) > 1:
                report.faults.append(f"odd sentence: {where}: {named}")
        elif _used(app, key, raw):
            outcome = "valid"
        elif key not in app.session_state:
            outcome = "not on this state of the page"
        else:
            outcome = "ignored"
            report.faults.append(f"ignored {key} = {raw[:60]!r}: {where}")
        report.outcomes[known[key], outcome] += 1
    report.faults += [f"markup: {where}: {line[:200]}" for line in _markup(app)]


def _used(app: AppTest, key: str, raw: str) -> bool:
    if key not in app.session_state:
        return False
    used = app.session_state[key]
    if isinstance(used, bool):
        return raw.lower() == str(used).lower()
    if isinstance(used, str):
        return raw in (used, next((short for short, title in menu.TITLES.get(key, {}).items() if title == used), used))
    try:
        return float(raw) == used
    except ValueError:
        return False


def _markup(app: AppTest) -> list[str]:
    """Where garbage appears outside a code span, or in HTML at all."""
    texts = [element.value for kind in ("markdown", "caption", "title", "warning", "info") for element in app.get(kind)]
    bare = [re.sub(r"`[^`\n]*`", "", value) for value in texts]
    return [line for line in bare if MARK in line] + [
        element.proto.body for element in app.get("html") if MARK in element.proto.body
    ]


def run(count: int, seed: int) -> Report:
    """At least ``count`` values over all pages in turn."""
    rng, report = random.Random(seed), Report()
    places = [(page, state, controls(open_at(page, state))) for page in PAGES for state in states(page)]
    while report.values < count:
        for page, state, known in places:
            tried = {key: garbage(rng) for key in known if key not in state}
            extra = {**state, "tour": _text(rng), "unknown": _text(rng)}
            judge(page, extra | tried, {key: known[key] for key in tried}, report)
    return report


def main() -> int:
    """Print the counts; exit with 1 if there was a fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="values to try, at least")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    report = run(arguments.count, arguments.seed)
    for (kind, outcome), number in sorted(report.outcomes.items()):
        print(f"{kind:18} {outcome:30} {number:6d}")
    print(f"{report.values} values, {len(report.faults)} faults")
    print("\n".join(report.faults[:20]))
    return bool(report.faults)


if __name__ == "__main__":
    sys.exit(main())
