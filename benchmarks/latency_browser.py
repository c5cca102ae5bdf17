"""How long a visitor waits for every slider of every page, in a real browser.

    python -m benchmarks.latency_browser                          # all pages, some minutes
    python -m benchmarks.latency_browser --pages kung_curves attack

Each slider is moved by one step with the arrow key. "first" is when anything on the page changes, "idle" when it
changes for the last time. "Cold" is the first move, "warm" the same move after it was taken back. The server
starts without results from before and warms none, so a cold figure holds all computation that the step needs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.noise_design import machine
from pages._ui import menu
from tests.e2e import browser as tool

HEADER = ("page", "control", "cold first", "cold idle", "warm first", "warm idle")
_WATCH = """() => {
    window.watch?.disconnect();
    const from = performance.now();
    window.changes = [];
    window.watch = new MutationObserver(() => window.changes.push(performance.now() - from));
    window.watch.observe(document.querySelector(".stMain"), {childList: true, subtree: true, characterData: true});
}"""
_SLIDER = "input[type=range]"
_STEPS = ("ArrowRight", "ArrowLeft")


def moved(page: Any, slider: Any, key: str) -> tuple[float, float]:
    """Seconds until the first and until the last change of the page, after a key; 0 where nothing changes."""
    page.evaluate(_WATCH)
    slider.press(key)
    tool.settle(page)
    changes = page.evaluate("window.changes") or [0.0]
    return changes[0] / 1000, changes[-1] / 1000


def rows(page: Any, address: str, file: str) -> Iterator[tuple[str, ...]]:
    """One row a slider of the page."""
    page.goto(f"{address}/{'' if file == 'start' else file}")
    tool.settle(page)
    folded = page.locator("[data-testid=stSidebar] details:not([open]) > summary")
    for _ in range(folded.count()):
        folded.first.click()
    names = [each.get_attribute("aria-label") for each in page.locator(_SLIDER).all() if each.is_visible()]
    for name in dict.fromkeys(names):
        slider = page.locator(f'{_SLIDER}[aria-label="{name}"]').locator("visible=true").first
        there, back = reversed(_STEPS) if slider.input_value() == slider.get_attribute("max") else _STEPS
        cold = moved(page, slider, there)
        moved(page, slider, back)
        warm = moved(page, slider, there)
        moved(page, slider, back)
        yield file, name, *(f"{seconds:.2f} s" for seconds in (*cold, *warm))


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table, row by row."""
    parser = argparse.ArgumentParser(description="Waiting times of every slider in a browser.")
    files = [page.file for page in menu.PAGES if not page.of_one_session]
    parser.add_argument("--pages", nargs="+", choices=files, default=files)
    options = parser.parse_args(argv)
    print(machine())
    print(" | ".join(HEADER))
    with tempfile.TemporaryDirectory() as empty, tool.serve(DPGP_LATTICE=empty) as address, tool.launch() as browser:
        page = tool.new_context(browser, viewport={"width": 1440, "height": 900}).new_page()
        for file in options.pages:
            for row in rows(page, address, file):
                print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
