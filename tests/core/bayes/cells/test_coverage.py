"""With private inputs, intervals hold what they say on data drawn from the models, each world of another model.

Outputs are cut to the bounds before anything else, and the curve that an interval is asked to hold is their mean.
Intervals may hold more than they say (where the curve leaves the bounds they often end
there), never noticeably less.
"""

import numpy as np
import pytest

from dpgp_core.accounting.gaussian import noise_multiplier
from dpgp_core.bayes.cells.counts import plan_counts
from dpgp_core.bayes.cells.grid import cells_of
from dpgp_core.bayes.cells.known import CellSetting, cell_mixture
from dpgp_core.bayes.cells.models import cell_models
from dpgp_core.bayes.cells.stages import cell_multipliers, run_cells
from dpgp_core.bayes.intervals import side_by_side
from dpgp_core.bayes.models import auto_models
from dpgp_core.bayes.widths import CLIP
from dpgp_core.gp.clipping import seen
from dpgp_core.gp.pivoted import factorise
from dpgp_core.measurement.measurement import CellCounts

HALF, TESTS, GAP = 1.0, 25, 0.1
LEVELS = (0.5, 0.9, 0.95, 0.99)
OF_WORLDS = (0.05, 0.1, 0.2, 0.4, 0.8)  # noises, not the mixture's own


class World:
    """Records that only a reader sees, measured with numbered noise."""

    def __init__(self, grid, X, y, rng):
        self.grid, self.X, self.y, self.rng, self.cells = grid, X, y, rng, grid.place(X)

    def counts(self, measurement):
        return measurement.teaching(self.cells, self.rng)[0]

    def residuals(self, measurement, g):
        return measurement.teaching(self.y - self.grid.at(self.X, g), self.rng, cells=self.cells)[0]

    def squares(self, measurement, g):
        return float(measurement.teaching((self.y - self.grid.at(self.X, g)) ** 2, self.rng, cells=self.cells)[0, 0])


def covered(dim, n, epsilon, worlds, crowded=False):
    """Share of truths in each interval, by kind and level: mean over worlds and its standard error."""
    rng, box = np.random.default_rng(5), ((0.0, 1.0),) * dim
    grid, models, worlds_of = (
        cells_of(box, n, noise_multiplier(epsilon, 0.01)),
        auto_models(box, HALF),
        auto_models(box, HALF, OF_WORLDS),
    )
    on_cells = cell_models(models, grid)
    features = {model.kernel: factorise(model.kernel, places(dim), 1e-9).features for model in models}
    setting = CellSetting(grid=grid, models=on_cells, n=n, half_range=HALF, clip=CLIP, gap=GAP)
    first, multipliers = cell_multipliers(noise_multiplier(epsilon, 0.01), 6)
    counts = CellCounts(B=plan_counts(grid, n, first, GAP), noise_multiplier=first)
    found, truths = [], {"function": [], "outputs": []}
    for _ in range(worlds):
        X = rng.beta(2, 5, (n + TESTS, dim)) if crowded else rng.uniform(0, 1, (n + TESTS, dim))
        model = worlds_of[rng.integers(len(worlds_of))]
        phi = features[model.kernel].at(X).values()
        f = phi @ rng.standard_normal(phi.shape[1])
        y = f + np.sqrt(model.noise_variance) * rng.standard_normal(n + TESTS)
        _, posterior = run_cells(setting, counts, multipliers, World(grid, X[:n], np.clip(y[:n], -HALF, HALF), rng))
        found.append(cell_mixture(on_cells, posterior, X[n:]))
        truths["function"].append(seen(f[n:], model.noise_variance, HALF)[0])
        truths["outputs"].append(np.clip(y[n:], -HALF, HALF))
    prediction, shares = side_by_side(found), {}
    for of, truth in truths.items():
        for level in LEVELS:
            low, high = (np.clip(end, -HALF, HALF) for end in prediction.interval(level, of))
            inside = ((low <= np.array(truth)) & (np.array(truth) <= high)).mean(axis=1)
            shares[of, level] = inside.mean(), inside.std() / np.sqrt(worlds)
    return shares


def places(dim):
    side = np.linspace(0, 1, 150 if dim == 1 else 35)
    return np.stack(np.meshgrid(*[side] * dim, indexing="ij"), axis=-1).reshape(-1, dim)


def check(shares):
    for (of, level), (share, error) in shares.items():
        assert share > level - 0.03 - 3 * error, (of, level, share)
        assert share < min(level + 0.12 + 3 * error, 1.0) + 1e-9, (of, level, share)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.2, 5.0])
@pytest.mark.parametrize(
    ("dim", "n", "crowded"),
    [(1, 200, False), (1, 1000, False), (1, 5000, False), (1, 1000, True), (2, 400, False), (2, 3000, False)],
)
def test_intervals_hold_on_data_from_models_like_those_of_the_mixture(dim, n, crowded, epsilon):
    shares = covered(dim, n, epsilon, 120 if dim == 1 else 40, crowded)
    print(dim, n, crowded, epsilon, {key: round(float(share), 3) for key, (share, _) in shares.items()})
    check(shares)
