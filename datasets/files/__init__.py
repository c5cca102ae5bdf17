"""Readers of the files that users have: the bicycle operator's journeys, the land registry's prices, postcodes."""
