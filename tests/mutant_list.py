"""The edits of ``tests.mutants``: each breaks a promise of privacy, and each once went, or could go, unnoticed."""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """One edit: ``before`` stands once in ``file`` and becomes ``after``; ``tests`` should fail then."""

    file: str
    breaks: str
    before: str
    after: str
    tests: tuple[str, ...]


def _in(folder: str, name: str, *tests: str) -> tuple[str, ...]:
    file = f"tests/core/{folder}/test_{name}.py"
    return tuple(f"{file}::test_{test}" for test in tests) or (file,)


GAUSSIAN = "dpgp_core/accounting/gaussian.py"
LEDGER = "dpgp_core/accounting/ledger.py"
LEDGER_FILE = "dpgp_core/release/ledger_file.py"
INTEGERS = "dpgp_core/measurement/integers.py"
NOISE = "dpgp_core/measurement/noise.py"
DISCRETE = "dpgp_core/measurement/discrete.py"
CELLS = "dpgp_core/measurement/cells.py"
RECORDS = "dpgp_core/measurement/records.py"
EXPONENTIAL = "dpgp_core/selection/exponential.py"
SCORES = "dpgp_core/selection/scores.py"
AUDIT = "dpgp_core/attack/audit.py"
SENSITIVITY = "dpgp_core/accounting/posterior_sensitivity.py"
BEST = "dpgp_core/accounting/best_of_many.py"
LOSSES = "dpgp_core/accounting/losses.py"
COMPOSE = "dpgp_core/accounting/compose.py"
HYPERPARAMETERS = "dpgp_core/selection/hyperparameters.py"
REPEATED = "dpgp_core/selection/repeated.py"
COINPRESS = "dpgp_core/selection/coinpress.py"
MECHANISM = "dpgp_core/mechanisms/gaussian.py"
MEASURING = "dpgp_core/mechanisms/measuring.py"
REFINED = "dpgp_core/mechanisms/refined_cloaking.py"
LAPLACE = "dpgp_core/mechanisms/laplace_binning.py"
SPARSE = "dpgp_core/mechanisms/sparse_variational.py"
SUMS = "dpgp_core/sparse/statistics.py"
PLANNING = "dpgp_core/bayes/planning.py"
CELL_STAGES = "dpgp_core/bayes/cells/stages.py"
CELL_MEASURING = "dpgp_core/bayes/cells/measuring.py"
BAYES_CELLS = "dpgp_core/mechanisms/bayes_cells.py"
SPREAD = "dpgp_core/bayes/spread.py"
GROUP = "dpgp_core/accounting/group.py"
WHOSE = "dpgp_core/release/declared/whose.py"


def _replay(name: str, test: str = "every_number_released_adds_up_to_the_claim") -> tuple[str, ...]:
    return _in("mechanisms", "replay", f"{test}[{name}]")


TWO_DRAWS = "two_draws_give_away_what_they_are_said_to"
CHOICES = _in("selection", "replay")
NUMBERED = ("tests/core/mechanisms/test_contract.py::test_numbered_draws_say_that_they_are_none",)
SEEDED = "__import__('random').Random(0).getrandbits"
FRESH = "tests/core/mechanisms/test_contract.py::test_a_real_release_uses_no_numbered_generator"
ZIPS = ("tests/benchmarks/test_audit_releases.py::test_zips_of_neighbours_with_the_same_noisy_numbers_are_the_same",)

MUTANTS: tuple[Mutant, ...] = (
    # calibration
    Mutant(
        GAUSSIAN,
        "noise for half the shift",
        "half, drift = 0.5 /",
        "half, drift = 0.25 /",
        _in("accounting", "gaussian", "reference_values"),
    ),
    Mutant(
        GAUSSIAN,
        "noise rounded down",
        "_ROUND_UP = 1 + 1e-11",
        "_ROUND_UP = 1 - 1e-11",
        _in("accounting", "gaussian", "analytic_noise_is_just_enough"),
    ),
    Mutant(
        GAUSSIAN,
        "Hall's formula above epsilon 1",
        "if epsilon > 1 and not unproven:",
        "if epsilon > 9 and not unproven:",
        _in("accounting", "gaussian", "hall_is_refused_above_epsilon_one"),
    ),
    Mutant(
        GAUSSIAN,
        "delta doubled",
        "max(log_delta_of(math.exp(log_s), epsilon), -1e9) - math.log(delta)",
        "max(log_delta_of(math.exp(log_s), epsilon), -1e9) - math.log(2 * delta)",
        _in("accounting", "gaussian", "analytic_noise_is_just_enough"),
    ),
    # composition and ledger
    Mutant(
        COMPOSE,
        "only the largest Gaussian loss counts",
        "math.hypot(*gaussian)",
        "max(gaussian)",
        _in("accounting", "compose", "gaussian_losses_compose_exactly"),
    ),
    Mutant(
        COMPOSE,
        "approximate deltas are forgotten",
        "left = delta - sum(loss.times * loss.approximate_delta for loss in approximate)",
        "left = delta",
        _in("accounting", "compose", "approximate_losses_take_their_epsilons_and_deltas_off_the_top"),
    ),
    Mutant(
        LOSSES,
        "repetition is free",
        "GaussianLoss(self.mu * math.sqrt(times))",
        "GaussianLoss(self.mu)",
        _in("accounting", "guarantee", "repeated_release_is_one_release_with_a_longer_shift"),
    ),
    Mutant(
        LEDGER,
        "a ledger tolerates 10 %",
        "self.limit.epsilon * (1 + 1e-9)",
        "self.limit.epsilon * 1.1",
        _in("accounting", "ledger", "no_more_than_the_limit_is_allowed_but_for_the_rounding_of_sums"),
    ),
    Mutant(
        LEDGER,
        "a ledger tolerates a thousandth of a percent",
        "self.limit.epsilon * (1 + 1e-9)",
        "self.limit.epsilon * (1 + 1e-5)",
        _in("accounting", "ledger", "no_more_than_the_limit_is_allowed_but_for_the_rounding_of_sums"),
    ),
    Mutant(
        LEDGER,
        "a ledger forgets earlier entries",
        "entries=[*self.entries, *guarantees]",
        "entries=[*guarantees]",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER,
        "inputs lose their protection unsaid",
        "if len(protected) > 1 and not self.inputs_public:",
        "if len(protected) > 2:",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER,
        "what is left counts nothing spent",
        "compose([*spent, GaussianLoss(math.exp(log_mu))], budget.delta)",
        "compose([GaussianLoss(math.exp(log_mu))], budget.delta)",
        _in("accounting", "ledger"),
    ),
    Mutant(
        LEDGER_FILE,
        "a power cut takes the name of a new ledger",
        "            force_folder(target.parent)\n",
        "",
        _in("release", "ledger_file", "what_was_counted_survives_a_power_cut"),
    ),
    Mutant(
        LEDGER_FILE,
        "a power cut takes the line that counts a release",
        "        os.fsync(descriptor)\n",
        "",
        _in("release", "ledger_file", "what_was_counted_survives_a_power_cut"),
    ),
    Mutant(
        "dpgp_core/release/ledger_json.py",
        "a file may claim less than it spent",
        "_TOLERANCE = 1 + 1e-6",
        "_TOLERANCE = 1.1",
        _in("release", "ledger_json", "a_claim_a_little_below_its_loss_is_refused"),
    ),
    # integers
    Mutant(
        INTEGERS,
        "a person's weights are rounded up",
        "(place < over[index])",
        "(over[index] > 0)",
        _in("measurement", "people", "everybodys_weights_add_up_to_one"),
    ),
    Mutant(
        INTEGERS,
        "weighted places are rounded down, away from zero",
        "products = np.abs(places) * weights >> 20\n    result: IntArray = np.sign(places) * products",
        "products = places * weights >> 20\n    result: IntArray = products",
        _in("measurement", "people", "places_are_shortened_and_never_beyond_one_row"),
    ),
    Mutant(
        INTEGERS,
        "a column longer than 1 is measured",
        "_HAIR = 1 + 1e-6",
        "_HAIR = 1.5",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "lengths are checked with slack",
        "dtype=np.int64) > GRID**2)",
        "dtype=np.int64) > 1.01 * GRID**2)",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "absolute lengths are checked with slack",
        "dtype=np.int64) > GRID)",
        "dtype=np.int64) > 1.01 * GRID)",
        _in("measurement", "integers"),
    ),
    Mutant(
        INTEGERS,
        "outputs are not clipped",
        "share = (np.clip(y, low, high) - low) / (high - low)",
        "share = (y - low) / (high - low)",
        (*_in("measurement", "integers"), *_in("measurement", "measurement")),
    ),
    Mutant(
        INTEGERS,
        "intervals may leave the bounds",
        "inside = (low >= bounds[0]) & (high <= bounds[1])",
        "inside = (low >= bounds[0] - 1) & (high <= bounds[1] + 1)",
        (*_in("measurement", "integers"), *_in("measurement", "measurement")),
    ),
    # noise
    Mutant(
        NOISE,
        "no margin for the root-finder's error",
        "* self.sensitivity * (1 + MARGIN))",
        "* self.sensitivity * (1 - MARGIN))",
        _in("measurement", "noise", "gaussian_variance_is_rounded_up", "the_margin_covers_what_the_lemma_neglects"),
    ),
    Mutant(
        NOISE,
        "no variance for the rounding",
        "return sigma_1**2 + ROUNDING_SD**2",
        "return sigma_1**2",
        _in("measurement", "noise", "gaussian_variance_is_rounded_up"),
    ),
    Mutant(
        NOISE,
        "the variance is the standard deviation",
        "return discrete_gaussian(self.variance, size, bits)",
        "return discrete_gaussian(math.isqrt(self.variance), size, bits)",
        _in("measurement", "noise", "draws_are_those_of_the_samplers"),
    ),
    Mutant(
        NOISE,
        "Laplace scale rounded down",
        "return math.ceil(self.sensitivity / Fraction(self.epsilon))",
        "return math.floor(self.sensitivity / Fraction(self.epsilon) * 0.99)",
        _in("measurement", "noise", "laplace_scale_is_rounded_up"),
    ),
    Mutant(
        DISCRETE,
        "zero twice as likely",
        "        if z:  # zero has one sign only\n            return -z",
        "        return -z",
        _in("measurement", "discrete", "discrete_laplace_has_its_distribution"),
    ),
    Mutant(
        DISCRETE,
        "tails cut off",
        "while _bernoulli_exp_fraction(1, 1, bits):\n            v += 1",
        "while v < 3 and _bernoulli_exp_fraction(1, 1, bits):\n            v += 1",
        _in("measurement", "discrete", "discrete_laplace_has_its_distribution"),
    ),
    Mutant(
        DISCRETE,
        "a Laplace passes for a Gaussian",
        "if _bernoulli_exp((abs(z) * t * b - a) ** 2, 2 * a * b * t * t, bits):",
        "if True:",
        _in("measurement", "discrete", "discrete_gaussian_has_its_distribution"),
    ),
    Mutant(
        DISCRETE,
        "a coin of bias gamma for exp(-gamma)",
        "return k % 2 == 1",
        "return k > 1",
        _in("measurement", "discrete", "bernoulli_exp"),
    ),
    Mutant(
        CELLS,
        "a record that moves is counted once",
        "squares[i : i + _ROWS, None] + squares - 2 *",
        "squares[i : i + _ROWS, None] -",
        _in("measurement", "cells", "a_record_moves_the_counts_by_at_most_the_sensitivity"),
    ),
    Mutant(
        RECORDS,
        "a replaced record moves the sum by one radius",
        "steps = 2 * _FINE",
        "steps = _FINE",
        _in("measurement", "records"),
    ),
    # private choice
    Mutant(
        EXPONENTIAL,
        "half the sensitivity",
        "Fraction(epsilon) / (2 * (_STEPS + _SLACK))",
        "Fraction(epsilon) / (_STEPS + _SLACK)",
        CHOICES,
    ),
    Mutant(
        EXPONENTIAL,
        "rounding left out of the sensitivity",
        "_SLACK = 2",
        "_SLACK = 0",
        _in("selection", "replay", "rounding_of_scores_cannot_push_a_choice_beyond_its_epsilon"),
    ),
    Mutant(
        EXPONENTIAL,
        "probabilities at half the sensitivity",
        "epsilon * (scores - scores.max()) / (2 * sensitivity)",
        "epsilon * (scores - scores.max()) / sensitivity",
        _in("selection", "exponential", "exponential_mechanism"),
    ),
    Mutant(
        SCORES,
        "half the sensitivity of held-out errors",
        "return max(largest / 2, _LEAST * d**2) * _ROUND_UP",
        "return max(largest / 4, _LEAST * d**2) * _ROUND_UP",
        _in("selection", "scores", "exact_sensitivity_covers_every_change_found_and_is_attained"),
    ),
    Mutant(
        SCORES,
        "records are taken to move alone",
        "s = h * (np.abs(H).sum(axis=1) - g)",
        "s = 0 * (np.abs(H).sum(axis=1) - g)",
        _in("selection", "scores", "exact_sensitivity_covers_every_change_found_and_is_attained"),
    ),
    Mutant(
        SCORES,
        "clipped errors are not clipped",
        "return float((np.clip(residuals, -B, B) ** 2).sum())",
        "return float((residuals**2).sum())",
        _in(
            "selection",
            "scores",
            "residual_clip_acts_after_the_prediction_clip",
            "clipped_sensitivity_covers_every_change_found",
        ),
    ),
    Mutant(
        COINPRESS,
        "CoinPress spends rho twice",
        "early = (1 - self.last_share) / (self.steps - 1)",
        "early = 2 * (1 - self.last_share) / (self.steps - 1)",
        _in("selection", "coinpress"),
    ),
    Mutant(
        COINPRESS,
        "CoinPress's noise is that of twice its rho",
        "return 1 / math.sqrt(2 * rho)",
        "return 1 / math.sqrt(4 * rho)",
        (*_in("selection", "coinpress"), *CHOICES),
    ),
    Mutant(
        COINPRESS,
        "CoinPress looks at values beyond its interval",
        "z = total.measure(values) if rng is None",
        "z = total.noiseless(values) if rng is None",
        CHOICES,
    ),
    Mutant(
        BEST,
        "the expected number of runs is forgotten",
        "+ math.log(expected_runs(self.eta, self.gamma)) / (orders - 1)",
        "",
        CHOICES,
    ),
    Mutant(
        BEST,
        "the better part counts, not the worse",
        "return max(loss.epsilon(delta) for loss in self.losses)",
        "return min(loss.epsilon(delta) for loss in self.losses)",
        _in("accounting", "best_of_many", "the_worst_part_counts"),
    ),
    # posterior sampling
    Mutant(
        "dpgp_core/accounting/posterior_curves.py",
        "published constants pass for proven",
        "(signed_covariance if self.signed else published_covariance)",
        "(published_covariance if self.signed else signed_covariance)",
        _in("accounting", "posterior_curves", "golden_epsilon"),
    ),
    Mutant(
        SENSITIVITY,
        "the two records' shifts are taken to be orthogonal",
        "return np.asarray(2 * M * w * (1 + pull",
        "return np.asarray(math.sqrt(2) * M * w * (1 + pull",
        _in("accounting", "posterior_sensitivity", "seven_directions_of_57_records_stay_below_the_centred_bound"),
    ),
    Mutant(
        SENSITIVITY,
        "the supremum is taken at one end of its bracket, without slack",
        "(1 + pull * w * high) * cosine / (w * w + q) * _ROUND_UP",
        "(1 + pull * w * low) * cosine / (w * w + q)",
        _in("accounting", "posterior_sensitivity", "centred_bound_is_never_below_its_supremum_in_fifty_digits"),
    ),
    Mutant(
        SENSITIVITY,
        "the bracket misses the maximum",
        "slope = pull * w - t * (2 * E - 1)",
        "slope = pull * w - t * E",
        _in("accounting", "posterior_sensitivity", "centred_bound_is_the_supremum_of_both_bounds_rounded_up"),
    ),
    # the audit itself
    Mutant(
        AUDIT,
        "the threshold is tested where it was chosen",
        "tested = _bounds(last_in, last_out,",
        "tested = _bounds(first_in, first_out,",
        _in("attack", "audit", "identical_data_sets_are_seldom_told_apart"),
    ),
    Mutant(
        AUDIT,
        "delta is forgotten",
        "_bounds(last_in, last_out, thresholds[[best]], delta, tail)",
        "_bounds(last_in, last_out, thresholds[[best]], 0.0, tail)",
        _in("attack", "audit", "either_direction_counts", "false_alarms_are_as_rare_as_promised"),
    ),
    Mutant(
        AUDIT,
        "the confidence of one side is spent twice",
        "tail = (1 - confidence) / 2",
        "tail = 1 - confidence",
        _in("attack", "audit", "perfect_scores_reach_the_limit_of_the_trials"),
    ),
    # Gaussian mechanisms
    Mutant(
        MEASURING,
        "half the noise in real releases",
        "noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=s)\n        sums",
        "noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=s / 2)\n        sums",
        _replay("cloaking"),
    ),
    Mutant(
        MEASURING,
        "a release without noise",
        "[[(x + e) / STEPS for x, e in zip(*pair, strict=True)]",
        "[[(x + 0 * e) / STEPS for x, e in zip(*pair, strict=True)]",
        _replay("cloaking"),
    ),
    Mutant(
        MEASURING,
        "all draws share their noise",
        "added = (noise.draw(len(sums[0])) for _ in range(draws))",
        "added = [noise.draw(len(sums[0]))] * draws",
        _replay("cloaking", TWO_DRAWS),
    ),
    Mutant(
        MECHANISM,
        "a real release draws numbered noise",
        "measure = exact(dataset, draws) if rng is None else",
        "measure = numbered(dataset.clipped_y[None], np.random.default_rng(0), draws) if rng is None else",
        _replay("cloaking"),
    ),
    Mutant(
        MECHANISM,
        "several draws cost as much as one",
        "promise_for(self.guarantee, self.label, dataset).repeated(draws)",
        "promise_for(self.guarantee, self.label, dataset)",
        _replay("cloaking", TWO_DRAWS),
    ),
    Mutant(
        MECHANISM,
        "the statistics hold the numbers without noise",
        "tuple(stage.z for stage in stages), guarantee)",
        "tuple(noiseless(stage.plan, stage.place, dataset.clipped_y[None]) for stage in stages), guarantee)",
        _replay("cloaking"),
    ),
    Mutant(
        MECHANISM,
        "the statistics hold the outputs",
        "plan=plan, public=dataset.public_part(), z=z, guarantee=guarantee)",
        "plan=plan, public=dataset, z=z, guarantee=guarantee)",
        _replay("cloaking"),
    ),
    Mutant(
        MECHANISM,
        "the interval is simulated from the outputs",
        "plan=plan, public=dataset.public_part(), centre=curve)",
        "plan=plan, public=dataset, centre=curve)",
        _replay("cloaking"),
    ),
    Mutant(
        MECHANISM,
        "the last curve is published without its noise",
        "curve = dataset.midpoint + last.curve(last.z)",
        "curve = dataset.midpoint + last.curve(noiseless(last.plan, last.place, dataset.clipped_y[None]))",
        _replay("cloaking"),
    ),
    Mutant(
        REFINED,
        "the first stage is not counted",
        "total = math.fsum(self.shares)",
        "total = math.fsum(self.shares[1:])",
        _replay("refined"),
    ),
    Mutant(
        REFINED,
        "every stage spends the whole budget",
        "math.sqrt(share / total) / self.noise_multiplier",
        "1 / self.noise_multiplier",
        _replay("refined"),
    ),
    Mutant(
        REFINED,
        "shares may add up to more than 1",
        "or not math.isclose(sum(self.shares), 1):",
        "or not sum(self.shares) >= 1:",
        _in("mechanisms", "refined_cloaking", "bad_parameters_are_refused_at_construction"),
    ),
    Mutant(
        "dpgp_core/measurement/blocks.py",
        "columns of large strategies are not checked",
        "B = strategy_integers(columns_of(strategy, block) * widths[block], norm)",
        "B = np.rint(columns_of(strategy, block) * widths[block] * 2**20).astype(np.int32)",
        _in("measurement", "blocks"),
    ),
    Mutant(
        "dpgp_core/measurement/measurement.py",
        "columns of a measurement are not checked",
        "B = strategy_integers(np.asarray(self.B, dtype=float), self.norm) / GRID",
        "B = np.rint(np.asarray(self.B, dtype=float) * GRID) / GRID",
        _in("measurement", "measurement", "the_strategy_in_use_is_on_the_grid_and_short", "bad_arguments_are_refused"),
    ),
    Mutant(
        "dpgp_core/measurement/measurement.py",
        "Laplace noise for columns of L2 norm 1",
        'norm: ClassVar[Norm] = "L1"',
        'norm: ClassVar[Norm] = "L2"',
        _in("measurement", "measurement", "laplace_noise_needs_columns_of_l1_norm_one"),
    ),
    Mutant(
        DISCRETE,
        "the operating system's randomness is a fixed stream",
        "secrets.token_bytes(8 * _BATCH)",
        "__import__('random').Random(0).randbytes(8 * _BATCH)",
        _in(
            "measurement",
            "discrete",
            "system_bits_are_uniform_fresh_and_of_every_length",
            "defaults_draw_from_the_operating_system",
        ),
    ),
    Mutant(
        "dpgp_core/mechanisms/base.py",
        "a numbered draw passes for a release",
        "not_covered=(TEACHING, *release.guarantee.not_covered)",
        "not_covered=release.guarantee.not_covered",
        NUMBERED,
    ),
    # bins
    Mutant(
        LAPLACE,
        "half the noise in bins",
        "noise = LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)",
        "noise = LaplaceNoise(sensitivity=STEPS // 2, epsilon=self.epsilon)",
        _replay("laplace_bins"),
    ),
    Mutant(
        LAPLACE,
        "bins' statistics hold the outputs",
        "public=dataset.public_part(),\n            epsilon",
        "public=dataset,\n            epsilon",
        _replay("laplace_bins"),
    ),
    Mutant(
        LAPLACE,
        "several draws of bins cost as much as one",
        "promise_for(self.guarantee, self.label, dataset).repeated(draws)",
        "promise_for(self.guarantee, self.label, dataset)",
        _replay("laplace_bins", TWO_DRAWS),
    ),
    # Bayes cloaking
    Mutant(
        PLANNING,
        "shares of the stages add up to two",
        "math.sqrt(sum(parts) / part)",
        "math.sqrt(sum(parts) / part / 2)",
        _replay("bayes"),
    ),
    Mutant(
        PLANNING,
        "one stage is not counted",
        "math.sqrt(sum(parts) / part)",
        "math.sqrt(max(sum(parts[1:]), 1) / part)",
        _in("bayes", "planning", "all_stages_together_spend_exactly_the_budget"),
    ),
    Mutant(
        "dpgp_core/bayes/scatter.py",
        "squares are free",
        "return (s, None) if alone else (s / math.sqrt(1 - SHARE), s / math.sqrt(SHARE))",
        "return (s, None) if alone else (s, s / math.sqrt(SHARE))",
        _in("bayes/cells", "stages", "every_stage_is_measured_once_with_its_own_noise"),
    ),
    Mutant(
        "dpgp_core/bayes/measuring.py",
        "half the noise in every square",
        "bounds=(0.0, limit), noise_multiplier=s)",
        "bounds=(0.0, limit), noise_multiplier=s / 2)",
        _in("bayes", "measuring", "squares_are_measured_with_their_own_noise"),
    ),
    Mutant(
        CELL_STAGES,
        "half the noise in squares of cells",
        "bounds=(0.0, limit), noise_multiplier=s)",
        "bounds=(0.0, limit), noise_multiplier=s / 2)",
        _in("bayes/cells", "stages", "every_stage_is_measured_once_with_its_own_noise"),
    ),
    Mutant(
        "dpgp_core/bayes/measuring.py",
        "half the noise in every stage",
        "bounds=bounds, noise_multiplier=stage.noise_multiplier",
        "bounds=bounds, noise_multiplier=stage.noise_multiplier / 2",
        _replay("bayes"),
    ),
    Mutant(
        "dpgp_core/mechanisms/bayes_cloaking.py",
        "a plan for a larger budget keeps its noise",
        "planned=rescaled(plan.stages, shares.curve)",
        "planned=plan.stages",
        _in("mechanisms", "bayes_cloaking", "a_plan_serves_another_budget"),
    ),
    Mutant(
        "dpgp_core/mechanisms/bayes_cloaking.py",
        "several draws of Bayes cloaking cost as much as one",
        "together = guarantee.repeated(draws)",
        "together = guarantee",
        _replay("bayes", TWO_DRAWS),
    ),
    Mutant(
        BAYES_CELLS,
        "binned stages of twice the budget",
        "plan.counts, stage_multipliers(shares.curve, len",
        "plan.counts, stage_multipliers(shares.curve / 2, len",
        _in("mechanisms", "bayes_binned", "the_card_promises_outputs_and_the_stages_spend_it_exactly"),
    ),
    Mutant(
        CELL_MEASURING,
        "counts of cells have noise that is known",
        "return measurement.measure(self._cells, weights=self._weights)",
        f"return measurement.measure(self._cells, {SEEDED}, self._weights)",
        (f"{FRESH}[bayes_cells]",),
    ),
    Mutant(
        CELL_MEASURING,
        "sums over cells have noise that is known",
        "return measurement.measure(self._cells, values, weights=self._weights)",
        f"return measurement.measure(self._cells, values, {SEEDED}, self._weights)",
        (f"{FRESH}[bayes_cells]",),
    ),
    Mutant(
        "dpgp_core/bayes/measuring.py",
        "the first stage of Bayes cloaking has noise that is known",
        "measurement.measure(self._dataset.y)",
        f"measurement.measure(self._dataset.y, None if self._stages else {SEEDED})",
        (f"{FRESH}[bayes]",),
    ),
    Mutant(
        CELL_STAGES,
        "counts are free",
        "stage_multipliers(noise_multiplier / math.sqrt(1 - COUNTS_SHARE), stages)",
        "stage_multipliers(noise_multiplier, stages)",
        _in("bayes/cells", "stages", "multipliers_spend_the_whole_budget"),
    ),
    Mutant(
        CELLS,
        "rows of people count as rows",
        "places if weights is None else weighted(places, weights)",
        "places",
        _in("measurement", "people", "what_a_person_adds_stays_within_the_noise_of_one_row"),
    ),
    Mutant(
        CELLS,
        "people are counted in units of records",
        "return GRID if self.people else 1",
        "return 1",
        _in("measurement", "people", "counts_of_people_are_in_people_and_their_noise_is_the_same"),
    ),
    Mutant(
        CELLS,
        "people without weights are counted by rows",
        "if (weights is not None) != self.people:",
        "if weights is not None and not self.people:",
        _in("measurement", "people", "weights_are_for_people_and_people_need_them"),
    ),
    Mutant(
        CELLS,
        "the distance of two columns is taken to be sqrt 2",
        "sensitivity = _root_up(largest) or GRID",
        "sensitivity = _root_up(2 * GRID**2)",
        _in("measurement", "cells", "a_record_moves_the_counts_by_at_most_the_sensitivity", "known_sensitivities"),
    ),
    Mutant(
        CELLS,
        "half the noise in sums over cells",
        "GaussianNoise(sensitivity=STEPS, noise",
        "GaussianNoise(sensitivity=STEPS // 2, noise",
        _in("measurement", "cells", "a_record_moves_the_residuals_by_at_most_two_to_the_forty"),
    ),
    Mutant(
        CELLS,
        "columns over cells are not checked",
        "strategy_integers(np.asarray(self.B, dtype=float)) / GRID)\n        check_intervals(",
        "np.rint(np.asarray(self.B, dtype=float) * GRID) / GRID)\n        check_intervals(",
        _in("measurement", "cells"),
    ),
    Mutant(
        RECORDS,
        "rounding of records is left out",
        " + 2 * math.isqrt(k) + 5)",
        ")",
        _in("measurement", "records"),
    ),
    # sparse DP-GP
    Mutant(
        SUMS,
        "the joint norm of both sums is that of the first",
        "return R_y**2 / math.sqrt(2 * c) + math.sqrt(2 * c) * R_phi**2",
        "return 2 * R_y * R_phi",
        _in("sparse", "statistics"),
    ),
    Mutant(
        SUMS,
        "too little noise off the diagonal",
        "drawn(noise.sb / math.sqrt(2), sums.step_b",
        "drawn(noise.sb / 2, sums.step_b",
        _in("sparse", "statistics", "real_noise_has_the_stated_scales"),
    ),
    Mutant(
        SUMS,
        "outputs of a sum are not clipped",
        "whole = np.clip(np.rint(y / R_y * GRID), -GRID, GRID)",
        "whole = np.rint(y / R_y * GRID)",
        _in("sparse", "statistics", "outputs_beyond_the_bound_are_clipped"),
    ),
    Mutant(
        SPARSE,
        "half the range of outputs is forgotten",
        "R_y = dataset.output_range / dataset.y_scale / 2\n        return noise_scales",
        "R_y = dataset.output_range / dataset.y_scale / 4\n        return noise_scales",
        _replay("sparse"),
    ),
    Mutant(
        SPARSE,
        "several sparse draws cost as much as one",
        "promise_for(self.guarantee, self.label, dataset).repeated(draws)",
        "promise_for(self.guarantee, self.label, dataset)",
        _replay("sparse", TWO_DRAWS),
    ),
    Mutant(
        "dpgp_core/mechanisms/hall_posterior.py",
        "the strategy over private inputs is published",
        "return list(z[0])",
        "return [plan.strategy, *z[0]]",
        _in("mechanisms", "replay", "a_record_that_moves_gives_away_no_more"),
    ),
    # private choice, end to end
    Mutant(
        HYPERPARAMETERS,
        "K kernels released with the noise of one",
        "wider = NoiseScales(sa=math.sqrt(len(kernels)) * scales.sa, sb=math.sqrt(len(kernels)) * scales.sb)",
        "wider = NoiseScales(sa=scales.sa, sb=scales.sb)",
        CHOICES,
    ),
    Mutant(
        HYPERPARAMETERS,
        "densities are not clipped",
        "np.clip(log_densities(fit, each, validate), top - log_density_range, top).sum()",
        "log_densities(fit, each, validate).sum()",
        CHOICES,
    ),
    Mutant(
        HYPERPARAMETERS,
        "joint choice with half the sensitivity",
        "choose(scores, log_density_range, mechanism.epsilon",
        "choose(scores, log_density_range / 2, mechanism.epsilon",
        CHOICES,
    ),
    Mutant(
        HYPERPARAMETERS,
        "joint choice with numbered noise",
        "measure(sums, wider) if rng is None else add_noise(*sums.values(), wider, rng)",
        "add_noise(*sums.values(), wider, rng or np.random.default_rng(0))",
        CHOICES,
    ),
    Mutant(
        HYPERPARAMETERS,
        "fitted records are scored too",
        "dataset.subset(rows[1::2])",
        "dataset",
        CHOICES,
    ),
    Mutant(
        HYPERPARAMETERS,
        "the choice counts half its rho",
        "rho=epsilon**2 / 8)))",
        "rho=epsilon**2 / 16)))",
        _in("selection", "hyperparameters", "the_choice_counts_all_its_rho"),
    ),
    Mutant(
        EXPONENTIAL,
        "an exponential mechanism counts half its rho",
        'rho=epsilon**2 / 8 if mechanism == "exponential" else None',
        'rho=epsilon**2 / 16 if mechanism == "exponential" else None',
        _in("selection", "exponential", "guarantee"),
    ),
    Mutant(
        EXPONENTIAL,
        "permute-and-flip claims the rho of another mechanism",
        'rho=epsilon**2 / 8 if mechanism == "exponential" else None',
        "rho=epsilon**2 / 8",
        _in("selection", "exponential", "guarantee"),
    ),
    Mutant(
        "dpgp_core/measurement/choice.py",
        "scores count twice",
        "return [best - int(score) for score in scores]",
        "return [2 * (best - int(score)) for score in scores]",
        _in("measurement", "choice"),
    ),
    Mutant(
        REPEATED,
        "CoinPress has twice the rho of a run",
        "1 / base.mu, base.mu**2 / 2)",
        "1 / base.mu, base.mu**2)",
        CHOICES,
    ),
    Mutant(
        REPEATED,
        "CoinPress has twice the rho of a run of Liu and Talwar",
        "rho = zcdp_of(constants.epsilon, constants.delta)",
        "rho = 2 * zcdp_of(constants.epsilon, constants.delta)",
        CHOICES,
    ),
    Mutant(
        REPEATED,
        "fits of runs get too little noise",
        "noise_scales(multiplier, R_y",
        "noise_scales(0.8 * multiplier, R_y",
        CHOICES,
    ),
    Mutant(
        REPEATED,
        "a run of Liu and Talwar spends the whole budget",
        "multiplier = replace(mechanism, epsilon=constants.epsilon, delta=constants.delta).noise_multiplier",
        "multiplier = mechanism.noise_multiplier",
        CHOICES,
    ),
    Mutant(
        REPEATED,
        "any number of runs",
        "min(int(_public(rng).geometric(gamma)), constants.draws)",
        "int(_public(rng).geometric(gamma))",
        ("tests/core/selection/test_repeated.py::test_at_most_so_many_runs",),
    ),
    Mutant(
        BEST,
        "a run may have half of epsilon",
        "one_epsilon = epsilon / 3 - math.sqrt(2 * one_delta)",
        "one_epsilon = epsilon / 2 - math.sqrt(2 * one_delta)",
        (*_in("accounting", "best_of_many"), *CHOICES),
    ),
    Mutant(
        BEST,
        "the number of runs costs nothing",
        "math.log(self.gamma) / orders).min()",
        "0 * math.log(self.gamma) / orders).min()",
        CHOICES,
    ),
    Mutant(
        BEST,
        "zCDP without its tail",
        "return (math.sqrt(epsilon + log_inverse) - math.sqrt(log_inverse)) ** 2",
        "return epsilon",
        (*CHOICES, *_in("accounting", "best_of_many")),
    ),
    # what is shown, and what leaves the machine
    Mutant(
        "dpgp_core/accounting/renyi.py",
        "the conversion forgets delta",
        "(np.log(delta) + log_order) / x)",
        "(np.log(delta) / 2 + log_order) / x)",
        _in("accounting", "renyi", "conversion_of_a_gaussian_curve_is_above_the_exact_value_and_near_it"),
    ),
    Mutant(
        "dpgp_core/accounting/guarantee.py",
        "the proven epsilon is the one claimed",
        "return self.loss.epsilon(self.budget.delta)",
        "return self.budget.epsilon",
        _in("accounting", "guarantee"),
    ),
    Mutant(
        "dpgp_core/accounting/rounding.py",
        "upper bounds are rounded down",
        "ROUND_CEILING)",
        "ROUND_FLOOR)",
        _in("accounting", "rounding"),
    ),
    Mutant(
        "dpgp_core/estimator/spending.py",
        "a second fit is free",
        "GaussianLoss(math.hypot(first.mu, second.mu))",
        "GaussianLoss(second.mu)",
        _in("estimator", "spending", "two_fits_compose_exactly"),
    ),
    Mutant(
        "dpgp_core/estimator/regressor.py",
        "the estimator measures with a seed unless told otherwise",
        "isinstance(given, np.random.Generator):\n            return given",
        "isinstance(given, np.random.Generator):\n            return given or np.random.default_rng(0)",
        _in("estimator", "regressor", "real_fits_differ_and_numbered_ones_are_marked"),
    ),
    Mutant(
        "dpgp_core/estimator/regressor.py",
        "a fit that was interrupted is forgotten",
        'if hasattr(self, "guarantee_"):',
        "if self.__sklearn_is_fitted__():",
        _in("estimator", "regressor", "a_fit_that_was_interrupted_counts_from_its_first_draw"),
    ),
    Mutant(
        "dpgp_core/estimator/regressor.py",
        "a fit is counted after its draw",
        "        release = mechanism.measure(plan, dataset, grid, rng)\n",
        "        del self.guarantee_\n"
        "        release = mechanism.measure(plan, dataset, grid, rng)\n"
        "        self.guarantee_ = guarantee\n",
        _in("estimator", "regressor", "no_line_at_which_a_fit_is_interrupted_lets_a_draw_go_uncounted"),
    ),
    Mutant(
        "dpgp_core/release/publishing.py",
        "a zip of numbered draws",
        "found = released(spec.built, plan.plan, dataset, plan.X_test)",
        "found = released(spec.built, plan.plan, dataset, plan.X_test, np.random.default_rng(0))",
        ZIPS,
    ),
    Mutant(
        "dpgp_core/release/publishing.py",
        "a zip holds the fit without noise",
        "values=values_in_unit(spec, value, plan.step),",
        "values=rounded(preview(spec, dataset, plan), plan.step),",
        ZIPS,
    ),
    Mutant(
        "dpgp_core/release/declared/output_scale.py",
        "logarithms are centred on the outputs",
        "return np.log(np.clip(y, *self.bounds)) if self.log else y",
        "return np.log(np.clip(y / np.mean(y) * self.bounds[0], *self.bounds)) if self.log else y",
        _in("release/declared", "output_scale", "each_output_is_taken_by_itself"),
    ),
    Mutant(
        "dpgp_core/release/bundle.py",
        "a zip that no ledger counts",
        "if published.guarantee not in [guarantee for _, guarantee in ledger.entries]:",
        "if False:",
        _in("release", "bundle", "a_release_that_the_ledger_does_not_count_is_refused"),
    ),
    Mutant(
        "dpgp_core/release/ledger_json.py",
        "a loss is written as half of what it proves",
        'budget = {"epsilon": guarantee.proven_epsilon,',
        'budget = {"epsilon": guarantee.proven_epsilon / 2,',
        _in("release", "ledger_json", "a_loss_of_another_kind_is_never_written_smaller"),
    ),
    Mutant(
        "dpgp_core/data.py",
        "the public part of a data set holds the outputs",
        'return replace(self, y=np.full(self.n, self.midpoint), labels={}, y_kind="number")',
        "return replace(self, labels={})",
        _replay("cloaking"),
    ),
    Mutant(
        "dpgp_core/mechanisms/recorded.py",
        "an interval leaves out the noise",
        "made.variance + self.public.y_scale**2 * unknown, level)",
        "0 * made.variance + self.public.y_scale**2 * unknown, level)",
        _in("mechanisms", "coverage", "intervals_hold_on_data_from_the_model"),
    ),
    Mutant(
        "dpgp_core/mechanisms/recorded.py",
        "an interval leaves out what clipping does",
        "mixture_half_width(made.bias,",
        "mixture_half_width(0 * made.bias,",
        _in("mechanisms", "coverage", "intervals_know_what_clipping_does"),
    ),
    Mutant(
        "dpgp_core/bayes/intervals.py",
        "an output's interval is that of the curve",
        'if of == "outputs" else 0.0',
        'if of == "nothing" else 0.0',
        _in("bayes", "intervals"),
    ),
    Mutant(
        "pages/_ui/look/spending.py",
        "the session's total at another delta",
        ".epsilon(delta))",
        ".epsilon(0.1))",
        ("tests/pages/test_spending.py::test_what_settings_cost_together_is_at_the_delta_that_is_named",),
    ),
    Mutant(
        "pages/_ui/look/spending.py",
        "totals of a session are of data sets, not of people",
        "releases = seen.get(family(dataset_name), {})",
        "releases = seen.get(dataset_name, {})",
        ("tests/pages/test_spending.py::test_totals_are_of_people_not_of_data_sets",),
    ),
    Mutant(
        "dpgp_core/reading/csv_table.py",
        "a refusal speaks of private inputs",
        "    if private_inputs:",
        "    if False:",
        _in("release", "publishing", "private_inputs_are_never_refused"),
    ),
    Mutant(
        "datasets/london_excursion.py",
        "predictions are listed at the private places",
        "return medians, grid(), truth(medians)",
        "return medians, medians.X, medians.y",
        ("tests/pages/test_excursion_sets.py::test_london_table_and_map_do_not_tell_where_the_records_are",),
    ),
    Mutant(
        "pages/_ui/ledgers/rows.py",
        "the same table begins again without a reason",
        "    if not reason:",
        "    if False:",
        ("tests/ledgers/test_store.py::test_a_table_that_another_ledger_counts_needs_a_reason",),
    ),
    Mutant(
        "pages/_ui/lengthscale/choice.py",
        "choice and release together at another delta",
        ".epsilon(budgets.delta)",
        ".epsilon(0.1)",
        ("tests/pages/test_spending.py::test_choice_and_release_together_are_at_the_delta_of_the_page",),
    ),
    Mutant(
        AUDIT,
        "neighbours may differ in two records",
        "if changed != 1:",
        "if changed not in (1, 2):",
        _in("attack", "audit", "data_sets_must_be_neighbours"),
    ),
    Mutant(
        AUDIT,
        "the rate of false positives is a point estimate",
        "clopper_pearson_high(fewer, k, tail)",
        "(np.maximum(fewer, 1) / k)",
        _in("attack", "audit", "perfect_scores_reach_the_limit_of_the_trials"),
    ),
    Mutant(
        SPREAD,
        "distances cost nothing",
        "s / math.sqrt(1 - SHARE - of_skew)",
        "s / math.sqrt(1 - of_skew)",
        _in("bayes", "spread", "shares_are_of_one_budget"),
    ),
    Mutant(
        "dpgp_core/bayes/measuring.py",
        "half the noise on distances",
        "_from_zero(planned.strategy.B, float(reach[0]), shares.distances)",
        "_from_zero(planned.strategy.B, float(reach[0]), shares.distances / 2)",
        _in("mechanisms", "bayes_cloaking", "all_that_is_measured_spends_what_is_promised"),
    ),
    Mutant(
        "dpgp_core/bayes/measuring.py",
        "distances have noise that is known",
        "z = measurement.measure(np.abs(y - g[0]))",
        f"z = measurement.measure(np.abs(y - g[0]), {SEEDED})",
        (f"{FRESH}[bayes]",),
    ),
    Mutant(
        "dpgp_core/bayes/cells/spread.py",
        "half the noise on distances over cells",
        "bounds=(0.0, float(reach[0])), noise_multiplier=shares.distances",
        "bounds=(0.0, float(reach[0])), noise_multiplier=shares.distances / 2",
        _in("mechanisms", "bayes_cells", "counts_and_stages_spend_what_is_promised"),
    ),
    Mutant(
        "dpgp_core/bayes/people.py",
        "outcomes with a long tail below are taken for such with one above",
        "return 1 - _above(-skew)",
        "return _above(-skew)",
        _in("bayes", "people", "counts_of_many_tell_the_skewness"),
    ),
    Mutant(
        "dpgp_core/bayes/scatter.py",
        "the scatter of yes and no grows with their mean",
        "half_range**2 - square",
        "half_range**2 + square",
        _in("bayes", "scatter", "yes_and_no_scatter_as_their_mean_says"),
    ),
    Mutant(
        "dpgp_core/bayes/settings.py",
        "yes and no are clipped in stages",
        'return 1 if kind == "yes/no" else self.stages',
        "return self.stages",
        _in("release", "publishing", "a_rate_is_published_from_yes_and_no"),
    ),
    Mutant(
        "dpgp_core/data.py",
        "a fraction passes for a count",
        "(y >= 0) & (y == np.rint(y))",
        "(y >= 0)",
        _in("release", "publishing", "an_outcome_outside_its_kind_is_refused_before_anything_is_spent_and_not_named"),
    ),
    Mutant(
        "dpgp_core/measurement/plausible.py",
        "a file may hold any distances",
        "    _check_distances(found)\n    _check_measured(found)",
        "    _check_measured(found)",
        _in("measurement", "distances_file", "a_file_that_was_sealed_anew_with_what_no_release_has_is_refused"),
    ),
    Mutant(
        SPREAD,
        "people scatter by twice what distances say",
        "return Spread(usual + found.mean / 2",
        "return Spread(usual + found.mean",
        _in("bayes", "spread", "scatter_is_found_at_each_place_and_better_by_many"),
    ),
    Mutant(
        "dpgp_core/evaluation/peers.py",
        "who changes bins is counted too loudly",
        "np.bincount(where, minlength=bins) / 2]",
        "np.bincount(where, minlength=bins)]",
        _in("evaluation", "peers", "a_replaced_record_moves_all_sums_by_at_most_one"),
    ),
    Mutant(
        "dpgp_core/evaluation/peers.py",
        "polynomials get noise for an output that only appears",
        "third / (2 * math.sqrt(d) * half)",
        "third / (math.sqrt(d) * half)",
        _in("evaluation", "peers", "each_part_of_a_polynomials_sums_moves_by_at_most_its_third"),
    ),
    Mutant(
        "dpgp_core/evaluation/peers.py",
        "entries off the diagonal are measured too loudly",
        "np.where(upper[0] == upper[1], 1.0, math.sqrt(2))  #",
        "np.where(upper[0] == upper[1], 1.0, 2.0)  #",
        _in("evaluation", "peers", "each_part_of_a_polynomials_sums_moves_by_at_most_its_third"),
    ),
    Mutant(
        "dpgp_core/levels.py",
        "a column of levels may hold any number",
        "(column >= 0) & (column < count) & (column == np.rint(column))",
        "(column >= 0) & (column < count)",
        ("tests/core/test_levels.py::test_what_is_no_category_is_refused",),
    ),
    Mutant(
        "dpgp_core/bayes/cells/grid.py",
        "groups have their cells together",
        "cells: Cells = np.ravel_multi_index(tuple(along), self.shape)",
        "cells: Cells = np.ravel_multi_index(tuple(np.minimum(a, 1) for a in along), self.shape)",
        ("tests/core/bayes/cells/test_grid.py::test_cells_are_places_times_levels",),
    ),
    Mutant(
        "dpgp_core/kernels.py",
        "groups share what they have not",
        "np.where(X[:, d : d + 1] == Z[:, d], 1.0, self.shared)",
        "np.where(X[:, d : d + 1] == Z[:, d], 1.0, 1.0)",
        ("tests/core/test_kernels.py::test_groups_share_what_is_declared",),
    ),
    Mutant(
        "dpgp_core/reading/csv_rows.py",
        "a cell that is no level is shown",
        'f"column {column!r} has none of its levels in line {line} of the file; correct that row',
        'f"column {column!r} has {cell!r} in line {line} of the file; correct that row',
        _in("reading", "csv_table", "what_is_no_level_is_other_or_refused_and_never_shown"),
    ),
    Mutant(
        "dpgp_core/mechanisms/base.py",
        "mechanisms of numbers take the number of a level for one",
        "if dataset.x_levels is not None:",
        "if False:",
        _in("mechanisms", "groups", "every_other_mechanism_says_that_it_takes_numbers"),
    ),
    Mutant(
        "dpgp_core/bayes/difference.py",
        "what both groups have in common is not taken off the variance of their difference",
        "left = prior - 2 * np.array(between) -",
        "left = prior - 0 * np.array(between) -",
        _in("bayes", "difference", "its_variance_is_that_of_the_joint_posterior"),
    ),
    Mutant(
        "dpgp_core/measurement/statistics_file.py",
        "a file may have any levels",
        "checked_levels(str(name), each)",
        "tuple(each)",
        _in("measurement", "cell_statistics_file", "levels_that_no_release_can_have_are_refused"),
    ),
    Mutant(
        GROUP,
        "noise for k rows is that for the root of k",
        "multiplier = rows * noise_multiplier(epsilon, delta)",
        "multiplier = math.sqrt(rows) * noise_multiplier(epsilon, delta)",
        _in("accounting", "group", "noise_for_k_rows_is_k_times_that_for_one"),
    ),
    Mutant(
        GROUP,
        "the loss of k rows is that of one",
        "return GaussianLoss(rows * loss.mu)",
        "return GaussianLoss(loss.mu)",
        _in("accounting", "group", "the_card_says_how_many_rows_and_that_more_are_hidden_less"),
    ),
    Mutant(
        GROUP,
        "rho-zCDP grows with k, not with its square",
        "rows**2 * loss.rho",
        "rows * loss.rho",
        _in("accounting", "group", "a_pure_promise_is_shared_out_evenly"),
    ),
    Mutant(
        WHOSE,
        "mechanisms that hide one row take tables of people",
        "    if not choice.people:",
        "    if False:",
        _in("release/declared", "whose", "others_hide_one_row_and_say_what_to_do"),
    ),
    Mutant(
        LEDGER,
        "releases of rows and of people are added up",
        "if len(hidden) > 1:",
        "if len(hidden) > 4:",
        _in("release/declared", "whose", "a_ledger_of_people_and_one_of_rows_are_never_one"),
    ),
    Mutant(
        "dpgp_core/release/specification.py",
        "k rows are declared, and noise is made for one",
        "budget_of_one_row(self.epsilon, self.delta, self.rows_per_person)",
        "budget_of_one_row(self.epsilon, self.delta, 1)",
        _in("release/declared", "whose", "noise_for_k_rows"),
    ),
    Mutant(
        "dpgp_core/release/publishing.py",
        "the number of rows of people is published",
        "n=dataset.people,",
        "n=dataset.n,",
        _in("release/declared", "whose", "people_are_released_and_the_column_that_says_who_is_not"),
    ),
    Mutant(
        "dpgp_core/release/plan.py",
        "a plan for people is made for their rows",
        "plan = mechanism.plan_for(without_outputs(spec, X, person), X_test)",
        "plan = mechanism.plan_for(without_outputs(spec, X), X_test)",
        _in("release/declared", "whose", "where_inputs_are_private_a_plan_knows_how_many_people_there_are_and_no_more"),
    ),
    Mutant(
        "dpgp_core/release/ledger_json.py",
        "an old file is read as a promise to people",
        'rows = keys.get("rows", 1)',
        'rows = keys.get("rows")',
        _in("release", "ledger_json", "which_rows_are_hidden_together_is_kept"),
    ),
    Mutant(
        "pages/_ui/own/form.py",
        "a release leaves open whose rows they are",
        'not values["whose"],',
        "False,",
        ("tests/pages/test_whose_rows.py::test_no_release_without_an_answer",),
    ),
)
