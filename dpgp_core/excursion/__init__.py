"""Sets where a function exceeds a level, from released paths."""
