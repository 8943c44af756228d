"""Rows of arrays: each as a form, whose elements loops compute one by one."""
