"""Strict, one-time reading of what a module declares: hooks, attributes, tools, component. Light."""
