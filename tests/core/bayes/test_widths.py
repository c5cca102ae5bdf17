from dpgp_core.bayes.widths import widest


def test_plans_take_the_widest_of_nearly_equal_risks():
    assert widest([1.0, 1.05, 1.2], 0.05) == 1
    assert widest([1.0, 1.2, 1.0], 0.0) == 2
    assert widest([1.0, 2.0, 2.0], 0.5) == 0
