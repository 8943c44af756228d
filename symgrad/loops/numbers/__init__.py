"""Scalars: each row of numbers -> ops that mean under numba what Python and NumPy mean."""
