from __future__ import annotations

import random
import secrets
from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What benchmarks print is checked by `make test-all`; `make test` need not even import them."""
    return True if config.option.markexpr == "not full" and collection_path.suffix == ".py" else None


@pytest.fixture
def same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real releases draw the same bits in every run."""
    monkeypatch.setattr(secrets, "token_bytes", random.Random(4).randbytes)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/benchmarks/"):
            item.add_marker(pytest.mark.full)
