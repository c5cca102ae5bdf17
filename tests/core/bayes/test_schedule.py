import math

import numpy as np
import pytest

from dpgp_core.bayes.stages import stage_multipliers

S = 1.3


@pytest.mark.parametrize("stages", [1, 3, 5, 10])
def test_all_stages_together_spend_exactly_the_budget(stages):
    found = stage_multipliers(S, stages)
    assert math.fsum(1 / s**2 for s in found) == pytest.approx(1 / S**2, rel=1e-14)
    np.testing.assert_allclose(np.divide(found[0], found) ** 2, np.minimum(2.0 ** np.arange(stages), 8), rtol=1e-14)
