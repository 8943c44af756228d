"""Passes for kernels: on array statements, and on the loops that replace them."""
