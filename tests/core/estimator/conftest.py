import pytest

from tests.core.estimator.worlds import RECORDS, make


@pytest.fixture(scope="session")
def fitted():
    return make().fit(*RECORDS)


@pytest.fixture(scope="session", params=["outputs", "inputs and outputs"])
def either(request):
    """An estimator of each promise, fitted in a unit of the output that is not that of the model."""
    return make(protects=request.param, y_scale=2.0).fit(*RECORDS)
