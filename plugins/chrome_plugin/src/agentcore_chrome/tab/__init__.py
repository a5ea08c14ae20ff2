"""One tab: the actions on its page, and reading from it."""
