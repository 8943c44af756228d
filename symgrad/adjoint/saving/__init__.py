"""How the backward half obtains primal values: liveness, the save-or-recompute plan, tapes, checkpoints."""
