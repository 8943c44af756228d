"""Analyses for the adjoint: activity, aliasing, access regions, extents, path conditions."""
