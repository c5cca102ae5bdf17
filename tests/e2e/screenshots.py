"""Take the screenshots of docs/screenshots: every page, wide light, wide dark, narrow. `make screenshots`.

Kept as WebP without loss from few colours, a quarter of the PNG's size: a page has few but for its maps. The commonest
stay what they are, so that no background is tinted; the others become the nearest of those and of some that cover them.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, Page
from scipy.spatial import cKDTree

from pages._ui import menu, tour
from tests.e2e import browser as tool

COMMON, OTHERS = 32, 64  # colours
LOOKS = {"light": (1440, 900, "light"), "dark": (1440, 900, "dark"), "narrow": (400, 800, "light")}


def save(png: bytes, path: Path) -> None:
    """Write a screenshot with few colours, compressed."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    codes = np.asarray(picture).astype(np.int32) @ (1 << 16, 1 << 8, 1)
    found, where, count = np.unique(codes, return_inverse=True, return_counts=True)
    covering = picture.quantize(OTHERS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette()
    palette = np.vstack([parts(found[np.argsort(count)[-COMMON:]]), np.reshape(covering or [], (-1, 3))[:OTHERS]])
    _, nearest = cKDTree(palette).query(parts(found))
    few = Image.fromarray(nearest[where].reshape(codes.shape).astype(np.uint8), "P")
    few.putpalette(palette.astype(np.uint8).tobytes())
    few.save(path, "WEBP", lossless=True, method=6)


def parts(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Red, green and blue (n, 3) of colours as one number each."""
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=1)


def opened(browser: Browser, address: str, look: str) -> Page:
    """A page in a browser of its own."""
    width, height, scheme = LOOKS[look]
    return tool.opened(tool.new_context(browser, (width, height), color_scheme=scheme), address)


def take(browser: Browser, address: str, page_name: str, look: str, folder: Path) -> None:
    """One picture of the whole page, sidebar included on wide screens."""
    page = opened(browser, f"{address}/{'' if page_name == 'start' else page_name}", look)
    if page_name == "your_data":
        page.get_by_role("button", name="Practise with the !Kung census").click()
        tool.settle(page)
        page.get_by_role("button", name="Make release 1").click()
        tool.settle(page)
    tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    width, height, _ = LOOKS[look]
    page.set_viewport_size({"width": width, "height": max(height, tall)})
    tool.settle(page)
    page.wait_for_timeout(1500)  # plotly and deck.gl redraw after the resize
    save(page.screenshot(), folder / f"{page_name}-{look}.webp")
    page.context.close()


def take_step(browser: Browser, address: str, number: int, look: str, folder: Path) -> None:
    """What one sees first at a step of the guided tour, its answer revealed."""
    step = tour.STEPS[number - 1]
    path = "" if step.page == "start" else step.page
    page = opened(browser, f"{address}/{path}?{urlencode({'tour': number} | step.state)}", look)
    page.get_by_text("What you should see").click()
    tool.settle(page)
    save(page.screenshot(), folder / f"tour_{number}-{look}.webp")
    page.context.close()


def main(folder: Path) -> None:
    """Serve the dashboard and photograph it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tool.serve() as address, tool.launch() as browser:
        for page_name in (page.file for page in menu.PAGES):
            for look in LOOKS:
                take(browser, address, page_name, look, folder)
                print(folder / f"{page_name}-{look}.webp")
        for number in range(1, len(tour.STEPS) + 1):
            for look in ("light", "narrow"):
                take_step(browser, address, number, look, folder)
                print(folder / f"tour_{number}-{look}.webp")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots"))
