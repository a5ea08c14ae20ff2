"""Approval rules: the kinds of criteria, and the facts about a call that they check."""
