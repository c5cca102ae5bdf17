"""The command line of a benchmark: its docstring is what `--help` says."""

from __future__ import annotations

import argparse


def options_of(docstring: str | None) -> argparse.ArgumentParser:
    """A parser without options yet."""
    return argparse.ArgumentParser(
        prog="python -m benchmarks NAME",
        description=docstring,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
