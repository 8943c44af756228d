"""Analyses of functions of the IR that all stages share: aliases, access regions, affine integers, exceptions."""
