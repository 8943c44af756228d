"""Tensor functions of the static and the eager API, written as plain NumPy functions.

The engine differentiates them as it does a user's own: nothing here knows of derivatives.
"""
