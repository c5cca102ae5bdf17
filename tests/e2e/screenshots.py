"""Take the screenshots of docs/screenshots: every page, wide light, wide dark, narrow. `make screenshots`.

Kept as WebP without loss from 64 colours, a quarter of the PNG's size: a page has few colours but for its maps.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from pages._ui import menu
from pages._ui.tour import walk
from tests.e2e import browser as tool

COLOURS = 64
LOOKS = {"light": (1440, 900, "light"), "dark": (1440, 900, "dark"), "narrow": (400, 800, "light")}


def save(png: bytes, path: Path) -> None:
    """Write a screenshot with few colours, compressed."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    few = picture.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, "WEBP", lossless=True, method=6)


def take(browser: Browser, address: str, page_name: str, look: str, folder: Path) -> None:
    """One picture of the whole page, sidebar included on wide screens."""
    width, height, scheme = LOOKS[look]
    context = tool.new_context(browser, viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/{'' if page_name == 'start' else page_name}")
    tool.settle(page)
    if page_name == "your_data":
        page.get_by_role("button", name="Practise with the !Kung census").click()
        tool.settle(page)
        page.get_by_role("button", name="Make release 1").click()
        tool.settle(page)
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": width, "height": max(height, tall)})
    tool.settle(page)
    page.wait_for_timeout(1500)  # plotly and deck.gl redraw after the resize
    save(page.screenshot(), folder / f"{page_name}-{look}.webp")
    context.close()


def take_step(browser: Browser, address: str, number: int, look: str, folder: Path) -> None:
    """What one sees first at a step of the guided tour, its answer revealed."""
    width, height, scheme = LOOKS[look]
    context = tool.new_context(browser, viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{address}/{walk.link(number).removeprefix('./')}")
    tool.settle(page)
    page.get_by_text("What you should see").click()
    tool.settle(page)
    save(page.screenshot(), folder / f"tour_{number}-{look}.webp")
    context.close()


def main(folder: Path) -> None:
    """Serve the dashboard and photograph it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tool.serve() as address, tool.launch() as browser:
        for page_name in (page.file for page in menu.PAGES):
            for look in LOOKS:
                take(browser, address, page_name, look, folder)
                print(folder / f"{page_name}-{look}.webp")
        for number in range(1, len(walk.STEPS) + 1):
            for look in ("light", "narrow"):
                take_step(browser, address, number, look, folder)
                print(folder / f"tour_{number}-{look}.webp")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots"))
