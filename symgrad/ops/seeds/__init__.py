"""Rows applied to operands that have one more leading axis, for many seeds at once."""
