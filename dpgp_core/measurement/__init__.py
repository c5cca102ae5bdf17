"""Measurements in integers with exact discrete noise, from which everything else in a release is computed."""
