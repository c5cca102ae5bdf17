"""How far two neighbours are apart by the integers that are measured, in the metric of the noise."""

import numpy as np

from dpgp_core.accounting.losses import GaussianLoss
from dpgp_core.bayes.cells import Counts
from dpgp_core.measurement.integers import GRID, exact_sums
from dpgp_core.measurement.measurement import STEPS, Measurement
from dpgp_core.measurement.noise import GaussianNoise, LaplaceNoise
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bins import BinMeans
from dpgp_core.mechanisms.gaussian import GaussianMechanism

PLANS = {}  # public, made once; each keeps its mechanism, and so the id


def allowed(mechanism):
    """What they may be apart by the promise."""
    loss = mechanism.guarantee.loss
    return loss.mu if isinstance(loss, GaussianLoss) else loss.pure_epsilon


def shift(mechanism, one, other, X_test):
    """What telling two neighbours apart costs by the integers that are measured: mu, or pure epsilon."""
    if isinstance(mechanism, GaussianMechanism):
        return gaussian_shift(mechanism, one, other, X_test)
    if isinstance(mechanism, BayesCloaking):
        by_records = mechanism.protects == "outputs" and not mechanism.shares_columns(*one.X.shape)
        far = bayes_shift if by_records else cells_shift
        return far(mechanism, one, other, X_test)
    if isinstance(mechanism, BinMeans):
        plan = mechanism.plan(one.X, one.x_box)
        sums = [mechanism._sums(plan, data) for data in (one, other)]
        assert all(np.array_equal(each, np.rint(each)) for each in sums)
        moved = int(np.abs(sums[0] - sums[1]).sum()) * GRID
        assert moved <= STEPS
        return moved / LaplaceNoise(sensitivity=STEPS, epsilon=mechanism.epsilon).scale
    sums, noise = [mechanism.integer_sums(data) for data in (one, other)], mechanism.noise(one)
    a = (sums[0].A - sums[1].A) * sums[0].step_a / noise.sa
    b = (sums[0].B - sums[1].B) * sums[0].step_b / noise.sb  # off the diagonal sb / sqrt(2), and each entry twice
    return np.sqrt((a**2).sum() + (b**2).sum())


def gaussian_shift(mechanism, one, other, X_test):
    first = planned(mechanism, one, X_test)
    plans = [first, first if np.array_equal(one.X, other.X) else planned(mechanism, other, X_test)]
    squares, rng = [], np.random.default_rng(1)

    def measure(stage):
        """Every stage with both values, where the same earlier numbers put it."""
        number = [id(each) for each in plans[0].stages].index(id(stage.plan))
        low, high, s = stage.low[0], stage.high[0], stage.noise_multiplier
        both = [
            exact_sums(plan.stages[number].strategy, (high - low) / stage.widest[0], data.clipped_y, low, high)
            for plan, data in zip(plans, (one, other), strict=True)
        ]
        moved = sum((a - b) ** 2 for a, b in zip(*both, strict=True))
        assert moved <= STEPS**2  # integers: nothing is rounded
        squares.append(moved / GaussianNoise(sensitivity=STEPS, noise_multiplier=s).variance)
        noisy = np.array(both[0]) / STEPS + s * rng.standard_normal(len(both[0]))
        return noisy.astype(float)[None]

    list(mechanism.measured(plans[0], one, measure))
    return np.sqrt(float(sum(squares)))


def bayes_shift(mechanism, one, other, X_test):
    """Every stage with both values, where the same earlier numbers put its intervals."""
    key = (id(mechanism), one.X.tobytes(), one.output_range, one.y_scale, X_test.tobytes())
    if key not in PLANS:
        PLANS[key] = (mechanism, mechanism.plan_for(one, X_test))
    plan, squares, rng = PLANS[key][1], [], np.random.default_rng(1)

    def measured(B, s, values, ends):
        both = [exact_sums(B, np.ones(one.n), each, *ends) for each in values]
        moved = sum((a - b) ** 2 for a, b in zip(*both, strict=True))
        assert moved <= STEPS**2
        squares.append(moved / GaussianNoise(sensitivity=STEPS, noise_multiplier=s).variance)
        return (np.array(both[0]) / STEPS + s * rng.standard_normal(len(both[0]))).astype(float)

    class Reader:
        def sums(self, asked):
            ends = [np.clip(one.in_data_units(end[0]), *one.y_bounds) for end in (asked.low, asked.high)]
            z = measured(asked.B, asked.noise_multiplier, [d.clipped_y for d in (one, other)], ends)
            return asked._replace(z=z[None])

        def squares(self, asked):
            values = [(data.standardised() - asked.g[0]) ** 2 for data in (one, other)]
            return asked._replace(z=measured(np.ones((1, one.n)), asked.s, values, [0 * asked.high[0], asked.high[0]]))

        def distances(self, asked, g):
            values, above, zero = [np.abs(data.standardised() - g[0]) for data in (one, other)], None, np.zeros(one.n)
            z = measured(asked.B, asked.s, values, [zero, zero + asked.reach[0]])
            if asked.above is not None:
                higher = [(data.standardised() > g[0]).astype(float) for data in (one, other)]
                above = asked.above[0], measured(np.ones((1, one.n)), asked.above[0], higher, [zero, zero + 1])
            return asked._replace(z=z[None], above=above)

    mechanism.run(plan, mechanism._filtered(plan, one, X_test), Reader(), 1)
    assert len(squares) == numbers(mechanism, one.y_kind, one.people)
    return np.sqrt(float(sum(squares)))


def numbers(mechanism, kind, people):
    """How many measurements of outputs there are: stages, squares of all but the first, and what is about the curve."""
    stages = mechanism.stages_of(kind, people)
    return 2 * stages - 1 + {"number": 1, "amount": 2, "count": 2, "yes/no": 0}[kind]


class Both:
    """Measures two data sets where the same earlier numbers put every stage, and squares how far they are apart."""

    def __init__(self, data, grid):
        self.data, self.grid, self.moved, self.rng = data, grid, [], np.random.default_rng(1)
        self.cells = [grid.index(each.X) for each in data]

    def counts(self, measurement):
        return self._measured(measurement, [measurement._exact(cells) for cells in self.cells], GRID)

    def sums(self, asked):
        most, low, high = self.data[0].output_range / self.data[0].y_scale, asked.low[0], asked.high[0]
        return asked._replace(
            z=self._of(asked.B, low, high, (-most, most), asked.noise_multiplier, self._about(asked.g))
        )

    def squares(self, asked):
        high, values = asked.high[0], [r**2 for r in self._about(asked.g)]
        z = self._of(np.ones((1, len(high))), 0 * high, high, (0.0, high.max()), asked.s, values)
        return asked._replace(z=z[0])

    def distances(self, asked, g):
        one, r, above = np.ones(self.grid.size), self._about(g), None
        reach = float(asked.reach[0])
        z = self._of(asked.B, 0 * one, reach * one, (0.0, reach), asked.s, [abs(each) for each in r])
        if asked.above is not None:
            higher = [(each > 0).astype(float) for each in r]
            above = asked.above[0], self._of(one[None], 0 * one, one, (0.0, 1.0), asked.above[0], higher)[0]
        return asked._replace(z=z, above=above)

    def _about(self, g):
        return [each.standardised() - self.grid.at(each.X, g[0]) for each in self.data]

    def _of(self, B, low, high, bounds, s, values):
        measurement = Measurement(B=B, low=low, high=high, bounds=bounds, noise_multiplier=s)
        both = [measurement._exact(*each) for each in zip(values, self.cells, strict=True)]
        return self._measured(measurement, both, STEPS)[None]

    def _measured(self, measurement, both, unit):
        moved = sum((a - b) ** 2 for a, b in zip(*both, strict=True))
        assert moved <= measurement.noise.sensitivity**2  # integers: nothing is rounded
        self.moved.append(moved / measurement.noise.variance)
        return np.array(both[0]).astype(float) / unit + measurement.noise_sd * self.rng.standard_normal(len(both[0]))


def cells_shift(mechanism, one, other, X_test):
    """Every stage with both data sets, and the counts where inputs are private."""
    key = (id(mechanism), one.n, one.output_range, one.y_scale)
    if mechanism.protects == "outputs":
        key += (one.X.tobytes(),)
    if key not in PLANS:
        PLANS[key] = (mechanism, mechanism.plan_for(one, X_test))
    plan = PLANS[key][1]
    reader = Both((one, other), plan.cells.grid)
    mechanism.run(plan, plan.cells.at(X_test), reader, 1)
    assert len(reader.moved) == numbers(mechanism, one.y_kind, one.people) + (not isinstance(plan.counts, Counts))
    return np.sqrt(float(sum(reader.moved)))


def planned(mechanism, data, X_test):
    """Return the public plan, made once."""
    key = (id(mechanism), data.X.tobytes(), data.output_range, data.y_scale, X_test.tobytes())
    if key not in PLANS:
        PLANS[key] = (mechanism, mechanism.mapped(mechanism.plan(data.X, X_test), data))  # keeps the id taken
    return PLANS[key][1]
