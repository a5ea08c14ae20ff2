"""Credentials: page sessions, keys of clients and hosts, one-time codes, secrets."""
