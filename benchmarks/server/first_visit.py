"""How long a page's first visitor waits, in a real browser: on a server that is some seconds old, and the time after.

    python -m benchmarks first_visit                          # every page on a fresh server of its own, ten seconds old
    python -m benchmarks first_visit --pages start --age 0 --settings DPGP_WARM=0

"heading" is when the page's title stands, "number" when its first computed number does, "idle" when it changes for the
last time; seconds from the request, then the same for a second visitor of that server.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from pages._ui import menu
from tests.e2e import browser as tool

MOMENTS = ("heading", "number", "idle")
_NUMBERS = "[data-testid=stMetricValue], [data-testid=stMarkdown]"
_WATCH = f"""() => {{
    window.moments = [0, 0, 0];
    const look = () => {{
        const main = document.querySelector(".stMain"), now = performance.now();
        if (!main) return;
        window.moments[2] = now;
        if (!window.moments[0] && main.querySelector("h1")) window.moments[0] = now;
        const numbers = [...main.querySelectorAll("{_NUMBERS}")];
        if (!window.moments[1] && numbers.some(each => /[0-9]/.test(each.textContent))) window.moments[1] = now;
    }};
    new MutationObserver(look).observe(document, {{childList: true, subtree: true, characterData: true}});
}}"""


def visited(browser: Any, address: str) -> list[float]:
    """Seconds until the ``MOMENTS`` of a page, for a browser that has never been there."""
    context = tool.new_context(browser, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.add_init_script(f"({_WATCH})()")
    page.goto(address)
    tool.settle(page)
    found = [moment / 1000 for moment in page.evaluate("window.moments")]
    context.close()
    return found


def rows(files: Sequence[str], age: float, settings: dict[str, str]) -> Iterator[dict[str, object]]:
    """One row a page."""
    with tool.launch() as browser:
        for file in files:
            row: dict[str, object] = {"page": file}
            with tool.serve(**settings) as address:
                time.sleep(age)
                for visitor in ("first", "second"):
                    seconds = visited(browser, f"{address}/{'' if file == menu.PAGES[0].file else file}")
                    row |= {f"{visitor}: {m}": f"{s:.1f} s" for m, s in zip(MOMENTS, seconds, strict=True)}
            yield row


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table, row by row."""
    names = {"pages": [page.file for page in menu.PAGES]}
    given = options_of(__doc__, argv, names, age=10.0, settings=["DPGP_WARM=1"])
    print(machine())
    show(rows(given.pages, given.age, dict(each.split("=", 1) for each in given.settings)))
