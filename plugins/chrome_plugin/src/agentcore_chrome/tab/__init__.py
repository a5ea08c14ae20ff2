"""One tab, and all that can be done to its page or read from it."""
