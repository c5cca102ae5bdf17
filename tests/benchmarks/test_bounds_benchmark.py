"""The table of bought bounds: its rows, and that few people are outside of them."""

import re

from benchmarks import bounds


def test_a_row_says_what_was_bought_and_what_it_costs():
    row = bounds.row("heights [cm]", 1000, 1.0, 1e-5, 1)
    cells = " | ".join(map(str, row.values()))
    said = r"heights \[cm\] \| 1000 \| (\S+) \.\.\. (\S+) \| .* \| (\S+) % \(at most (\S+)\) \| (\S+) \| (\S+)"
    found = re.fullmatch(said, cells)
    low, high, outside, most, error, ratio = (float(each) for each in found.groups())
    assert low < 140
    assert 190 < high <= 1000
    assert outside <= most <= 5
    assert 0 < error < 20
    assert 0.3 < ratio < 6


def test_every_table_fits_what_an_expert_declares():
    rng = bounds.np.random.default_rng(0)
    for table in bounds.TABLES.values():
        data = bounds.people(table, 2000, rng)
        assert data.clipped_count <= 5
