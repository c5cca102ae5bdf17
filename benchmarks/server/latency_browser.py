"""How long a visitor waits for every control of every page, in a real browser.

    python -m benchmarks latency_browser                          # all pages, some minutes
    python -m benchmarks latency_browser --pages kung_curves attack
    python -m benchmarks latency_browser --pages london_noise_map --address mechanism=bayes --controls ε

A slider is moved by one step, a toggle switched, a drop-down set to another value. "first" is when anything on the
page changes, "answer" when its answer is that of the new setting, "idle" when it changes for the last time.
"Cold" is the first move, "warm" the same move after it was taken back. The server warms no results and
works none ahead, so a cold figure holds all computation that the step needs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from playwright.sync_api import TimeoutError

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from pages._ui import menu
from tests.e2e import browser as tool

MOMENTS = ("first", "answer", "idle")
_WATCH = """() => {
    window.watch?.disconnect();
    const from = performance.now(), answer = () => document.querySelector(".st-key-answer")?.textContent;
    const before = answer();
    window.changes = [];
    window.answered = 0;
    window.watch = new MutationObserver(() => {
        window.changes.push(performance.now() - from);
        if (!window.answered && answer() && answer() !== before) window.answered = window.changes.at(-1);
    });
    window.watch.observe(document.querySelector(".stMain"), {childList: true, subtree: true, characterData: true});
}"""
_KINDS = _SLIDER, _TOGGLE, _DROP_DOWN = "input[type=range]", "input[role=switch]", "input[role=combobox]"
_STEPS = ("ArrowRight", "ArrowLeft")
_ATTEMPTS = 20  # to open a menu


class Control(NamedTuple):
    """A control as a visitor moves it.

    Attributes:
        name: its label.
        there: one step away.
        back: to where it stood.
    """

    name: str
    there: Callable[[], None]
    back: Callable[[], None]


def slider(found: Any) -> Control:
    """One step with the arrow key."""
    there, back = reversed(_STEPS) if found.input_value() == found.get_attribute("max") else _STEPS
    return Control(found.get_attribute("aria-label"), partial(found.press, there), partial(found.press, back))


def toggle(found: Any) -> Control:
    """The space bar."""
    press = partial(found.press, "Space")
    return Control(found.get_attribute("aria-label"), press, press)


def drop_down(page: Any, found: Any) -> Control | None:
    """The first value that is not chosen; None if there is no other, or if none is chosen that could come back."""
    stood = found.input_value()
    if not stood:
        return None
    _open_menu(page, found)
    others = page.locator("[role=option]:not([aria-selected=true])").all_inner_texts()
    page.keyboard.press("Escape")

    def choose(title: str) -> None:
        _open_menu(page, found)
        page.get_by_role("option", name=title, exact=True).click()

    if not others:
        return None
    return Control(found.get_attribute("aria-label"), partial(choose, others[0]), partial(choose, stood))


def _open_menu(page: Any, found: Any) -> None:
    for _ in range(_ATTEMPTS):  # whatever the page draws anew closes its menus
        found.press("ArrowDown")
        with contextlib.suppress(TimeoutError):
            page.locator("[role=option]").first.wait_for(timeout=1000)
            return
        page.keyboard.press("Escape")


def controls(page: Any) -> list[Control]:
    """Every slider, toggle and drop-down that can be seen and moved, each label once."""
    found = {
        each.get_attribute("aria-label"): (kind, each)
        for kind in _KINDS
        for each in page.locator(f".stApp {kind}:enabled").all()
        if each.locator("xpath=..").is_visible()
    }
    named = {name: page.locator(f'{kind}[aria-label="{name}"]:enabled').first for name, (kind, _) in found.items()}
    made = {_SLIDER: slider, _TOGGLE: toggle, _DROP_DOWN: partial(drop_down, page)}
    return [control for name, (kind, _) in found.items() if (control := made[kind](named[name])) is not None]


def moved(page: Any, move: Callable[[], None]) -> tuple[float, ...]:
    """Seconds after a move until the ``MOMENTS``; 0 where nothing changes."""
    page.evaluate(_WATCH)
    move()
    tool.settle(page)
    changes = page.evaluate("window.changes") or [0.0]
    return tuple(each / 1000 for each in (changes[0], page.evaluate("window.answered"), changes[-1]))


def rows(page: Any, address: str, file: str, query: str, wanted: str) -> Iterator[dict[str, object]]:
    """One row a control of the page whose label begins so."""
    page.goto(f"{address}/{'' if file == 'start' else file}?{query}")
    tool.settle(page)
    folded = page.locator("[data-testid=stSidebar] details:not([open]) > summary")
    for _ in range(folded.count()):
        folded.first.click()
    for control in (each for each in controls(page) if each.name.startswith(wanted)):
        row: dict[str, object] = {"page": file, "control": control.name}
        for state in ("cold", "warm"):
            seconds = moved(page, control.there)
            row |= {f"{state} {moment}": f"{each:.2f} s" for moment, each in zip(MOMENTS, seconds, strict=True)}
            moved(page, control.back)
        yield row


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table, row by row."""
    names = {"pages": [page.file for page in menu.PAGES if not page.of_one_session]}
    given = options_of(__doc__, argv, names, address="", controls="")
    print(machine())
    with tool.serve() as address, tool.launch() as browser:
        page = tool.new_context(browser, viewport={"width": 1440, "height": 900}).new_page()
        show(row for file in given.pages for row in rows(page, address, file, given.address, given.controls))
