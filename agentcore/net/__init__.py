"""Addresses that modules may contact: the shared URL policy, patterns of hosts and of URLs."""
