"""Figures on matplotlib for releases, the command line and the dashboard. It is imported when a figure is made."""
