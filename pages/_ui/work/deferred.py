"""Libraries that only the server draws with, kept out of the memory of the processes that compute.

The process from which workers are forked imports this module first. Modules of pages can then be imported there as in
the server, although they name these libraries: each is loaded when something of it is used, which no task does.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

LIBRARIES = ("streamlit", "plotly.graph_objects")


class Deferred(ModuleType):
    """Stands for a library until something of it is used."""

    def __getattr__(self, name: str) -> Any:
        """Load the library, and return its attribute."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


for _library in LIBRARIES:
    sys.modules.setdefault(_library, Deferred(_library))
