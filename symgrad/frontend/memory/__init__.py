"""Arrays as memory: subscripts that are read or stored to, views, strides, and the exceptions that these may raise."""
