"""The report: one page about one derivative, with both texts side by side, the remarks, the IR, the graph and a check."""
