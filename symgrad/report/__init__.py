"""One derivative of one function as a page: the texts side by side, what the stages decided, the IR, the graph, a check."""
