"""Persistent approvals."""
