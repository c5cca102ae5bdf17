"""What to measure, or where to put the noise, so that the released curve is best."""
