"""Readers of files of the user: journeys of the bicycle operator, prices of the land registry, and postcodes."""
