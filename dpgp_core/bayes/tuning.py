"""Every tuning constant of Bayes cloaking, in one frozen value that the whole package reads as ``TUNING``.

None of them affects the guarantee: privacy follows from the noise and from the shares of the budget, which add up to 1
whatever they are. They affect errors, the width of intervals, and time. Constants of mathematics, formats of files, and
thresholds that only absorb rounding errors stay in the modules that use them.

Every comment says what a field is and, in brackets, how it was chosen: by which table of ``python -m benchmarks``
(``inputs``, ``outcomes``, ``random_worlds``, ``fit``, ``groups``, ``dates``, ``bayes_inputs``), on which table of
``docs/benchmarks.md``, by a calculation, or by convention where errors were found to be flat about the value. h is half
the range of the outcomes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Tuning constants of Bayes cloaking, grouped by the module that reads them."""

    # ---- clipping.py

    # Half-width of the narrowest interval over the predictive standard deviation [inputs, outcomes].
    clip: float = 0.75
    # Half-widths that a stage chooses among, over the narrowest [outcomes].
    widths: tuple[float, ...] = (1.0, 4.0, math.inf)
    # Smallest width of an interval, over the range [outcomes: bounds far wider than the outcomes vary].
    narrowest: float = 1e-3
    # Share of what a stage saves by which a wider interval may be worse. If it were a share of the risk that is left,
    # the widest would always be taken where noise leaves most of it [food expenditure by income, 235 households,
    # epsilon 0.2: error 187 instead of 155].
    tied: float = 0.1
    # Clipping bias: its size over the residual standard deviation, the part of it that is left in wide intervals, and
    # the share of its variance that all stages have in common [calculation: table in clipping.py; outcomes].
    bias: float = 0.33
    far_bias: float = 0.12
    bias_shared: float = 0.8
    # Lengthscale of the field of the bias, over the sides of the box [outcomes; convention].
    bias_lengthscale: float = 0.25

    # ---- residuals.py

    # Clipping threshold A of the squares over the predictive standard deviation [outcomes].
    threshold: float = 3.0
    # The same at most once sigma is known, that is once the variance of log sigma^2 is below ``known`` [random_worlds].
    wide_threshold: float = 9.0
    known: float = 0.25
    # Prior of sigma / h: median, and standard deviation of its logarithm [outcomes].
    usual_sd: float = 0.15
    usual_spread: float = 1.0
    # Shares of outliers that are distinguished [random_worlds; convention: a factor of two apart].
    outlier_shares: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    # Log likelihood by which they must explain the squares better; without outliers one release in a hundred reaches it
    # by chance [random_worlds].
    outlier_gain: float = 4.0
    # Share of the smaller of two groups, which are as likely as normal outcomes [random_worlds].
    two_groups: float = 0.2
    # Relative standard deviation of what a share of outliers adds, as it is not the same at every A [random_worlds].
    outlier_spread: float = 0.3
    # Relative standard deviation of other sums of squares, because residuals are not normal [outcomes].
    square_spread: float = 0.1
    # Variance of a clipped square over sigma^4: 2 for normal outcomes, more for heavy tails [outcomes].
    peaked: float = 10.0
    # Standard deviation of log sigma of yes/no outcomes, where it follows from the mean [outcomes].
    binary_spread: float = 0.1

    # ---- dispersion.py and mixture.py

    # Clipping threshold A of the distances over the predictive standard deviation, at most h [outcomes].
    distance_threshold: float = 2.0
    # Relative gap of their strategy [bayes_inputs: seconds].
    distance_gap: float = 0.03
    # Prior variance of 2 E a / A over the box, and the share of it that groups have in common [outcomes, groups].
    dispersion_variance: float = 0.15
    dispersion_shared: tuple[float, ...] = (0.5,)
    # Standard deviations of a / A about its mean, over half its range [calculation: 0.6 for normal outcomes].
    dispersion_noise_sds: tuple[float, ...] = (0.25, 0.5)
    # Least residual standard deviation over A [outcomes: counts of few values, all of which may be on the curve].
    least_dispersion: float = 1e-3


TUNING = Tuning()
"""The constants that every release is made and read with."""
