import numpy as np
import pytest

from benchmarks import noise_design as benchmark
from dpgp_core.strategies.noise_design import design_noise


@pytest.fixture(scope="module")
def small():
    return np.random.default_rng(1).normal(size=(4, 12))


def test_the_table_has_its_rows(capsys):
    benchmark.main(["--steps", "3", "--seed", "5", "--starts", "2"])
    machine, matrix, header, _, *rows, note = capsys.readouterr().out.splitlines()
    assert "cores" in machine
    assert "numpy" in machine
    assert "(200, 287)" in matrix
    assert header.count("|") == rows[0].count("|") == 9
    starts = ["ours", "ours", "Algorithm 2, seed 5, 3 steps", "Algorithm 2, seed 6, 3 steps"]
    starts += ["Algorithm 2 as printed, seed 5, 3 steps", "Algorithm 2, literal"]
    assert [row.startswith(f"| {start}") for row, start in zip(rows, starts, strict=True)] == [True] * 6
    assert "extrapolated" not in rows[-1]
    assert "rescaling" in note


def test_vectorised_and_literal_gradients_agree(small):
    lambdas = np.random.default_rng(2).uniform(0.1, 0.9, 12)
    np.testing.assert_allclose(
        benchmark.gradient(lambdas, small), benchmark.literal_gradient(lambdas, small), rtol=1e-10
    )


def test_algorithm_2_finds_the_optimum_of_an_easy_problem(small):
    lambdas, _, converged = benchmark.algorithm_2(small, 20_000, np.random.default_rng(3))
    assert converged
    design = design_noise(small, "logdet", gap=1e-6)
    logdet, noise = benchmark.rescaled_quality(lambdas, small, design)
    assert logdet == pytest.approx(2 * np.linalg.slogdet(design.root)[1], abs=0.01)
    assert noise == pytest.approx(design.variance().mean(), rel=0.01)


def test_quality_of_our_own_weights_is_our_own_quality(small):
    design = design_noise(small, "logdet", gap=0.5)
    logdet, noise = benchmark.rescaled_quality(3 * design.lambdas, small, design)
    assert logdet == pytest.approx(2 * np.linalg.slogdet(design.root)[1], rel=1e-10)
    assert noise == pytest.approx(design.variance().mean(), rel=1e-10)


def test_weights_that_make_no_covariance_have_no_quality(small):
    assert benchmark.rescaled_quality(-np.ones(12), small, design_noise(small)) == (None, None)


def test_lambdas_of_the_listing_as_printed_turn_negative(small):
    lambdas, _, converged = benchmark.algorithm_2(small, 200, np.random.default_rng(3), smallest=-np.inf)
    assert not converged
    assert lambdas.min() < 0
