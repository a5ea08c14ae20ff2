"""Arguments that several tools have, as models read of them, and how long tools may take."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from agentcore.api import DisplayRole, Field, known_to_models

LONG_SECONDS = 300.0
"""Time limit of tools that may have a whole tree to go through."""

COPY_SECONDS = 600.0
"""Time limit of a copy between machines: the longest that the server allows unless its settings say otherwise."""

Path = Annotated[
    str,
    Field(
        min_length=1,
        max_length=4096,
        description="Path relative to the first workspace root, or absolute inside any root.",
        json_schema_extra=known_to_models(),
    ),
]
Encoding = Annotated[
    str | None,
    Field(
        max_length=2000,
        description="Text encoding such as utf-8, gb18030, cp1252; left out, it is detected.",
        json_schema_extra=known_to_models(),
    ),
]
PathThere = Annotated[str, Field(min_length=1, max_length=4096)]
OnHost = Annotated[
    str | None,
    Field(
        max_length=100,
        description="Host, as `list_hosts` names it; left out, the server.",
        json_schema_extra=known_to_models("Left out: the server."),
    ),
]
Overwrite = Annotated[
    bool, Field(description="Replace a file that is there already.", json_schema_extra=known_to_models())
]
NoIgnore = Annotated[
    bool, Field(description="Take files that .gitignore leaves out, too.", json_schema_extra=known_to_models())
]

READING: Mapping[str, DisplayRole] = MappingProxyType(
    {
        "path": "path",
        "offset": "first_line",
        "limit": "line_count",
        "first_line": "first_line",
        "last_line": "last_line",
    }
)
"""What the arguments of reading mean to people who see a call."""
