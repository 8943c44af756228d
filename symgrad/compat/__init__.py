"""Interfaces of other packages, on the engine of this one."""
