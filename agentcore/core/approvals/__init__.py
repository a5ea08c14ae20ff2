"""Requests that wait for the user: calls, policy changes, pairings."""
