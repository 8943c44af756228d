"""Passes over stores, copies, tapes and cotangent buffers."""
