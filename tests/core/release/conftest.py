import random
import secrets

import pytest


@pytest.fixture
def same_bits(monkeypatch):
    """Have the operating system's randomness begin with the same bits."""
    return lambda: monkeypatch.setattr(secrets, "token_bytes", random.Random(3).randbytes)
