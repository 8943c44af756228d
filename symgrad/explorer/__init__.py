"""The explorer: a page with an editor, served on the loopback interface, that shows the gradient of the edited function."""
