"""Approvals that outlive the process."""
