"""Where a function exceeds a level, seen through released paths."""
