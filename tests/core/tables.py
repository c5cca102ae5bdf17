"""Data sets made for the tests."""

from dpgp_core.data import Dataset

PUBLIC = {
    "name": "table",
    "x_names": ("x",),
    "x_units": ("m",),
    "y_name": "y",
    "y_unit": "kg",
    "privacy_unit": "one person",
    "source": "made for the tests",
    "licence": "MIT",
    "bounds_reason": "made for the tests",
}


def table(X, y, **public):
    """Records and what is public about them: of one input, unless told otherwise."""
    return Dataset(X=X, y=y, **{**PUBLIC, **public})
