"""The rows of the catalogue, and what they say of kernels and numbers of records."""

import re

from dpgp_core.kernels import KERNELS
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.mechanisms.base import ANY_ROWS, EXACT_ROWS, FACTORED_ROWS
from dpgp_core.mechanisms.catalogue import KERNEL_NAMES


def test_names_of_kernels_make_them():
    assert tuple(KERNEL_NAMES.values()) == KERNELS
    for name, kernel in KERNEL_NAMES.items():
        assert kernel.__name__ == name


def test_bayes_cloaking_takes_millions_of_rows():
    bayes = CATALOGUE["bayes"]
    assert [bayes.kind.rows_for(inputs) for inputs in (1, 3, 4)] == [ANY_ROWS, ANY_ROWS, EXACT_ROWS]
    assert CATALOGUE["inducing"].kind.rows_for(1) == CATALOGUE["inducing"].kind.rows_for(10) == EXACT_ROWS


def test_ids_fit_addresses_and_row_limits_are_known():
    for name, entry in CATALOGUE.items():
        assert re.fullmatch("[a-z_]+", name)
        assert entry.kind.max_rows in (EXACT_ROWS, FACTORED_ROWS, ANY_ROWS)
        assert set(entry.kind.kernel_names) <= set(KERNEL_NAMES)
        assert not (entry.kind.uses_cells and entry.kind.automatic)
