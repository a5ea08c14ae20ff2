"""The view of a file change in MCP clients that support views: a line-by-line diff."""

from pathlib import Path

DIFF_VIEW = Path(__file__).with_name("diff_view.html").read_text("utf-8")
"""A self-contained HTML document; it receives the tool result by MCP Apps messages, revision 2026-01-26."""
