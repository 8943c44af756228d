"""Where programs run: there is one place."""


class CPUPlace:
    """The place where everything runs."""

    def __repr__(self) -> str:
        return "Place(cpu)"
