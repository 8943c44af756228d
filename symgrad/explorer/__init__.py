"""The explorer: a page with an editor, served to this machine alone, that shows the gradient of what is being written."""
