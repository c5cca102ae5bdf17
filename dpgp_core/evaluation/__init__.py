"""Quality of releases: errors, cross-validation, comparison of mechanisms on held-out records, and lower bounds."""
