"""What stands in ``emitted`` is text to compare with, not modules."""

collect_ignore_glob = ["emitted/*"]
