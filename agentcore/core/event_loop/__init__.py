"""Watching the event loop: its clock, who holds it, and the process that ends a server that is held for good."""
