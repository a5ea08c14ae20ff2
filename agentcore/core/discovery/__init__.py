"""Finds the code of modules: entry points, local folders, requirements."""
