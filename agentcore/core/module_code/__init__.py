"""Runs module code within limits, and converts its results into plain values, once."""
