"""The tools of the two modules, `chrome` and `browser`."""
