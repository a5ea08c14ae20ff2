"""Finds the views of tools by their addresses at their own origin."""

import hmac
import secrets
from collections.abc import Iterator

import pydantic_core

from agentcore.api import ToolDefinition, ToolView
from agentcore.core.modules.tool_registry import ToolRegistry

FRAME_PATH = "/views/frame/"
DOCUMENT_PATH = "/views/document/"
"""Prefixes of the paths of a view's frame and of its document; the view's id follows."""


class ToolViews:
    """Finds the views of tools by their addresses, which cannot be guessed and are valid until the process ends.

    A view is a document of a module in the server: tools on foreign machines cannot add one to the page.

    Args:
        registry: The tools.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._key = secrets.token_bytes(32)
        self._found: tuple[int, dict[str, ToolView]] = (-1, {})

    def path_of(self, definition: ToolDefinition) -> str | None:
        """Return the path of the frame that shows a tool's view; None: it has none."""
        view = definition.view
        return FRAME_PATH + self._view_id(definition.name, view) if isinstance(view, ToolView) else None

    def find_view(self, view_id: str) -> ToolView | None:
        """Return the view with an id; None: no tool that is offered now has it."""
        version, views = self._found
        if version != self._registry.version:
            version = self._registry.version
            views = dict(self._iterate_views())
            self._found = version, views
        return views.get(view_id)

    def _iterate_views(self) -> Iterator[tuple[str, ToolView]]:
        for name, tool in self._registry.own.items():
            if isinstance(tool.definition.view, ToolView):
                yield self._view_id(name, tool.definition.view), tool.definition.view

    def _view_id(self, tool: str, view: ToolView) -> str:
        # another document or policy gets another address, so that no frame shows one under the other's address
        return hmac.new(self._key, pydantic_core.to_json((tool, view)), "sha256").hexdigest()
