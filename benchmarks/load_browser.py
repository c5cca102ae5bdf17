"""How long one real browser takes from a key press on the epsilon slider until it is idle again."""

from __future__ import annotations

from playwright.sync_api import Page

from benchmarks.load_report import Phase
from tests.e2e import browser as tool

# Idle: the script has run, nothing on the page is stale, and two more frames have been drawn. Streamlit itself waits
# some 200 ms after a key press before it asks the server, in case more follow: "started" is when the run was seen.
WATCH = """busy => {
    const app = document.querySelector('[data-testid=stApp]');
    window.times = {};
    document.addEventListener('keydown', () => { window.times = {pressed: performance.now()}; }, true);
    const drawn = () => requestAnimationFrame(() => requestAnimationFrame(() => {
        if (document.querySelector(busy)) drawn(); else window.times.idle = performance.now();
    }));
    new MutationObserver(() => {
        if (app.dataset.testScriptState !== 'notRunning') window.times.started ??= performance.now();
        else if (window.times.started) drawn();
    }).observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
}"""


def measure_browser(address: str, moves: int) -> tuple[Phase, Phase]:
    """Press, and started, to idle on !Kung curves, its first two stages cached."""
    pressed, started = Phase("epsilon: key press to browser idle"), Phase("epsilon: run started to browser idle")
    with tool.launch() as browser:
        page = browser.new_page()
        page.goto(f"{address}/kung_curves?epsilon=100")
        tool.settle(page)
        page.evaluate(WATCH, tool.BUSY)
        for _ in range(moves):
            times = _move(page)
            pressed.seconds.append((times["idle"] - times["pressed"]) / 1000)
            started.seconds.append((times["idle"] - times["started"]) / 1000)
            pressed.errors += page.locator("[data-testid=stException]").all_inner_texts()
    return pressed, started


def _move(page: Page) -> dict[str, float]:
    key = "ArrowRight" if "epsilon=0.1" in page.url else "ArrowLeft"
    page.get_by_role("slider", name="ε").first.press(key)
    page.wait_for_function("() => window.times.idle", timeout=60_000)
    page.wait_for_timeout(500)
    return dict(page.evaluate("window.times"))
