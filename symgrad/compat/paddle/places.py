"""Devices: there is one, the processor."""


class CPUPlace:
    """The processor, on which everything runs."""

    def __repr__(self) -> str:
        return "Place(cpu)"
