"""The lines in the tab "In Python" of every page compute the numbers that the page shows."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import datasets
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.release import CHOICES, spec_to_json
from pages._ui import menu
from pages._ui.cloaking.cells import released_prices
from pages._ui.compare import contenders
from pages._ui.compare.view import FIRST
from pages._ui.look.in_python import NOTE, TITLE
from pages._ui.work import cached
from pages._ui.work.jobs import Jobs
from tests.digests import ROUNDING, kept, rounding
from tests.pages.own import declared, spec_of
from tests.pages.reading import numbers, traces

WHOLE = dict(CATALOGUE)  # with as many simulated releases as the results have that ship

MOST_LINES = 25


@pytest.fixture
def computed_here(monkeypatch):
    """Pages compute what ships with them if that was made on a processor that rounds otherwise, as the lines do."""
    if kept()[ROUNDING] != rounding():
        monkeypatch.setattr(cached, "jobs", Jobs(cached.ROOM))


def test_the_tab_names_every_package_that_its_lines_need():
    folder = Path(datasets.__file__).parent
    loaded = (each for each in folder.glob("*.py") if not each.name.startswith("build_"))  # those make files
    trees = [node for each in loaded for node in ast.walk(ast.parse(each.read_text(encoding="utf-8")))]
    names = {alias.name for node in trees if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in trees if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names
    assert {"numpy", "h3"} < packages
    assert not [name for name in packages | {"scipy"} if not re.search(rf"\b{name}\b", NOTE)]


def lines_of(app) -> str:
    """The script of a page, where it says that it is."""
    [found] = [each.value for each in app.code if each.language == "python"]
    assert TITLE in [each.label for each in (*app.tabs, *app.expander)]
    return found


def computed(script: str, folder: Path | None = None) -> dict:
    """What a script defines."""
    where = contextlib.nullcontext() if folder is None else contextlib.chdir(folder)
    values: dict = {}
    with where, contextlib.redirect_stdout(io.StringIO()):
        exec(compile(script, "in_python.py", "exec"), values)
    return values


def column(app, *words, table=0) -> np.ndarray:
    """The only column of a table whose name has these words; rows without a value are left out."""
    frame = app.dataframe[table].value
    found = [name for name in frame if all(word in str(name) for word in words)]
    [name] = found if len(found) == 1 else [name for name in found if "not private" not in name]
    return frame[name].dropna().to_numpy()


def metric(app, label: str) -> str:
    [found] = [each.value for each in app.metric if each.label == label]
    return found.replace("\u00a0", " ")


def same(found, expected, digits=4):
    """Equal, to so many decimals or to the six digits of a table."""
    np.testing.assert_allclose(found, expected, rtol=6e-6, atol=0.6 * 10.0**-digits)


def asked(app, key: str, default: str = "") -> str:
    """A parameter of the address."""
    found = app.query_params.get(key, default)
    return found if isinstance(found, str) else found[0]


def rounds_to(value: float, shown: str) -> bool:
    """Whether a number as a page writes it, to two or three digits, is this value."""
    written = float(re.search(r"[\d.,]+", shown)[0].replace(",", ""))
    digits = max(len(re.sub(r"^0+", "", re.search(r"[\d.]+", shown)[0].replace(".", ""))), 1)
    return abs(value - written) <= 0.51 * 10 ** (np.floor(np.log10(abs(written))) + 1 - digits)


def of_curve(app, found):
    same(found["curve"], first_draw(app))
    if "draws" not in app.query_params:
        same(found["low"], column(app, "average", "lower end"))
        same(found["high"], column(app, "average", "upper end"))


def first_draw(app):
    frame = app.dataframe[0].value
    return frame[next(name for name in frame if "published curve" in name)].dropna().to_numpy()


def of_map(app, found):
    cells = found["cells"]
    names = [*found["hexagons"].labels["cell"], *cells.loc[cells["sales"] == 0, "cell"]]
    prices = dict(zip(names, released_prices(found["curve"], found["data"]), strict=True))
    shown = app.dataframe[0].value.set_index("cell")["published price [GBP]"].dropna()  # none where it is uncertain
    assert len(shown) > 10
    assert [prices[name] for name in shown.index] == list(shown)


def of_excursion(app, found):
    same(found["paths"][0], column(app, "published path 1"), 3)
    if app.query_params.get("paths") is None:
        assert rounds_to(found["bayes_overlap"], metric(app, "IoU, Bayes cloaking"))
        assert rounds_to(np.median(found["overlap"]), metric(app, "IoU, one path"))
        same(100 * found["above"], column(app, "Bayes probability"), 1)


def of_choice(app, found):
    frame = app.dataframe[0].value
    rows = frame[frame["ε of the release"] == asked(app, "epsilon", "1")]
    chances, errors = (next(name for name in frame if name.startswith(start)) for start in ("probability", "error ["))
    same(100 * np.array(list(found["probabilities"].values())), rows[chances], 2)
    same(list(found["errors"].values()), rows[errors])


def of_comparison(app, found):
    shown = app.dataframe[0].value.set_index("mechanism")
    error = next(name for name in shown if name.startswith("error ["))
    assert len(found["errors"]) == len(FIRST)
    for title, value in found["errors"].items():
        same(value, shown.loc[title, error], 3)


def of_sparse(app, found):
    if "release" in found:
        same(found["curve"], column(app, "ours: whitened: "), 3)
        same(found["bayes_curve"], column(app, "Bayes cloaking: "), 3)
        same(found["low"], column(app, "ours, 95 %: the curve, lower end"), 3)
    else:
        frame = app.dataframe[0].value
        ours = next(name for name in frame if name.startswith(("ours: whitened: error", "Evidence: free (ours)")))
        at = frame.iloc[:, 0].astype(float) == float(found["mechanism"].epsilon)
        same(found["error"], frame.loc[at, ours], 3)


def of_attack(app, found):
    allowed = column(app, "the guarantee allows")  # rounded up
    assert (found["allowed"] <= allowed).all()
    np.testing.assert_allclose(found["allowed"], allowed, rtol=1e-3)
    same(found["found"], column(app, "targets found"), 2)


def of_decision(app, found):
    [table] = [at for at, each in enumerate(app.dataframe) if "at most: chance afterwards [%]" in each.value]
    row = app.dataframe[table].value.iloc[:, 0].to_numpy() == found["epsilon"]
    for name, value in (
        ("at least: ", found["limit"].low),
        ("at most: ", found["limit"].high),
        ("average of the 1 % most revealing", found["telling"].high),
    ):
        same(100 * value, column(app, name, table=table)[row], 3)
    same(found["error"], column(app, "published: error", table=table)[row], 3)


def of_hiding(app, found):
    if "moves" in found:
        same(found["moves"][0], column(app, "moves prediction 1"))
        same(found["moves"][1], column(app, "moves prediction 2"))
        if asked(app, "step") == "covered":
            assert all(rounds_to(found["noise"][at], metric(app, f"Noise of prediction {at + 1}")) for at in (0, 1))
            assert rounds_to(np.trace(found["M"]), metric(app, "Variance of cloaking noise"))
    elif "weights" in found:
        shown = numbers(traces(app)["number 1"]["y"])
        first = found["weights"][-1][0]  # the page opens with the last stage
        ages = np.argsort(found["data"].X[:, 0], kind="stable")
        np.testing.assert_allclose(np.abs(shown), np.abs(first[ages]), atol=1e-4)
    elif "by_hand" in found:
        for value, label in zip(found["errors"], ("Error, by hand", "Error, best plan"), strict=True):
            assert rounds_to(value, metric(app, label))
        assert rounds_to(found["limit"], metric(app, "Proven limit"))
    else:
        for kind, each in found["errors"].items():
            assert rounds_to(each.error, metric(app, f"Error, {kind}"))


def of_exploration(app, found):
    if "apart" in found:
        return same(found["curve"], column(app, "women and girls less men and boys"), 3)
    same(found.get("with_chosen_model", found["curve"]), column(app, "curve"), 3)
    same(found["low"], column(app, "range from"), 3)
    same(found["high"], column(app, "range to"), 3)
    if "above" in found:
        same(found["above"], column(app, "probability above"), 3)
    if "centiles" in found:
        for centile, values in found["centiles"].items():
            same(values, column(app, f"centile {centile}"), 3)
    return None


SLOW = pytest.mark.full
PUBLIC = {"overlay": "false"}  # without the errors on people left out, which no line computes
STATES = [  # page, what is compared, addresses
    ("kung_curves", of_curve, {"mechanism": "bayes"}, SLOW),
    ("kung_curves", of_curve, {"mechanism": "refined", "epsilon": "3", "draws": "3", **PUBLIC}),
    ("kung_curves", of_curve, {"mechanism": "cloaking", "objective": "logdet", "lengthscale_years": "15", **PUBLIC}),
    ("london_noise_map", of_map, {"mechanism": "cloaking", **PUBLIC}),
    ("london_noise_map", of_map, {"mechanism": "refined", "epsilon": "2", "draw": "4", **PUBLIC}),
    ("london_noise_map", of_map, {"mechanism": "bayes"}, SLOW),
    ("excursion_sets", of_excursion, {}),
    ("excursion_sets", of_excursion, {"paths": "3", "r": "2", "epsilon": "3"}),
    ("excursion_sets", of_excursion, {"excursion": "london", "draw": "2"}, SLOW),
    ("lengthscale_choice", of_choice, {}),
    ("lengthscale_choice", of_choice, {"epsilon": "0.2", "choice_by": "permute_and_flip"}, SLOW),
    ("lengthscale_choice", of_choice, {"selection_epsilon": "5", "kernel": "Matern32"}, SLOW),
    ("compare", of_comparison, {}, SLOW),
    ("compare", of_comparison, {"epsilon": "0.5"}, SLOW),
    ("compare", of_comparison, {"epsilon": "5"}, SLOW),
    ("sparse_dp_gp", of_sparse, {}),
    ("sparse_dp_gp", of_sparse, {"sparse_data": "kung", "epsilon": "2"}, SLOW),
    ("sparse_dp_gp", of_sparse, {"sparse_view": "errors", "epsilon": "2"}, SLOW),
    ("attack", of_attack, {}),
    ("attack", of_attack, {"attack_on": "gp_prior", "epsilon": "5", "shadows": "3000"}),
    ("attack", of_attack, {"attack_on": "paths", "shadows": "1000"}, SLOW),
    ("start", of_decision, {"decide_by": "refined"}),
    ("start", of_decision, {"epsilon": "2", "prior": "25"}, SLOW),
    ("start", of_decision, {"family": "laplace", "epsilon": "0.5"}),
    ("how_cloaking_works", of_hiding, {"step": "covered", "x1": "4", "epsilon": "2"}),
    ("how_cloaking_works", of_hiding, {"step": "measured"}),
    ("how_cloaking_works", of_hiding, {"step": "spend", "measured_at": "10, 30, 60"}),
    ("how_cloaking_works", of_hiding, {"step": "clip", "clip_kept": "30"}),
    ("explore_release", of_exploration, {"explore_shown": "centiles"}),
    ("explore_release", of_exploration, {"explore_shown": "threshold", "explore_level_kung": "130", "epsilon": "2"}),
    ("explore_release", of_exploration, {"explore_model": "one", "explore_share": "3", "epsilon": "3"}),
    (
        "explore_release",
        of_exploration,
        {"explore_example": "kung_sexes", "explore_model": "one", "kernel": "Matern32"},
    ),
    ("explore_release", of_exploration, {"explore_of": "outputs", "explore_level": "80", "explore_points": "100"}),
    ("explore_release", of_exploration, {"explore_example": "kung_sexes", "explore_points": "50", "epsilon": "5"}),
    ("explore_release", of_exploration, {"explore_example": "kung_sexes", "explore_shown": "difference"}, SLOW),
]


@pytest.fixture(autouse=True)
def whole_simulations(monkeypatch):
    for name, entry in WHOLE.items():
        monkeypatch.setitem(CATALOGUE, name, entry)
        if name in contenders.CONTENDERS:
            monkeypatch.setitem(contenders.CONTENDERS, name, entry)


@pytest.mark.usefixtures("computed_here")
@pytest.mark.parametrize(
    ("page", "compare", "address"),
    [pytest.param(*state[:3], marks=state[3:], id=f"{state[0]}-{'-'.join(state[2].values())}") for state in STATES],
)
def test_the_lines_compute_what_is_on_screen(open_page, page, compare, address):
    app = open_page(page, **address)
    script = lines_of(app)
    assert len([line for line in script.splitlines() if line.strip()]) <= MOST_LINES
    compare(app, computed(script))


def test_every_page_is_tested_at_three_settings():
    counted = [state[0] for state in STATES]
    assert {page.file for page in menu.PAGES} == {*counted, "your_data"}
    assert all(counted.count(page) >= 3 for page in counted)


def public(name: str) -> bool:
    return not any(part.startswith("_") for part in name.split("."))


@pytest.mark.parametrize("page", [page.file for page in menu.PAGES])
def test_lines_use_public_names_alone(seen, page):
    tree = ast.parse(lines_of(seen(page)))
    imported = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    modules = {each.module for each in imported if isinstance(each, ast.ImportFrom)}
    modules |= {alias.name for each in imported if isinstance(each, ast.Import) for alias in each.names}
    assert {name.split(".")[0] for name in modules} <= {
        *("dpgp_core", "datasets", "numpy", "scipy", "dataclasses", "functools", "itertools", "pathlib"),
    }
    names = [alias.name for each in imported for alias in each.names]
    names += [each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)]
    assert all(public(name) for name in (*modules, *names))


@pytest.mark.usefixtures("ledgers")
@pytest.mark.parametrize("mechanism", ["refined", "bayes", "bayes_cells"])
def test_scripts_of_own_tables_make_their_release(open_page, tmp_path, mechanism):
    app = declared(open_page, mechanism=CHOICES[mechanism].title)
    script, spec = lines_of(app), spec_of(app)
    (tmp_path / "config.json").write_text(spec_to_json(spec))
    (tmp_path / "table.csv").write_bytes(app.session_state["own_table"].content)
    found = computed(script, tmp_path)
    assert f"{found['plan'].n} rows read" in "\n".join(each.value for each in app.markdown)
    expected = app.session_state["own_ready"][1].plan.half_width
    if expected is None:
        assert found["plan"].half_width is None
    else:
        np.testing.assert_allclose(found["plan"].half_width, expected)
    assert (tmp_path / "release.zip").exists()
