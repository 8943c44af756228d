"""Derivatives of the solutions that SciPy's solvers return."""
