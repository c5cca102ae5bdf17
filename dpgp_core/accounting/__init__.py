"""What a release spends: noise multipliers, losses and their composition, guarantees, the ledger."""
