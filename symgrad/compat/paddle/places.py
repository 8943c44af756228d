"""Devices: there is one, the processor."""


class CPUPlace:
    """The place where everything runs."""

    def __repr__(self) -> str:
        return "Place(cpu)"
