"""Measure, then map: integers plus exact discrete noise leave the machine, all else is computed from them."""

from .discrete import Bits, discrete_gaussian, discrete_laplace, exponential_mechanism, permute_and_flip, system_bits
from .measurement import CellCounts, LaplaceMeasurement, Measurement
from .noise import GaussianNoise, LaplaceNoise
from .statistics import Stage, Statistics
from .statistics_file import statistics_from_files, statistics_to_files

__all__ = [
    "Bits",
    "CellCounts",
    "GaussianNoise",
    "LaplaceMeasurement",
    "LaplaceNoise",
    "Measurement",
    "Stage",
    "Statistics",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential_mechanism",
    "permute_and_flip",
    "statistics_from_files",
    "statistics_to_files",
    "system_bits",
]
