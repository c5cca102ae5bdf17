"""Results of a long benchmark, one JSON line each as they come: started again, it computes only what is missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path


def keep(out: Path, key: str, numbers: Sequence[float]) -> None:
    """Append one result to the file."""
    with out.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"key": key, "numbers": list(numbers)}) + "\n")


def finished(out: Path) -> dict[str, list[float]]:
    """Results by key. A last line cut short by an interruption is dropped from the file.

    Raises:
        ValueError: the file holds something else.
    """
    if not out.exists():
        return {}
    text = out.read_text(encoding="utf-8")
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        out.write_text(text, encoding="utf-8")
    try:
        return {line["key"]: line["numbers"] for line in map(json.loads, text.splitlines())}
    except (json.JSONDecodeError, KeyError, TypeError):
        raise ValueError(f"{out} holds something else than results of this program; name another --out") from None
