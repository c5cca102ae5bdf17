"""Accounting of releases: noise multipliers, losses and their composition, guarantees, the ledger."""
