"""How long a page's first visitor waits, in a real browser: on a server that is some seconds old, and the time after.

    python -m benchmarks first_visit                          # every page on a fresh server of its own, ten seconds old
    python -m benchmarks first_visit --pages start --age 0 --settings DPGP_WARM=0

"heading" is when the page's title stands, "number" when its first computed number does, "seen" when words, numbers,
pictures or maps outside closed tabs change for the last time, "idle" when anything does; then the same for a second
visitor of that server. Streamlit's page hands every figure to plotly twice, which draws the same again: "idle" counts
that, and grids in closed tabs; "seen" does not. "browser" is the processor time of the page's own thread: what other
work on the machine lengthens least.
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

MOMENTS = ("heading", "number", "seen", "idle")
MEASURED = (*MOMENTS, "browser")
_PICTURES = ".js-plotly-plot .main-svg, canvas, img"
_NUMBERS = "[data-testid=stMetricValue], [data-testid=stMarkdown]"
_WORDS = f"{_NUMBERS}, [data-testid=stHeading], [data-testid=stCaptionContainer]"
_WATCH = f"""() => {{
    window.moments = [0, 0, 0, 0];
    let before = "";
    const open = each => !each.closest("[role=tabpanel][inert], [role=tabpanel][hidden]");
    const state = main => {{
        const words = [...main.querySelectorAll("{_WORDS}")].filter(open).map(each => each.textContent);
        return [...main.querySelectorAll("{_PICTURES}")].filter(open).length + words.join("|");
    }};
    const look = () => {{
        const main = document.querySelector(".stMain"), now = performance.now();
        if (!main) return;
        if (!window.moments[0] && main.querySelector("h1")) window.moments[0] = now;
        const numbers = [...main.querySelectorAll("{_NUMBERS}")];
        if (!window.moments[1] && numbers.some(each => /[0-9]/.test(each.textContent))) window.moments[1] = now;
        const after = state(main);
        if (after !== before) window.moments[2] = now;
        before = after;
        window.moments[3] = now;
    }};
    new MutationObserver(look).observe(document, {{childList: true, subtree: true, characterData: true}});
}}"""


def visited(browser: Any, address: str) -> list[float]:
    """Seconds until the ``MOMENTS`` of a page, for a browser that has never been there; and those of its thread."""
    context = tool.new_context(browser, viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.add_init_script(f"({_WATCH})()")
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address)
    tool.settle(page)
    page.wait_for_function("last => performance.now() - window.moments[last] > 1500", arg=MOMENTS.index("idle"))
    found = [moment / 1000 for moment in page.evaluate("window.moments")]
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return [*found, metrics["TaskDuration"]]


def rows(files: Sequence[str], age: float, settings: dict[str, str]) -> Iterator[dict[str, object]]:
    """One row a page."""
    with tool.launch() as browser:
        for file in files:
            row: dict[str, object] = {"page": file}
            with tool.serve(**settings) as address:
                time.sleep(age)
                for visitor in ("first", "second"):
                    seconds = visited(browser, f"{address}/{'' if file == menu.PAGES[0].file else file}")
                    row |= {f"{visitor}: {m}": f"{s:.1f} s" for m, s in zip(MEASURED, seconds, strict=True)}
            yield row


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table, row by row."""
    names = {"pages": [page.file for page in menu.PAGES]}
    given = options_of(__doc__, argv, names, age=10.0, settings=["DPGP_WARM=1"])
    print(machine())
    show(rows(given.pages, given.age, dict(each.split("=", 1) for each in given.settings)))
