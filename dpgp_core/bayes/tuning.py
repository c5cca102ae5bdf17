"""Every tuning constant of Bayes cloaking, in one frozen value that the whole package reads as ``TUNING``.

None of them affects the guarantee: privacy follows from the noise and from the shares of the budget, which add up to 1
whatever they are. They affect errors, the width of intervals, and time. Constants of mathematics, formats of files, and
thresholds that only absorb rounding errors stay in the modules that use them.

Every comment says what a field is and, in brackets, how it was chosen: by which table of ``python -m benchmarks``
(``inputs``, ``outcomes``, ``random_worlds``, ``fit``, ``groups``, ``dates``, ``bayes_inputs``), on which table of
``docs/benchmarks.md``, by a calculation, or by convention where errors were found to be flat about the value. "a over
b" is the ratio a / b. h is half the range of the outcomes, s the noise multiplier, and v = ``curve_variance`` h^2 the
prior variance of the curve.
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
    # Largest ratio of the share of a stage to that of the first. Shares double from stage to stage until they reach it
    # [inputs].
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
    # Large deviations from the mean level [inputs, !Kung heights, London prices; convention: lengthscales are a factor
    # of two apart].
    curves: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 1.0, 1.0) for share in _LENGTHSCALES)
    # Small deviations; along one input their weight grows with n / s [food expenditure by income, 235 households,
    # epsilon 0.2: error 171 with and 155 without them; 300 people on a plane: 2.5 with and 3.8 without them].
    small_curves: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 0.15, 1.0) for share in _LENGTHSCALES)
    # Rough deviations, whose weight grows with n / s [inputs: kinks, jumps and rough curves].
    rough_curves: tuple[PriorComponent, ...] = (
        *(PriorComponent(Matern32, share, 0.05, 1.0) for share in _LENGTHSCALES),
        PriorComponent(Matern12, 1 / 4, 0.5, 1.0),
    )
    # Value of n / s from which rough curves have their full weight. Below it their weight is proportional to n / s, and
    # it is 0 if the proportion is below ``least_rough_share`` [inputs: with few people, rough curves would increase the
    # error of every smooth curve by an eighth].
    rough_from: float = 8000
    least_rough_share: float = 0.05
    # Shortest lengthscale of rough curves if there are groups; shorter ones cost time [groups].
    rough_with_groups: float = 1 / 4
    # Models of two and three inputs (``models_of_inputs``). Lengthscales, over the sides of the box:
    # ``scales_of_inputs`` of the most important input and of additive effects, ``slow`` of the other inputs, and
    # ``constant`` of inputs that have no effect. ``joint_share`` is the share of the variance of an additive model that
    # its joint kernel has, and ``weight_of_inputs`` the prior weight of each model [planes].
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
    # Models in which one group has a rougher curve are a sum of two parts: one of ``alike``, which all groups have in
    # common, and ``rougher``, which only this group has. With a smaller weight, ``rougher`` is found too late [groups:
    # a small group with a much rougher curve has an error of 14.7 cm without it and of 5.0 cm with it].
    alike: tuple[PriorComponent, ...] = tuple(PriorComponent(EQ, share, 0.5, 1.0) for share in (1 / 4, 1 / 2))
    rougher: PriorComponent = _ROUGHER

    # ---- periodic.py

    # Prior variance of all large periodic components together, over v [dates].
    periodic_variance: float = 0.5
    # Prior variances of large and of small periodic components, over that of the large ones [dates: with the small
    # size, a component whose amplitude is a twentieth of the mean is found].
    periodic_sizes: tuple[float, ...] = (1.0, 1 / 25)
    # Lengthscales of periodic components: l in exp(-2 sin^2(pi (x - x') / p) / l^2) for the period p [dates].
    periodic_lengthscales: tuple[float, ...] = (0.5, 1.0)
    # Lengthscale over which a periodic component may change, over each side of the box [dates].
    periodic_change: float = 1.0
    # Trends next to a periodic component about an unknown mean level, for one input and for several. The bins of
    # several inputs are too large to show shorter lengthscales [dates: with slow trends only, a yearly pattern next to
    # a declared weekly one was averaged over; with large trends alone, models without a periodic component described a
    # small trend better, so that a component of a twentieth of the mean was judged absent, coverage 0.5].
    trends: tuple[PriorComponent, ...] = tuple(
        PriorComponent(EQ, share, amplitude, 1.0)
        for amplitude in (0.5, 0.1)
        for share in (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
    )
    trends_of_several: tuple[PriorComponent, ...] = tuple(
        PriorComponent(EQ, share, 0.5, 1.0) for share in (1 / 8, 1 / 2)
    )
    # The rough one of these; its weight grows with n / s [dates].
    rough_trend: PriorComponent = _ROUGH_TREND

    # ---- cells.py: equal cells, by the number of numerical sides 1, 2, 3; u = n / (s ``cells_from``), n per group

    # Smallest and largest number of cells along each side [inputs; more cells cost time, and the measured locations
    # within cells resolve what is smaller than a cell].
    fewest_cells: tuple[int, ...] = (12, 4, 2)
    most_cells: tuple[int, ...] = (90, 16, 8)
    # Each group has ``cells`` u^``cells_power`` cells [inputs: near these values errors hardly depend on them].
    cells: float = 16
    cells_from: float = 80
    cells_power: float = 0.4
    # On several sides there are ``cells`` u^``fast_power`` cells if that is more, but this rule gives at most
    # ``fast_cells`` with private inputs and ``fast_cells_if_public`` with public ones [!Kung heights and London prices:
    # fewer cells hide how they vary].
    fast_power: float = 1.5
    fast_cells: tuple[int, ...] = (0, 81, 216)
    fast_cells_if_public: tuple[int, ...] = (0, 0, 216)
    # Smallest average number of people in a cell if counts are noisy: with fewer, the counts are small integers, which
    # a normal distribution describes poorly [inputs].
    people_per_cell: tuple[int, ...] = (8, 4, 4)
    # With public inputs, the number of cells is multiplied by u^``finer_power``, but at least by 1 and at most by
    # ``most_finer`` [inputs: 300 people on a plane have an error of 2.8 in 6 x 6 cells, and of 2.3 in 4 x 4].
    most_finer: float = 2.0
    finer_power: float = 0.25
    # Largest factor by which the number of cells along a side is increased if inputs are public and most cells are
    # empty [inputs: towns].
    finer_where_used: int = 2
    # Cells along each side if inputs have periods, before division by phase and with fewer for several groups. A single
    # side has only half of the first number, or ``phased_cells`` u^0.5 if that is more. The cells of all its phases
    # together are at most ``most_phased_cells`` [dates: with 12 cells for five years, a yearly pattern next to a
    # declared weekly one is hidden].
    fewest_phased_cells: tuple[int, ...] = (12, 8, 2)
    phased_cells: float = 5
    most_phased_cells: int = 288

    # ---- clusters.py

    # Smallest and largest number of clusters, and the average number of records in a cluster between the two. From 64
    # to 128 clusters, errors are the same within their standard errors, and time grows with the square of the number
    # [!Kung heights, inputs: 300 people on a plane have an error of 2.1 in 48 clusters, and of 2.3 in 96 or in equal
    # cells].
    fewest_clusters: int = 48
    most_clusters: int = 96
    records_per_cluster: int = 4
    # Number of records above which public inputs with two or three sides have equal cells instead of clusters, because
    # the cell of a record is computed at once [bayes_inputs: seconds].
    most_clustered: int = 50_000
    # Weight of the extent of a cluster when the next cluster to split is chosen. The number of its records has the rest
    # of the weight [inputs].
    cluster_extent: float = 0.3

    # ---- counts.py: prior of the density of records

    # Prior of the density of records: its lengthscale over the sides of the box, its variance over the squared mean
    # density, and the share of this variance that groups have in common [inputs].
    density_lengthscale: float = 0.15
    density_variance: float = 2.0
    density_shared: float = 0.5
    # Possible values of tau, the part of the variance of a cell's count that is independent of other cells, over the
    # squared mean count [fit: when neighbouring values differed by a factor of ten, counts of log-normal inputs had a
    # misfit of 2.4, which widened intervals by half; with the present values it is 0.9 to 1.2].
    roughness: tuple[float, ...] = (0.0, *(0.001 * 2.0**k for k in range(17)))
    # Smallest tau with which cells may be empty [inputs: towns, few distinct inputs].
    roughness_of_empty: float = 0.25
    # Exponent of the smallest mean count of cells that are not empty: means are n / M times powers of two, from
    # 2^``smallest_full_cell`` [inputs: with one mean for all cells, records of full cells were attributed to empty
    # ones].
    smallest_full_cell: int = -3
    # Dirichlet prior of the shares of cells with each of these means. Each has the pseudo-count ``full_cells``, or
    # ``full_cells_by_noise`` times the ratio of the noise to n / M if that is larger [inputs].
    full_cells: float = 0.1
    full_cells_by_noise: float = 0.15
    # Cells are sparse if the counts of most cells near them have a larger relative error than this [bayes_ends: thin;
    # coverage is the same with 0.5 within its standard error].
    sparse: float = 0.4
    # Power of the correlation of the smooth density in two cells that is the weight of one in the prior of the other,
    # where that prior follows from the cells nearby [calculation: half of the lengthscale; counts are as exact with 8].
    near_power: int = 4
    # Such a prior has mean counts from this number of standard deviations of the noise, or from
    # 2^``smallest_full_cell`` n / M if that is smaller [counts of 30,000 people with exponential inputs: with the
    # latter, those of sparse cells are too small by 2.2 instead of 0.7].
    smallest_by_noise: float = 0.5
    # Ratio of the posterior variances of counts given such a prior and given a smooth density, below which the former
    # is used [counts of 39 people in 26 cells with even inputs: with 1, their squared errors are an eighth larger;
    # bayes_ends: thin, coverage of 0.97, and of 0.85 without such priors].
    nearby_variance: float = 0.65
    # Share of the variance within a cell that stays unknown even if the mean location is known exactly [fit].
    open_within: float = 0.02

    # ---- clipping.py

    # Half-width of the narrowest interval over the predictive standard deviation [inputs, outcomes].
    clip: float = 0.75
    # Half-widths among which a stage chooses, over the narrowest one [outcomes].
    widths: tuple[float, ...] = (1.0, 4.0, math.inf)
    # Smallest width of a clipping interval, over the range of the outcomes [outcomes: bounds that are much wider than
    # the variation of the outcomes].
    narrowest: float = 1e-3
    # Share of the risk reduction of a stage by which the risk of a wider interval may exceed the smallest risk. As a
    # share of the remaining risk it would always select the widest interval if there is much noise [food expenditure by
    # income, 235 households, epsilon 0.2: error 187 instead of 155].
    tied: float = 0.1
    # Clipping bias: its size over the residual standard deviation, the share of it that remains in wide intervals, and
    # the share of its variance that all stages have in common [calculation: table in clipping.py; outcomes].
    bias: float = 0.33
    far_bias: float = 0.12
    bias_shared: float = 0.8
    # Lengthscale of the field of the bias, over the sides of the box [outcomes; convention].
    bias_lengthscale: float = 0.25

    # ---- residuals.py

    # Clipping threshold theta of the squares over the predictive standard deviation [outcomes].
    threshold: float = 3.0
    # Stages, counted from 0, whose squares are planned for the excess of outliers, once the posterior variance of log
    # sigma is below ``known`` [outcomes: outliers; without this condition, bounds a thousand times the residual
    # standard deviation are recognised too late, and errors grow by two thirds].
    stages_of_excess: tuple[int, ...] = (3, 5)
    known: float = 0.08
    # Prior of sigma / h: median, and standard deviation of its logarithm [outcomes].
    usual_sd: float = 0.15
    usual_spread: float = 1.0
    # Shares of outliers that are distinguished, and their distances from the curve over h; outliers are at least
    # ``outlier_contrast`` standard deviations of the core away [outcomes; convention: a factor of two apart].
    outlier_shares: tuple[float, ...] = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
    outlier_distances: tuple[float, ...] = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
    outlier_contrast: float = 4.0
    # Outliers at a distance d can only be on the sides of the curve where the bounds leave at least ``outlier_room`` d.
    # ``outlier_field`` is the relative standard deviation of the excess of outliers from bin to bin [outcomes].
    outlier_room: float = 0.7
    outlier_field: float = 0.5
    # Log Bayes factor above which outliers are assumed [outcomes: with 4, the coverage of costs of 3,000 people is 0.3
    # instead of 0.9; in 60 releases without outliers, the factor exceeded 1 three times and never 2].
    outlier_gain: float = 1.0
    # Intervals allow for outliers above the log Bayes factor ``outlier_caution``, if the mean excess of outliers is at
    # least ``outlier_excess`` times the standard deviation of all others [outcomes: of 3,000 people with private inputs
    # it was 0.5 to 5 times as large for costs of some and rare answers, and 0.3 to 0.5 times for heavy tails,
    # log-normal outcomes, counts and 3 % of outliers, whose excess is within the usual clipping bias. Squares of 30 to
    # 200 people, which say little, have log Bayes factors of 0 to 0.4].
    outlier_caution: float = 0.5
    outlier_excess: float = 0.5
    # The same excess, and the relative standard deviation of the excess from bin to bin that intervals allow for, above
    # the log Bayes factor ``outlier_certain``. Squares of many people are then so exact, and intervals so narrow, that
    # it matters how the excess varies with the input [outcomes: costs of 30,000 people, 10 releases with private
    # inputs: coverage 0.89 instead of 0.79, and 0.82 with 0.25 and 0.5. Log Bayes factors were 14 to 32 for these and
    # for costs of some, 8 to 10 for 3 % of outliers, and below 4 with 3,000 people].
    outlier_certain: float = 5.0
    certain_excess: float = 0.25
    certain_field: float = 1.0
    # Intervals allow for the largest distance of outliers whose log density is within this of the largest
    # [convention: half the 95 % quantile of chi-square with one degree of freedom].
    outlier_support: float = 1.92
    # For this, stages are left out whose clipping intervals are narrower than this multiple of the mean excess
    # [outcomes: rare answers of 3,000 people are covered by 0.8 with all stages, and by 0.9 with 1.5].
    outlier_width: float = 1.5
    # Share of the smaller group, if residuals consist of two groups that are far apart [random_worlds].
    two_groups: float = 0.2
    # Relative standard deviation of the sum of squares if there are outliers, because the model of a single distance is
    # only approximate [random_worlds].
    outlier_spread: float = 0.3
    # The same without outliers, because residuals are not exactly normal [outcomes].
    square_spread: float = 0.1
    # Variance of a clipped square over sigma^4, which is 2 for normal outcomes and larger for heavy tails [outcomes].
    peaked: float = 10.0
    # Standard deviation of log sigma of yes/no outcomes, where it follows from the mean [outcomes].
    binary_spread: float = 0.1

    # ---- dispersion.py and mixture.py

    # Clipping threshold theta of the distances over the predictive standard deviation, at most h [outcomes].
    distance_threshold: float = 2.0
    # Prior variance of 2 E a / theta over the box, and the share of it that groups have in common [outcomes, groups].
    dispersion_variance: float = 0.15
    dispersion_shared: tuple[float, ...] = (0.5,)
    # Standard deviations of a / theta about its mean, over 1/2, which is half its range [calculation: 0.6 for normal
    # outcomes].
    dispersion_noise_sds: tuple[float, ...] = (0.25, 0.5)
    # Smallest residual standard deviation, over theta. It is positive because outcomes that are counts of few different
    # values may all lie on the curve [outcomes].
    least_dispersion: float = 1e-3
    # Prior standard deviation of the skewness of outcomes [outcomes].
    skewness_sd: float = 1.5
    # Share of the people who are counted on the wrong side of the curve, over the error of the curve in residual
    # standard deviations [calculation: half of 0.4, the normal density at 0].
    moved: float = 0.2

    # ---- state.py: locations within cells

    # Shares of the variance that a location shared by all records of a cell would cause, equally probable
    # [random_worlds, inputs: towns].
    location_shares: tuple[float, ...] = (0.0, 0.05, 0.25, 1.0)
    # Factor by which this variance is multiplied in the state, because a shared location is the same in all stages with
    # narrow intervals [inputs, outcomes: with gamma outcomes of two groups, coverage is 0.96 instead of
    # 0.72].
    shared_location_factor: float = 4

    # ---- changepoints.py

    # Largest number of change points of a curve, and the probability that each is present [inputs: with a probability
    # of 0.1, intervals for smooth curves are a seventh wider].
    most_change_points: int = 3
    change_point_share: float = 0.03
    # Probability that each change point is a plateau; widths of plateaus over the side of the box, where those that are
    # no wider than a bump are left out; and length of their ramps over their width [bayes_ends, outcomes: with a
    # probability of 0.1, coverage of plateaus is 0.8 instead of 0.65, but errors of costs are a tenth larger; with
    # ramps of a third of the width, the error of a plateau of 20,000 records is twice as large].
    plateau_share: float = 0.02
    plateau_widths: tuple[float, ...] = (1 / 11, 1 / 8, 1 / 6)
    plateau_ramp: float = 1 / 4
    # The same probability in the posterior that allows for plateaus [bayes_ends: intervals cover 0.84 of a plateau, and
    # 0.86 with private inputs; without this posterior they cover 0.70 and 0.65].
    cautious_plateau_share: float = 0.05
    # ``mass_share`` is the probability that the curve steps at a mass. A bin is a mass if its share of all records
    # is at least ``least_mass``, and at least ``mass_over_mean`` times the mean share of a bin; noisy counts must
    # show this by ``clear_mass`` standard deviations [bayes_ends: with a probability of 0.5, coverage at a public mass
    # and next to it is 0.86 instead of 0.94].
    mass_share: float = 0.7
    least_mass: float = 0.1
    mass_over_mean: float = 4.0
    clear_mass: float = 2.0
    # Distances between neighbouring knots of a bump, in cells. At half its height a bump is 1.27 times as wide as this
    # distance [inputs: peaks].
    bump_widths: tuple[int, ...] = (1, 2, 3)
    # Steps at unknown locations have an additional variance, that of 1{chi > u} over u. This share of it is added for
    # bumps as well, because a peak may be sharper than the bump [inputs: peaks].
    bump_sharpness: float = 0.25
    # Prior variances of the heights of change points, over v, equally probable [inputs: jumps, peaks and smooth
    # curves].
    change_point_variances: tuple[float, ...] = (0.15, 1.0)
    # Largest prior variance of these heights, over the variance of outcomes about f. If the bounds are much wider than
    # the variation of the outcomes, v is much larger than the variance of the curve [outcomes: wide bounds].
    most_change_point_variance: float = 16.0

    # ---- local_misfit.py

    # Largest number of numerical inputs with this test [with three, whose kernels are few, it widened intervals of sums
    # of three curves by 1.8, although they covered 0.97 of the curve].
    most_misfit_sides: int = 2
    # Lengths of the regions in which a deviation from the models is sought, over the sides of the box, with one and
    # with several numerical sides; 0 for single bins. A region that is too long or too short by a share p finds p less
    # of the squared height over the noise, and twice as many regions reduce the log evidence by 0.7 [fit].
    misfit_widths: tuple[float, ...] = (0.0, 0.05, 0.07, 0.1, 0.14, 0.2)
    misfit_widths_of_several: tuple[float, ...] = (0.0, 0.1, 0.2)
    # Distance between the starts of neighbouring slabs, over the side of the box [fit].
    misfit_slabs: float = 0.05
    # Probability of the smoothest kernels in the alternative, in which the curve deviates from the models; and prior
    # variance of the height of a deviation over that of curves [fit: with 0.5, and with the two variances of change
    # points, 1 to 2 of 8 plateaus are found instead of 4].
    misfit_smoothest: float = 0.9
    misfit_variance: float = 0.15
    # Probability of each of several deviations once the evidence of one is large [fit].
    misfit_share: float = 0.3

    # ---- filter.py and strategy.py: planning

    # Largest number of steps of the solver. With very many records it stops there before it reaches the gap
    # [bayes_inputs: seconds].
    steps: int = 200
    # Relative gap and number of steps of the rough strategy with which the widths of clipping intervals are compared.
    # After as many steps any strategy should be better than B = I; if it is not, B = I is used [bayes_inputs: seconds,
    # 10^6 people].
    rough_gap: float = 0.1
    rough_steps: int = 30
    # Strategies are planned during each release. The solver therefore stops at ``looser`` times the argument ``gap``,
    # or at ``loosest`` if that is smaller [bayes_inputs: seconds].
    looser: float = 30
    loosest: float = 0.3
    # The solver also stops when no strategy could reduce the risk after the stage by more than this share
    # [bayes_inputs: seconds, 10^6 people].
    saved_risk: float = 0.002
    # Models are no longer active once the probability of their noise variance, over that of the likeliest one, is below
    # this [groups].
    ruled_out: float = 1e-3
    # Smallest weight in plans, over the prior weight, of curves that other plans would not reveal
    # (``always_planned_for``); and the probability below which plans no longer include them [dates, groups].
    planned_for: float = 0.03
    given_up: float = 1e-6
    # Smallest weight of a family of kernels for which strategies are planned; and of a kernel in the posterior that
    # allows for plateaus, over the largest one [inputs; bayes_inputs: seconds].
    least_weight: float = 0.02
    # ``noise_floor`` times the mean variance of the sums is added to their independent noise. Directions are kept if
    # their eigenvalue in the covariance of the sums, in units of this noise, is at least ``kept_eigenvalue``
    # [bayes_inputs: seconds].
    kept_eigenvalue: float = 1e-3
    noise_floor: float = 1e-3


TUNING = Tuning()
"""The constants with which releases are made, and with which their posteriors are computed."""
