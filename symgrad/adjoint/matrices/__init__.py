"""Many seeds at once: the backward half with one more leading axis, and the rows of Jacobians."""
