"""Watches the event loop: its clock, the code that blocks it, and the process that ends a blocked server."""
