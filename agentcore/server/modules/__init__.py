"""Modules over HTTP: their routes, WebSockets and descriptions, and enabling and disabling them."""
