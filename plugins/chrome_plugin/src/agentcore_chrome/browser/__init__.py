"""Browsers: launching or attaching to them, checking their connections, and closing them."""
