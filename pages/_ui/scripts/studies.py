"""Lines of Python for the pages that compare, choose, attack and explain."""

from __future__ import annotations

from datasets import STUDIES, exhibit
from datasets.plumes_2d import SHOWN_SIDE
from dpgp_core.accounting.gaussian import noise_multiplier, rounded_up
from dpgp_core.accounting.tradeoff import (
    budget_tradeoff,
    chance_beyond,
    gaussian_tradeoff,
    laplace_tradeoff,
    mean_beliefs,
    pure_beliefs,
)
from dpgp_core.attack.linear import draw_releases, linear_attack, output_neighbours
from dpgp_core.attack.lira import Shadows, attack_posterior_sampling
from dpgp_core.attack.roc import Roc
from dpgp_core.evaluation.by_hand import clip_error, local_sums
from dpgp_core.evaluation.comparison import error_without_privacy, left_out, sweep
from dpgp_core.evaluation.cross_validation import k_folds, plan_folds
from dpgp_core.evaluation.errors import held_out_rmse
from dpgp_core.evaluation.limits import limits, risk_model
from dpgp_core.excursion.sets import iou, smoothed
from dpgp_core.gp.regression import cloaking_matrix, posterior_of_sums
from dpgp_core.kernels import EQ
from dpgp_core.linalg import dense_of
from dpgp_core.mechanisms import PosteriorSampling
from dpgp_core.selection.exponential import selection_table
from dpgp_core.selection.scores import grid_scores
from dpgp_core.sparse.statistics import add_noise
from dpgp_core.strategies.bayes import optimal_strategy
from dpgp_core.strategies.noise_design import design_noise
from pages._ui import attack
from pages._ui.attack import AttackSettings, PathAttack
from pages._ui.compare.contenders import CONTENDERS, contender
from pages._ui.compare.view import FIRST, CompareSettings
from pages._ui.excursion import bayes
from pages._ui.excursion import compute as excursion
from pages._ui.excursion.view import ExcursionSettings
from pages._ui.hiding import clipping, measured, spend, two
from pages._ui.hiding.steps import SURE, HidingSettings
from pages._ui.left_out import FOLDS, SEED
from pages._ui.lengthscale.view import ChoiceSettings
from pages._ui.look import settings
from pages._ui.look.in_python import Script
from pages._ui.model import Budget, Design, mechanism_of
from pages._ui.scripts.releases import along_first, as_declared, begun
from pages._ui.sparse import compute as sparse
from pages._ui.sparse.view import SparseSettings
from pages._ui.start.decision import TELLING, Decision
from pages._ui.work import cached

_NUMPY = "import numpy as np"


def _folds(script: Script) -> None:
    """Add the five public folds of the people, each of which is left out once."""
    script.add(f"folds = {script.name(k_folds)}(data.n, {FOLDS}, np.random.default_rng(0))  # public parts")


def decision(chosen: Decision) -> Script:
    """Return the lines for what somebody may believe, and for the error."""
    script, draw, (tradeoff, argument) = Script(), chosen.draw, _tradeoff(chosen)
    if chosen.overlay:
        script = begun(chosen.dataset)
    budget = f"epsilon, delta, prior = {draw.epsilon!r}, {draw.delta!r}, {chosen.prior!r}"
    script.add(budget, f"limit = {script.name(pure_beliefs)}(prior, epsilon)  # whatever else is known")
    if chosen.family == "gaussian":
        script.add(f"mu = 1 / {script.name(noise_multiplier)}(epsilon, delta)")
        script.add(f"beyond = {script.name(chance_beyond)}(epsilon, mu)  # how often that limit is passed")
    script.module("from functools import partial")
    script.add(f"attack = partial({script.name(tradeoff)}, {argument})")
    script.add(f"telling = {script.name(mean_beliefs)}(prior, {TELLING}, attack)")
    script.add("print(limit, telling)")
    if chosen.overlay:
        mechanism = contender(chosen.contest, chosen.mechanism, float(draw.epsilon))
        script.add("# The error on people left out. It is computed from true data, so it is not private.")
        script.add(f"mechanism = {script.of(mechanism)}")
        _folds(script)
        draws = CONTENDERS[chosen.mechanism].simulated
        script.add(f"tried = {script.name(sweep)}(mechanism, data, folds, [epsilon], draws={draws}, seed={SEED})")
        script.add("error = tried.errors.mean()")
    return script


def _tradeoff(chosen: Decision) -> tuple[object, str]:
    """Return the function of the trade-off curve, and its arguments as code."""
    return {
        "gaussian": (gaussian_tradeoff, "mu=mu"),
        "laplace": (laplace_tradeoff, "epsilon=epsilon"),
        "any": (budget_tradeoff, "epsilon=epsilon, delta=delta"),
    }[chosen.family]


def comparison(chosen: CompareSettings) -> Script:
    """Return the lines for the errors of the methods drawn at first, at the epsilon of the page."""
    contest, epsilon = chosen.contest, float(chosen.draw.epsilon)
    script = begun(contest.model.dataset)
    _folds(script)
    script.add("mechanisms = {  # by title, with the number of simulated releases")
    for name in FIRST:
        entry = CONTENDERS[name]
        mechanism = as_declared(contender(contest, name, epsilon))
        script.add(f"    {script.of(entry.title)}: ({script.of(mechanism)}, {entry.simulated}),")
    script.add(
        "}",
        "# Errors on people left out. They are computed from true data, so they are not private.",
        "errors = {",
        f"    title: {script.name(sweep)}(mechanism, data, folds, [{epsilon!r}], draws, seed={SEED}).errors.mean()",
        "    for title, (mechanism, draws) in mechanisms.items()",
        "}",
        "print(errors)",
    )
    return script


def choice(chosen: ChoiceSettings) -> Script:
    """Return the lines for the probabilities of the lengthscales, and the error after the choice."""
    grid, budgets = chosen.grid, chosen.budgets
    script, ratios = begun(grid.model.dataset), exhibit(grid.model.dataset).ratios
    kernel = script.name(type(grid.model.build()))
    each = "length" if len(ratios) == 1 else f"[length * ratio for ratio in {script.of(ratios)}]"
    script.add(f"lengthscales = {script.of(grid.lengthscales)}  # {exhibit(grid.model.dataset).unit}")
    _folds(script)
    script.add(
        "plans = [",
        f"    {script.name(plan_folds)}({kernel}(lengthscale={each}), data.X, folds, {grid.model.noise!r}, "
        f"{script.of(grid.objective)})",
        "    for length in lengthscales",
        "]",
        f"scores = {script.name(grid_scores)}(plans, data)  # computed from true data: not private",
        f"table = {script.name(selection_table)}(scores, {budgets.selection!r}, ({budgets.regression!r},), "
        f"{budgets.delta!r}, {script.of(budgets.calibration)}, unproven=True, "
        f"mechanism={script.of(budgets.mechanism)})",
        "probabilities = dict(zip(lengthscales, table.probabilities[:, 0]))",
        f"errors = dict(zip(lengthscales, table.private_rmse[:, 0]))  # in {cached.dataset(grid.model.dataset).y_unit}",
        "after_choice = table.selected_rmse[0]",
        "print(probabilities, errors, after_choice)",
    )
    return script


def attacked(chosen: AttackSettings) -> Script:
    """Return the lines for the share of targets that an attack finds."""
    of, script = chosen.attack, Script()
    if isinstance(of, PathAttack):
        script.module(_NUMPY)
        shadows = Shadows(
            r=of.r, sigma=of.sigma, L=of.L, n=attack.PEOPLE, lengthscale=attack.LENGTHSCALE, inputs=of.inputs
        )
        script.add(
            "# Posterior paths about ten people are attacked with simulated data like theirs.",
            f"shadows = {script.of(shadows)}",
            f"rng = np.random.default_rng({attack.SEED})",
            f"roc = {script.name(attack_posterior_sampling)}(shadows, rng, {of.shadows})",
        )
        epsilon, delta = of.guarantee.budget.epsilon, of.delta
    else:
        script = begun(of.model.dataset)
        mechanism = as_declared(mechanism_of(of.model, Design(of.mechanism), of.draw))
        epsilon, delta = of.draw.epsilon, of.draw.delta
        script.add(
            f"mechanism = {script.of(mechanism)}",
            "plan = mechanism.plan(data.X, data.X)",
            f"moves = np.linalg.lstsq(plan.factor, {script.name(dense_of)}(plan.weights), rcond=1e-13)[0]",
            "record = int((moves**2).sum(axis=0).argmax())  # whom the noise hides least",
            f"pair = {script.name(output_neighbours)}(data, record)  # two tables that differ in this record",
            f"rng = np.random.default_rng({of.draw.seed})",
            f"attack = {script.name(linear_attack)}(*(mechanism.measure(plan, each, data.X, rng) for each in pair))",
            "scores = []",
            "for each in pair:",
            f"    releases = {script.name(draw_releases)}(mechanism, each, data.X, rng, {of.trials})",
            "    scores.append(np.concatenate([attack.score(release) for release in releases]))",
            f"roc = {script.name(Roc)}.of(*scores)",
        )
    rates = ", ".join(map(repr, attack.RATES))
    script.add(
        f"rates = np.array([{rates}])  # shares of the innocent who are accused",
        f"found = [100 * roc.power_at(rate, {attack.CONFIDENCE})[0] for rate in rates]",
        f"allowed = 100 * (1 - {script.name(budget_tradeoff)}(rates, {epsilon!r}, {delta!r}))",
        "print(found, allowed)",
    )
    return script


def sparse_release(chosen: SparseSettings) -> Script:
    """Return the lines for the release of the sparse DP-GP, and its error."""
    of, name = chosen.release, chosen.dataset
    script = Script()
    script.module(_NUMPY)
    load = "sparse.load" if sparse.defaults(name).load is not None else "load"
    script.add(f"data = {script.name(exhibit)}({script.of(name)}).{load}()")
    view = chosen.view if chosen.overlay else "fits"  # errors compare with true data
    script.add(f"mechanism = {script.of(of.mechanism())}")
    if view == "fits":
        data = sparse.load(name)
        low, high = (script.of(end) for end in data.x_box[0])
        along_first(script, data, f"np.linspace({low}, {high}, {sparse.GRID_POINTS})")
        script.add(
            f"release = mechanism.release(data, X, np.random.default_rng({of.seed}))  # simulated",
            "curve = release.samples[0]",
            f'low, high = (end[0] for end in release.interval({sparse.LEVEL}, "function"))',
            "# Bayes cloaking, which protects the same.",
            f"other = {script.of(of.budget.mechanism)}.release(data, X, np.random.default_rng([{of.seed}, 3]))",
            "bayes_curve = other.samples[0]",
            "print(release.guarantee.budget, other.guarantee.budget)",
        )
        return script
    _folds(script)
    script.add(
        "residuals = []  # on people left out; not private",
        f"for index, fold in enumerate({script.name(left_out)}(data, folds)):",
        "    sums, part = mechanism.exact_statistics(fold.train), []",
        f"    for repeat in range({sparse.REPEATS}):",
        f"        rng = np.random.default_rng([{of.seed}, repeat, index, 7])",
        f"        noisy = {script.name(add_noise)}(*sums, mechanism.noise(fold.train), rng)",
        "        mean, variance = mechanism.fit_statistics(noisy, fold.train).predict(fold.X_test)",
        "        part.append(mean - fold.truth)",
        "    residuals.append(np.array(part))",
        f"error = {script.name(held_out_rmse)}(residuals).mean()",
        f"without = {script.name(error_without_privacy)}(data, folds)",
        "print(error, without)",
    )
    return script


def excursions(chosen: ExcursionSettings) -> Script:
    """Return the lines for the overlap with the true area, of released paths and of Bayes cloaking at the epsilon of
    one path.
    """
    view = chosen.release
    script, study = Script(), STUDIES[view.name]
    script.module(_NUMPY)
    script.add(
        f'study = {script.constant("STUDIES", "datasets")}["{view.name}"]',
        f"data, X, truth = study.shown(noise={view.noise!r}, threshold={view.threshold!r})",
        f"sampling = {script.name(PosteriorSampling)}.for_dataset(data, kernel={script.of(view.kernel)}, "
        f"r={script.of(view.r)}, sigma={view.sigma!r}, eta={script.of(view.eta)}, delta={view.delta!r})",
        f"rng, count = np.random.default_rng({view.seed}), {view.L + excursion.SIMULATED}",
        "paths = sampling.release(data, X, rng, draws=count).samples  # simulated",
    )
    if study.scene == "field":
        script.add(f"paths = {script.name(smoothed)}(paths, {SHOWN_SIDE})")
    repeated = f"({view.seed}, *range(1, {bayes.REPEATED + 1}))"  # the release on screen comes first
    seeds = repeated if chosen.overlay else f"({view.seed},)"
    written = script.of(bayes.mechanism(view.lengthscale, 1.0, view.delta))
    script.add(
        f"epsilon = float({script.name(rounded_up)}(sampling.guarantee.budget.epsilon))",
        f"bayes = {written.replace('epsilon=1', 'epsilon=epsilon')}",
        f"draws = [np.random.default_rng([seed, 4]) for seed in {seeds}]",
        "releases = [bayes.release(data, X, rng).uncertainty for rng in draws]",
        f"level = data.midpoint + data.y_scale * {view.level!r}",
        f'above, *others = [each.probability_above(level, "{study.truth_of}")[0] for each in releases]',
    )
    shown = f"paths[:{view.L}], above, sampling.guarantee.repeated({view.L}).budget"
    if chosen.overlay:
        overlap = script.name(iou)
        script.add(
            "known = np.isfinite(truth)  # the true area is not private",
            f"inside = truth[known] >= {view.level!r}",
            f"overlap = {overlap}(paths[:, known] >= {view.level!r}, inside)  # IoU of each path",
            f"bayes_overlap = np.median([{overlap}(each[known] >= 0.5, inside) for each in others])",
        )
        shown += ", overlap, bayes_overlap"
    script.add(f"print({shown})")
    return script


def hiding(chosen: HidingSettings) -> Script:
    """Return the lines for the numbers of one step of the page that explains cloaking."""
    return {"measured": _sums, "spend": _by_hand, "clip": _clipped}.get(chosen.step, _two_people)(chosen)


def _two_people(chosen: HidingSettings) -> Script:
    points = two.TwoPointSettings(**{name: settings.current(slider) for name, slider in two.SLIDERS})
    script, draw = Script(), chosen.draw
    script.module(_NUMPY)
    script.add(
        f"kernel, d = {script.of(EQ(lengthscale=points.lengthscale))}, {points.d!r}  # d: largest change of one person",
        f"groups, size = np.array([[{points.x1!r}], [{points.x2!r}]]), {points.people}  # where, and how many people",
        "people = np.repeat(groups, size, axis=0)",
        f"places = np.array({two.TEST_POINTS.tolist()!r})  # of both predictions",
        f"C = {script.name(cloaking_matrix)}(kernel, people, places, {points.noise!r})",
        "moves = d * C[:, ::size]  # column j: how far one person of group j moves both predictions",
        f'design = {script.name(design_noise)}(C, "trace", gap=1e-8, rank_tolerance=1e-9)',
        "M = d**2 * design.covariance()  # of the noise that just covers both moves",
        f"s = {script.name(noise_multiplier)}({draw.epsilon!r}, {draw.delta!r})",
        f"noise = {SURE} * s * np.sqrt(np.diag(M))  # half of the range in 95 of 100 releases",
        "print(moves, noise, np.trace(M))",
    )
    return script


def _sums(chosen: HidingSettings) -> Script:
    draw, script = chosen.draw, begun(chosen.dataset)
    budget = Budget(chosen.dataset, draw.epsilon, draw.delta)
    script.add(
        f"mechanism = {script.of(budget.mechanism)}",
        "plan = mechanism.plan_for(data, data.X)",
        f"release = mechanism.measure(plan, data, data.X, np.random.default_rng({measured.NUMBER}))  # simulated",
        "bins = plan.filtered.bins.index(data.X)  # the bin of each person; neighbours share one",
        "stages = release.statistics[0].stages",
        "weights = [stage.measurement.B[:, bins] for stage in stages]  # of each person in each sum",
        "sums = [len(each) for each in weights]",
        "print(sum(sums), 'noisy sums in', len(sums), 'stages:', sums)",
        "for number, stage in enumerate(stages, start=1):",
        "    print(number, stage.z)  # the sums with their noise",
    )
    return script


def _by_hand(chosen: HidingSettings) -> Script:
    data, draw, script = cached.dataset(spend.DATASET), chosen.draw, begun(spend.DATASET)
    at, wide = spend.controls(data)
    places, width = settings.current(at), settings.current(wide)
    positions, _ = spend.read_positions(places, *data.x_box[0])
    script.add(
        f"kernel, noise = {script.of(EQ(lengthscale=spend.LENGTHSCALE))}, {spend.NOISE}",
        "span = data.output_range / data.y_scale",
        f"mu = 1 / {script.name(noise_multiplier)}({draw.epsilon!r}, {draw.delta!r})",
        "t = (span / mu) ** 2  # variance of the noise of each sum",
        f"places = np.array({script.of(list(positions))}).reshape(-1, 1)  # {data.x_units[0]}",
        f"by_hand = {script.name(local_sums)}(data.X, places, {float(width)!r})",
        f"risk = {script.name(risk_model)}(kernel, noise, data.X, data.X)",
        f"best = {script.name(optimal_strategy)}([risk], t, gap={spend.GAP}).B",
        "errors = [",
        f"    data.y_scale * {script.name(posterior_of_sums)}(kernel, data.X, data.X, noise, B, t).error",
        "    for B in (by_hand, best)",
        "]",
        f"bound = {script.name(limits)}(kernel, noise, data.X, data.X, mu=mu, output_range=span, gap={spend.GAP})",
        "limit, without = data.y_scale * bound.any, data.y_scale * bound.without_privacy",
        "print(errors, limit, without)",
    )
    return script


def _clipped(chosen: HidingSettings) -> Script:
    draw, script = chosen.draw, Script()
    low, high = clipping.Clip(*(float(settings.current(each)) for each in clipping.SLIDERS)).ends
    script.module("from scipy.stats import lognorm, norm")
    script.add(
        f"s = {script.name(noise_multiplier)}({draw.epsilon!r}, {draw.delta!r})",
        "wages = lognorm(0.6, scale=30.0)",
        "kinds = {  # how likely an outcome is above x, and the mean",
        '    "symmetric": (norm(50, 12).sf, 50.0),',
        '    "skewed": (wages.sf, float(wages.mean())),',
        "}",
        "errors = {",
        f"    kind: {script.name(clip_error)}(above, mean, {low!r}, {high!r}, n={clipping.PEOPLE}, noise_multiplier=s)",
        "    for kind, (above, mean) in kinds.items()",
        "}",
        "for kind, each in errors.items():",
        "    print(kind, each.bias, each.noise, each.error)",
    )
    return script
