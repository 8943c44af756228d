"""Tapes in kernels, and effects that wait until the kernel has run."""
