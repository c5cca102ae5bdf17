"""Strategies: the measurements, or the noise, of least error of the released curve."""
