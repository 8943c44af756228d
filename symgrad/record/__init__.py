"""Recorded operations -> IR -> compiled functions: the common part of the static and the eager API.

An operation is a NumPy function with plain settings; the frontend lowers it, so shapes, dtypes and
derivatives are the engine's own.
"""
