"""What holds for every page: it draws, on the first screen, for everybody, and its link shows the same elsewhere.

The server is a newcomer's: `make app` in a clean clone, whose terminal is read to its end when all pages were open.
Each page is opened once on a desk and once on a telephone; the tests look at it one after another, in any order. The
pages of a desk follow each other in one tab, which reads the scripts once, and nothing moves: half of a browser's work.
In `make test` the server does not open its own pages meanwhile: in `make test-all` it does, as a newcomer's.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page

from pages._ui import menu
from pages._ui.look import in_python
from pages._ui.look.plots import NON_PRIVATE, REFINED, SPARSE
from tests.e2e import browser as tool
from tests.e2e import newcomer
from tests.e2e.actions import QUESTIONS, SIDEWAYS, copied, shown, unfold
from tests.e2e.conftest import Visit

ON_A_TELEPHONE = ("your_data",)  # in `make test`; all in `make test-all`
PHONES = [pytest.param(each, marks=[] if each in ON_A_TELEPHONE else pytest.mark.full) for each in QUESTIONS]
WITH_PICTURES = [page.file for page in menu.PAGES if not page.of_one_session]  # without a table there is none
LINKS = {  # that somebody sent, and what must be there
    "kung_curves?lengthscale_years=9&epsilon=2": "text=At epsilon = 2",
    "?tour=1": ".st-key-tour_banner",
    "attack?epsilon=nonsense": "text=The link asks for epsilon",
    "excursion_sets?excursion=london": "#deckgl-overlay",
}
PICTURE = ".stMain .js-plotly-plot, .stMain [data-testid=stDeckGlJsonChart]"
FIGURES = ".stMain :is([data-testid=stPlotlyChart], [data-testid=stDeckGlJsonChart])"
NEXT_BUTTON = """figure => {
    const after = each => figure.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
    const inside = each => figure.contains(each);
    const outer = figure.closest("[data-testid=stFullScreenFrame]") ?? figure;
    const stops = [...document.querySelectorAll("button, a[href], input, [tabindex='0']")].filter(
        each => each.tabIndex >= 0 && after(each) && !inside(each) && !outer.contains(each) && each.offsetParent);
    return stops[0].innerText;
}"""
CUT = """() => {
    const box = each => each.getBoundingClientRect();
    const beyond = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
    const titles = ".js-plotly-plot :is(.xtitle, .ytitle, .legendtext)", figures = "[data-testid=stMetric] *";
    const cut = each => beyond(box(each), box(each.closest(".js-plotly-plot")));
    const shortened = each => getComputedStyle(each).overflow !== "visible" && each.scrollWidth > each.clientWidth + 1;
    const all = (which, condition) => [...document.querySelectorAll(which)].filter(condition);
    return [...all(titles, cut), ...all(figures, shortened)].map(each => each.textContent);
}"""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RULES = {
    "runOnly": {"type": "tag", "values": TAGS},
    "rules": {"heading-order": {"enabled": True}},
    "resultTypes": ["violations"],  # what passes is not described: a third of the time
}
STILL = {"color_scheme": "light", "reduced_motion": "reduce"}
PAPER = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"


@pytest.fixture(scope="module")
def own_server(tmp_path_factory, request) -> Iterator[str]:
    quick = request.config.option.markexpr == "not full"
    settings = {"DPGP_WARM": "0"} if quick else {}
    with newcomer.started(tmp_path_factory.mktemp("newcomer"), **settings) as dashboard:
        yield dashboard.address
        terminal = dashboard.stop()
    lines = [line for line in terminal.splitlines() if not newcomer.INSTALLING.fullmatch(line)]
    assert lines[0] == f"Dashboard URL: {dashboard.address}"
    assert newcomer.unknown(terminal) == []


@pytest.fixture(scope="module")
def on_a_desk(chromium: Browser) -> Iterator[BrowserContext]:
    with tool.new_context(chromium, **STILL) as context:
        yield context


@pytest.fixture(scope="module")
def tab_on_a_desk(on_a_desk: BrowserContext) -> Page:
    return on_a_desk.new_page()


@pytest.fixture(scope="module")
def tab_on_a_telephone(chromium: Browser) -> Iterator[Page]:
    with tool.new_context(chromium, (400, 800), **STILL) as context:
        yield context.new_page()


def opened(tab: Page, server: str, path: str) -> Iterator[Visit]:
    visit = Visit(tab, server, path)
    visit.open("" if path == "start" else path)
    yield visit
    visit.end()


@pytest.fixture(scope="module", params=QUESTIONS)
def desk(request, tab_on_a_desk, own_server):
    yield from opened(tab_on_a_desk, own_server, request.param)


@pytest.fixture(scope="module", params=PHONES)
def phone(request, tab_on_a_telephone, own_server):
    yield from opened(tab_on_a_telephone, own_server, request.param)


def with_a_table(page: Page, wanted: bool = True) -> None:
    """The page of own data with a table to practise on, or without one."""
    button = page.get_by_role("button", name="Practise with the !Kung census" if wanted else "Forget the table").first
    if button.count():
        button.click()
        button.wait_for(state="detached")
        tool.settle(page)


def check_drawn(visit: Visit) -> None:
    """The page's title, its picture and its guarantee, no error, nothing from outside, nothing to scroll sideways."""
    page, path = visit.page, visit.path
    assert page.locator("h1").first.inner_text() == QUESTIONS[path]
    if path == "your_data":
        with_a_table(page)
    else:
        drawn = page.locator("#deckgl-overlay" if "map" in path else ".js-plotly-plot .main-svg")
        assert drawn.count() > 0
    assert page.get_by_text("What this guarantee says").first.is_visible()
    assert page.locator("[data-testid=stException]").count() == 0
    assert visit.external == []
    assert visit.errors == []
    assert page.evaluate(SIDEWAYS) <= 0


def check_first_screen(visit: Visit, largest: int, share: float) -> None:
    """Without scrolling one sees the question, epsilon, and at least a share of the picture."""
    page = visit.page
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop = 0")
    title = page.locator("h1").first
    size = float(title.evaluate("each => parseFloat(getComputedStyle(each).fontSize)"))
    assert 16 <= size <= largest
    assert width < 1000 or title.bounding_box()["height"] < 2 * size, "the title fills more than a line"
    picture = page.locator(PICTURE).first.bounding_box()
    seen = (height - picture["y"]) / picture["height"]
    assert seen >= share, f"only {seen:.0%} of the picture is in sight"
    budget = page.get_by_role("slider", name=re.compile("(ε|s): more"))  # posterior paths: epsilon follows from s
    boxes = [each.bounding_box() for each in budget.all()]
    assert any(box and 0 <= box["x"] < width and box["y"] + box["height"] <= height for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def violations(page: Page) -> list[str]:
    """Every rule that is broken, with the first elements that break it."""
    found = Axe().run(page, options=RULES).response["violations"]
    return [f"{each['id']}: {[node['html'][:200] for node in each['nodes'][:3]]}" for each in found]


def test_it_draws_on_a_desk(desk):
    check_drawn(desk)


@pytest.mark.full
def test_links_open_that_somebody_sent(on_a_desk, own_server):
    visit = Visit(on_a_desk.new_page(), own_server)
    for link, there in LINKS.items():
        page = visit.open(link)
        assert page.locator("[data-testid=stException]").count() == 0, link
        page.locator(there).first.wait_for(state="attached")
    assert visit.errors == []
    visit.page.close()


@pytest.mark.full_for("your_data")
def test_it_draws_on_a_telephone(phone):
    check_drawn(phone)


@pytest.mark.full_for("how_cloaking_works", "london_noise_map")
@pytest.mark.parametrize("desk", WITH_PICTURES, indirect=True)
def test_the_picture_is_visible_first_on_a_desktop(desk):
    check_first_screen(desk, largest=28, share=0.6)


@pytest.mark.parametrize("phone", [each for each in PHONES if each.values[0] in WITH_PICTURES], indirect=True)
def test_the_picture_is_visible_first_on_a_telephone(phone):
    check_first_screen(phone, largest=22, share=0.4)


@pytest.mark.full
def test_no_word_is_cut_on_a_telephone(phone):
    page, cut = phone.page, []
    if phone.path == "your_data":  # tiles stand there from the first release on
        with_a_table(page)
        page.get_by_role("button", name=re.compile("Make release")).first.click()
        page.locator("[data-testid=stMetric]").first.wait_for()
        tool.settle(page)
    if phone.path == "start":  # its tabs are folded away
        page.locator(".stMain details summary").first.click()
        tool.settle(page)
    for tab in [None, *page.locator(".stMain [role=tab]").all()]:
        if tab:
            tab.click()
            tool.settle(page)
        cut += page.evaluate(CUT)
    assert cut == []
    assert page.locator("[data-testid=stMetric]").count() > 0 or phone.path == "start"
    assert page.locator(".js-plotly-plot .xtitle").count() > 0 or phone.path not in WITH_PICTURES


@contextlib.contextmanager
def lines_of_python(page: Page) -> Iterator[None]:
    """The page with its lines of Python in sight: in a tab, which Start has folded away, or folded away themselves."""
    tab = page.get_by_role("tab", name=in_python.TITLE)
    own = page.locator(".stMain summary").filter(has_text=in_python.TITLE)
    folded = page.locator(".st-key-words summary") if page.locator(".st-key-words").count() else own
    there = [*folded.all(), *([] if folded is own else [tab])] if folded.count() else [tab]
    for each in there:
        each.click()
        tool.settle(page)
    lines = page.locator(".stMain [data-testid=stCode]").filter(has_text="import").first
    lines.wait_for(state="visible")
    yield
    if tab in there:
        tab.locator("xpath=preceding-sibling::*[@role='tab'][last()]").click()
    for each in folded.all():
        each.click()
    lines.wait_for(state="hidden")
    tool.settle(page)


# The dark theme's paper would swallow them
DARK_COLOURS = [
    f"rgb({', '.join(str(each) for each in bytes.fromhex(name[1:]))})" for name in (NON_PRIVATE, REFINED, SPARSE)
]
DRAWN_IN = """colours => [...document.querySelectorAll(".stMain .js-plotly-plot path")].map(
    path => { const {fill, stroke} = getComputedStyle(path); return [path.getAttribute("class"), fill, stroke]; }
).filter(([, ...drawn]) => drawn.some(each => colours.includes(each)))"""


def check_both_schemes(page: Page) -> None:
    light = page.evaluate(PAPER)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    try:
        page.wait_for_function(f"light => {PAPER} !== light", arg=light)
        tool.settle(page)
        assert violations(page) == []
        assert page.evaluate(DRAWN_IN, DARK_COLOURS) == []
    finally:  # pages are opened in one browser one after another
        page.emulate_media(color_scheme="light")
    page.wait_for_function(f"light => {PAPER} === light", arg=light)


@pytest.mark.full
def test_no_accessibility_rule_is_broken(desk):
    page = desk.page
    assert page.title().startswith(next(each.title for each in menu.PAGES if each.file == desk.path))
    if desk.path == "your_data":  # without a table, then with one
        with_a_table(page, False)
        check_both_schemes(page)
        with_a_table(page)
    check_both_schemes(page)
    with lines_of_python(page):
        check_both_schemes(page)


@pytest.mark.full
@pytest.mark.parametrize("desk", WITH_PICTURES, indirect=True)
def test_the_table_follows_its_figure_by_keyboard(desk):
    page = desk.page
    figures: list[Locator] = page.locator(FIGURES).all()
    assert figures
    tables = page.locator("[class*=st-key-numbers_] button")
    assert tables.count() == len(figures)
    if desk.path != "how_cloaking_works":
        assert "Table" in figures[0].evaluate(NEXT_BUTTON)
    first = tables.first
    first.focus()
    assert float(first.evaluate("each => parseFloat(getComputedStyle(each).outlineWidth)")) >= 2  # focus is seen
    page.keyboard.press("Enter")
    page.locator("[data-testid=stPopoverBody] :is(table, [data-testid=stDataFrame])").first.wait_for()
    tool.settle(page)
    assert page.locator("[data-testid=stException]").count() == 0
    page.keyboard.press("Escape")
    page.locator("[data-testid=stPopoverBody]").wait_for(state="hidden")
    assert desk.errors == []


@pytest.mark.full
@pytest.mark.parametrize("desk", WITH_PICTURES, indirect=True)
def test_a_copied_link_shows_the_same_elsewhere(desk, chromium):
    page, before = desk.page, desk.page.locator(".stMain").inner_text()
    unfold(page)
    page.locator("[data-testid=stSidebar]").get_by_role("slider").first.press("ArrowRight")
    tool.settle(page)
    assert page.locator(".stMain").inner_text() != before
    assert "=" in page.url.partition("?")[2]  # the address is the state of the page
    assert page.locator("[data-testid=stException]").count() == 0
    assert desk.errors == []
    with tool.new_context(chromium) as context:
        other = tool.opened(context, f"{desk.address}/{copied(page)}")
        assert shown(other) == shown(page)
        assert other.get_by_text("The link asks").count() == 0
