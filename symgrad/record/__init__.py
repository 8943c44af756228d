"""Recorded operations -> IR -> compiled functions: what the static and the eager API have in common.

An operation is a NumPy function with plain settings; the frontend lowers it, so shapes, dtypes and
derivatives are the engine's own.
"""
