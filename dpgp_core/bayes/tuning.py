"""Every tuning constant of Bayes cloaking, in one frozen value that the whole package reads as ``TUNING``.

None of them affects the guarantee: privacy follows from the noise and from the shares of the budget, which add up to 1
whatever they are. They affect errors, the width of intervals, and time. Constants of mathematics, formats of files, and
thresholds that only absorb rounding errors stay in the modules that use them.

Every comment says what a field is and, in brackets, how it was chosen: by which table of ``python -m benchmarks``
(``inputs``, ``outcomes``, ``random_worlds``, ``fit``, ``groups``, ``dates``, ``bayes_inputs``), on which table of
``docs/benchmarks.md``, by a calculation, or by convention where errors were found to be flat about the value. h is half
the range of the outcomes, s the noise multiplier, and v = ``curve_variance`` h^2 the prior variance of the curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..kernels import EQ, Matern12, Matern32, Stationary


class PriorComponent(NamedTuple):
    """One kind of curve among the automatic models: a deviation from the mean level.

    Attributes:
        kernel: of the deviation.
        lengthscale: over each side of the box.
        amplitude: variance of the deviation, over v.
        weight: prior weight; only proportions matter.
    """

    kernel: type[Stationary]
    lengthscale: float
    amplitude: float
    weight: float


_LENGTHSCALES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
_ROUGHER = PriorComponent(Matern32, 1 / 8, 0.3, 3.0)
_ROUGH_TREND = PriorComponent(Matern32, 1 / 8, 0.05, 1.0)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """Tuning constants of Bayes cloaking, grouped by the module that reads them."""

    # ---- budget.py: shares of 1 / s^2

    # Share of the distances from the curve [outcomes: intervals for outcomes].
    dispersion_share: float = 0.05
    # Share of the number of outcomes above the curve [outcomes: centiles of skewed outcomes].
    above_share: float = 0.03
    # Share of the curve's part that the counts of private inputs take [inputs].
    counts_share: float = 0.15
    # Share of the curve's part that the locations within cells take [inputs].
    locations_share: float = 0.02
    # Share of each stage but the first that its squared residuals take [outcomes].
    squares_share: float = 0.1
    # Share of a stage over that of the first, at most; shares double up to it [inputs].
    largest_stage: int = 8

    # ---- settings.py: stages

    # Stages by default [inputs].
    stages: int = 6
    # Stages if n / s, the number of people over the noise multiplier, is below ``few``: intervals then stay wide
    # [!Kung heights, epsilon 0.3, n / s = 20: error 18.4 cm in two stages, 17.6 in three and 17.8 in six].
    stages_of_few: int = 3
    few: float = 30
    # n / s from which locations within cells are measured: with fewer people, the noise on them is too large [inputs].
    many_to_locate: float = 100

    # ---- model.py: curves and noise

    # v / h^2 [calculation: the variance of values that are spread evenly over the range].
    curve_variance: float = 1 / 3
    # Variance of the mean level, over v [inputs].
    level: float = 0.5
    # Lengthscales of the automatic kernels, over the sides of the box [inputs; convention: a factor of two apart].
    lengthscales: tuple[float, ...] = _LENGTHSCALES
    # Large deviations from the mean level [inputs, !Kung heights, London prices].
    curves: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 1.0, 1.0) for share in _LENGTHSCALES)
    # Small deviations; along one input their weight grows with n / s [food expenditure by income, 235 households,
    # epsilon 0.2: error 171 with and 155 without them; 300 people on a plane: 2.5 with and 3.8 without them].
    small_curves: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 0.15, 1.0) for share in _LENGTHSCALES)
    # Rough deviations, whose weight grows with n / s [inputs: kinks, jumps and rough curves].
    rough_curves: tuple[PriorComponent, ...] = (
        *(PriorComponent(Matern32, share, 0.05, 1.0) for share in _LENGTHSCALES),
        PriorComponent(Matern12, 1 / 4, 0.5, 1.0),
    )
    # n / s from which rough curves have their whole weight, and share of it below which they have none [inputs: with
    # few people they would cost every smooth curve an eighth of its error].
    rough_from: float = 8000
    least_rough_share: float = 0.05
    # Shortest lengthscale of rough curves if there are groups; shorter ones cost time [groups].
    rough_with_groups: float = 1 / 4
    # Two and three inputs, see ``models_of_inputs``: lengthscales of the most important input and of additive effects,
    # lengthscale of the other inputs, and one that removes the effect of an input, all over the sides of the box; share
    # of the variance of additive models that is joint; prior weight of each model [planes].
    scales_of_inputs: tuple[float, ...] = (1 / 16, 1 / 8, 1 / 4)
    slow: float = 1.0
    constant: float = 1e3
    joint_share: float = 0.1
    weight_of_inputs: float = 0.5
    # Shortest lengthscale for three inputs, whose cells are a sixth of a side wide, and noise standard deviations for
    # three inputs, which are fewer because there are more kernels [three inputs: seconds].
    shortest_of_three: float = 1 / 8
    noise_sds_of_three: tuple[float, ...] = (1 / 64, 1 / 16, 1 / 4, 1.0)
    # Standard deviations of outcomes about the curve, over h [outcomes; none can exceed h].
    noise_sds: tuple[float, ...] = (1 / 128, 1 / 32, 1 / 12, 1 / 5, 1 / 2, 1.0)
    # The same for yes/no outcomes [calculation: rates of 0.02, 0.07, 0.17 or 0.83, and 0.5].
    yes_no_sds: tuple[float, ...] = (1 / 4, 1 / 2, 3 / 4, 1.0)
    # The same with groups, which multiply the number of models by three [groups: without the smallest one, small counts
    # of two groups (30,000 people) have an error of 0.4 instead of 0.04].
    noise_sds_of_groups: tuple[float, ...] = (1 / 32, 1 / 12, 1 / 4, 1.0)
    yes_no_sds_of_groups: tuple[float, ...] = (1 / 4, 1 / 2, 1.0)
    # Shares of the curve's variance that groups have in common [groups].
    shared: tuple[float, ...] = (0.0, 0.5, 0.9)
    # Factors of a declared lengthscale, and of a declared standard deviation [inputs; convention].
    around: tuple[float, ...] = (0.5, 1.0, 2.0)
    # Categories in all up to which each has models of its own shape; more cost more time than they gain [groups].
    most_rougher: int = 6
    # The part of the curve that groups then have in common, and the one group's own part. With a smaller weight the own
    # part is found too late [groups: a small group that is much rougher, error 14.7 cm without and 5.0 with it].
    alike: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 0.5, 1.0) for share in (1 / 4, 1 / 2))
    rougher: PriorComponent = _ROUGHER

    # ---- periodic.py

    # Share of v that large periodic components have, together [dates].
    periodic_variance: float = 0.5
    # Sizes of periodic components, over that [dates: the small one finds a season of one part in twenty].
    periodic_sizes: tuple[float, ...] = (1.0, 1 / 25)
    # Lengthscales of periodic components on their circle [dates].
    periodic_lengthscales: tuple[float, ...] = (0.5, 1.0)
    # Lengthscale over which a periodic component may change, over each side of the box [dates].
    periodic_change: float = 1.0
    # Trends next to a periodic component, for one input and for several, whose cells show no shorter ones [dates: with
    # slow trends alone, a year next to a declared week was averaged over].
    trends: tuple[PriorComponent, ...] = tuple(
        PriorComponent(EQ, share, 0.5, 1.0) for share in (1 / 32, 1 / 16, 1 / 8, 1 / 2)
    )
    trends_of_several: tuple[PriorComponent, ...] = tuple(
        PriorComponent(EQ, share, 0.5, 1.0) for share in (1 / 8, 1 / 2)
    )
    # The rough one of these; its weight grows with n / s [dates].
    rough_trend: PriorComponent = _ROUGH_TREND

    # ---- cells.py: equal cells, by the number of numerical sides 1, 2, 3; u = n / (80 s) per group

    # Cells along each side, at least and at most [inputs; more cost time, and locations determine what is finer].
    fewest_cells: tuple[int, ...] = (12, 4, 2)
    most_cells: tuple[int, ...] = (90, 16, 8)
    # A group has ``cells`` u^``cells_power`` cells, u = n / s / ``cells_from`` [inputs: errors are flat about that].
    cells: float = 16
    cells_from: float = 80
    cells_power: float = 0.4
    # On several sides ``cells`` u^``fast_power`` up to so many, for private and for public inputs [!Kung heights and
    # London prices: fewer cells hide how they vary].
    fast_power: float = 1.5
    fast_cells: tuple[int, ...] = (0, 81, 216)
    fast_cells_if_public: tuple[int, ...] = (0, 0, 216)
    # Average number of people in a cell at least, if counts are noisy: whole numbers near 0 are not normal [inputs].
    people_per_cell: tuple[int, ...] = (8, 4, 4)
    # If counts are public, times as many cells, at most and as a power of u [inputs: 300 people on a plane in 6 x 6
    # cells have an error of 2.8, in 4 x 4 of 2.3].
    most_finer: float = 2.0
    finer_power: float = 0.25
    # Times as many cells along a side at most, where most of them are empty and inputs are public [inputs: towns].
    finer_where_used: int = 2
    # Cells along each of several sides divided by phases; along one side, ``phased_cells`` u^0.5 of them, and so many
    # with phases in all at most [dates: five years in 12 cells hide a year next to a week].
    fewest_phased_cells: tuple[int, ...] = (12, 8, 2)
    phased_cells: float = 5
    most_phased_cells: int = 288

    # ---- clusters.py

    # Clusters, at least and at most, and records to a cluster in between. With 64 to 128 errors are the same within
    # their standard errors, and time grows with the square [!Kung heights, inputs: 300 people on a plane have an error
    # of 2.1 in 48 clusters and of 2.3 in 96 or in equal cells].
    fewest_clusters: int = 48
    most_clusters: int = 96
    records_per_cluster: int = 4
    # Records on two or three sides above which equal cells are used, which find a record's column at once
    # [bayes_inputs: seconds].
    most_clustered: int = 50_000
    # Weight of the extent of a cluster, against its number of records, when the next one to split is chosen [inputs].
    cluster_extent: float = 0.3

    # ---- counts.py: prior of the density of records

    # Lengthscale over the sides of the box, variance over its mean squared, and the share of it that groups have in
    # common [inputs].
    density_lengthscale: float = 0.15
    density_variance: float = 2.0
    density_shared: float = 0.5
    # Variance tau of the count of a cell, independent of other cells, over its squared mean [fit: with values ten times
    # apart, counts of log-normal inputs had a misfit of 2.4, which widened intervals by half; with these it is 0.9 to
    # 1.2].
    roughness: tuple[float, ...] = (0.0, *(0.001 * 2.0**k for k in range(17)))
    # Smallest tau with which cells may be empty [inputs: towns, few places].
    roughness_of_empty: float = 0.25
    # Mean of full cells over n / M, the smallest one as a power of two [inputs: one mean for all gave the records of
    # full cells to empty ones].
    smallest_full_cell: int = -3
    # Dirichlet prior of the shares of these means: number of cells added to each, at least this many, or this multiple
    # of the noise over n / M if that is larger [inputs].
    full_cells: float = 0.1
    full_cells_by_noise: float = 0.15
    # Share of the variance within a cell that stays unknown even if the mean location is known exactly [fit].
    open_within: float = 0.02

    # ---- clipping.py

    # Half-width of the narrowest interval over the predictive standard deviation [inputs, outcomes].
    clip: float = 0.75
    # Half-widths that a stage chooses among, over the narrowest [outcomes].
    widths: tuple[float, ...] = (1.0, 4.0, math.inf)
    # Smallest width of an interval, over the range [outcomes: bounds far wider than the outcomes vary].
    narrowest: float = 1e-3
    # Share of the risk reduction of a stage by which the risk of a wider interval may exceed the smallest risk. As a
    # share of the remaining risk it would always select the widest interval if there is much noise [food expenditure by
    # income, 235 households, epsilon 0.2: error 187 instead of 155].
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
    # Largest value of the same once sigma is known, that is once log sigma^2 has a variance below ``known``
    # [random_worlds].
    wide_threshold: float = 9.0
    known: float = 0.25
    # Prior of sigma / h: median, and standard deviation of its logarithm [outcomes].
    usual_sd: float = 0.15
    usual_spread: float = 1.0
    # Shares of outliers that are distinguished [random_worlds; convention: a factor of two apart].
    outlier_shares: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    # Log likelihood ratio above which outliers are assumed; without outliers, one release in a hundred exceeds it by
    # chance [random_worlds].
    outlier_gain: float = 4.0
    # Share of the smaller of two groups, which are as likely as normal outcomes [random_worlds].
    two_groups: float = 0.2
    # Relative standard deviation of the sum of squares if there are outliers, because the model of a single distance is
    # only approximate [random_worlds].
    outlier_spread: float = 0.3
    # The same without outliers, because residuals are not exactly normal [outcomes].
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
    # Prior standard deviation of the skewness of outcomes [outcomes].
    skewness_sd: float = 1.5
    # Share of the people who change sides if the curve moves by half a standard deviation [calculation: 0.4 / 2].
    moved: float = 0.2

    # ---- state.py: locations within cells

    # Shares of the variance from one shared location in a cell, equally probable [random_worlds, inputs: towns].
    location_shares: tuple[float, ...] = (0.0, 0.05, 0.25, 1.0)
    # Times that variance in the state, because the location is the same in all stages with narrow intervals [inputs,
    # outcomes: gamma outcomes of two groups are covered by 0.96 of the intervals instead of 0.72].
    shared_location_factor: float = 4

    # ---- changepoints.py

    # Change points of one curve at most, and the probability of each [inputs: with a probability of 0.1, intervals for
    # smooth curves are a seventh wider].
    most_change_points: int = 3
    change_point_share: float = 0.03
    # Probability that the curve has a step at a mass; the share of all records that a mass has at least, and over the
    # mean share of a column; standard deviations by which noisy counts must reveal it [bayes_ends: with a probability
    # of 0.5, 0.86 instead of 0.94 of the intervals at a public mass and next to it cover the curve].
    mass_share: float = 0.7
    least_mass: float = 0.1
    mass_over_mean: float = 4.0
    clear_mass: float = 2.0
    # Widths of bumps between their knots, in cells; at half their height they are half as wide again [inputs: peaks].
    bump_widths: tuple[int, ...] = (1, 2, 3)
    # Share of a bump's height that is as sharp as a step [inputs: peaks].
    bump_sharpness: float = 0.25
    # Prior variances of their heights, over v, equally probable [inputs: jumps, peaks and smooth curves].
    change_point_variances: tuple[float, ...] = (0.15, 1.0)
    # Prior variance of their heights over that of outcomes about f, at most: bounds far wider than the outcomes vary
    # say little of the curve [outcomes: wide bounds].
    most_change_point_variance: float = 16.0

    # ---- filter.py and strategy.py: planning

    # Steps of the solver; where it needs more, with very many records, the strategy is good but not the best
    # [bayes_inputs: seconds].
    steps: int = 200
    # Relative gap and steps of the strategy that intervals are compared by; and steps after which any strategy should
    # be better than each cell by itself [bayes_inputs: seconds, 10^6 people].
    rough_gap: float = 0.1
    rough_steps: int = 30
    # Relative gap of strategies over the argument ``gap``, as they are planned anew in each release, and at most
    # [bayes_inputs: seconds].
    looser: float = 30
    loosest: float = 0.3
    # Share of the risk left after a stage that no strategy need save [bayes_inputs: seconds, 10^6 people].
    saved_risk: float = 0.002
    # Probability of a noise variance, over the largest, below which its models are read no further [groups].
    ruled_out: float = 1e-3
    # Weight in plans, over the prior one, of curves that plans would miss otherwise, and the probability below which
    # they have none [dates, groups].
    planned_for: float = 0.03
    given_up: float = 1e-6
    # Least weight of a family of kernels that is planned for [inputs].
    least_weight: float = 0.02
    # Eigenvalue of the sums' covariance in units of the records' noise, from which a direction is kept, and share of
    # the mean variance of the sums that is added to that noise [bayes_inputs: seconds].
    kept_eigenvalue: float = 1e-3
    noise_floor: float = 1e-3


TUNING = Tuning()
"""The constants that every release is made and read with."""
