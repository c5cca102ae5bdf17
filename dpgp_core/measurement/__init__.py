"""Measure, then map: integers plus exact discrete noise leave the machine, all else is computed from them."""
