"""What people see of a change of a file in MCP clients that show views: the difference, line by line."""

from pathlib import Path

DIFF_VIEW = Path(__file__).with_name("diff_view.html").read_text("utf-8")
"""A document that is whole in itself; it gets what the tool gave by messages of MCP Apps, revision 2026-01-26."""
