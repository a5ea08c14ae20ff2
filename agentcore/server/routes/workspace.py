"""The route for names of files in the workspace, for messages that mention them."""

import asyncio
from typing import Annotated

from pydantic import BaseModel, Field

from agentcore.encoding import to_json
from agentcore.server.body_models import StrictModel
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute


class FilesQuery(StrictModel):
    """Which files are wanted."""

    q: Annotated[str, Field(max_length=200, description="Letters that stand in the path in this order.")] = ""
    limit: Annotated[int, Field(ge=1, le=100)] = 20


class NamedFile(BaseModel, defer_build=True):
    """A file or folder, by its path as tools take it; that of a folder ends with a slash."""

    path: str
    isFolder: bool  # noqa: N815 - the name on the wire


class NamedFiles(BaseModel, defer_build=True):
    """Files, the best first; `isCut` when the workspace has more than are looked at."""

    files: list[NamedFile]
    isCut: bool  # noqa: N815 - the name on the wire


async def find_files(exchange: Exchange) -> Answer:
    """Send the files that match the query best."""
    query: FilesQuery = exchange.query
    found, is_cut = await asyncio.to_thread(exchange.core.workspace_files.find_files, query.q, query.limit)
    files = [{"path": each.path, "isFolder": each.is_folder} for each in found]
    return Answer(to_json({"files": files, "isCut": is_cut}))


ROUTES = (
    ServerRoute(
        "GET",
        "/api/workspace/files",
        find_files,
        "Files and folders of the workspace by a few letters, the best first; without what .gitignore files name and "
        "what is protected.",
        query=FilesQuery,
        answer=NamedFiles,
    ),
)
