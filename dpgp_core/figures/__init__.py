"""Figures on matplotlib: what a release, the command line and the dashboard draw. Imported when a figure is made."""
