"""The interfaces of other packages, implemented with symgrad's engine."""
