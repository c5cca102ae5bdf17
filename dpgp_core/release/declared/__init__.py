"""Public declarations that change units: logarithms of the output, degrees as kilometres."""
