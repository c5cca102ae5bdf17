"""How a table is written: which separator, which decimal mark."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a table is written. Declared, never guessed: 1,234 is a thousand to some and about one to others.

    Attributes:
        name: "comma-separated" and the like, in messages.
        delimiter: between fields.
        decimal: the decimal mark, "." or ",".
    """

    name: str
    delimiter: str
    decimal: str


DIALECTS = {
    "comma": Dialect(name="comma-separated", delimiter=",", decimal="."),
    "semicolon": Dialect(name="semicolon-separated", delimiter=";", decimal=","),
    "tab": Dialect(name="tab-separated", delimiter="\t", decimal="."),
}
COMMA = DIALECTS["comma"]


def dialect_of(name: str) -> Dialect:
    """One of ``DIALECTS`` by its name. Raises ValueError for another."""
    if name not in DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(map(repr, DIALECTS))}, got {name!r}")
    return DIALECTS[name]
