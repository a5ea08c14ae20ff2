"""Messages of a client to the chat: the request, a client tool's result, the user's answer."""

import re
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError

from agentcore.chat.chat_limits import ATTACHMENTS, CLIENT_TOOLS
from agentcore.chat.client_tools import check_schemas
from agentcore.errors import ToolError
from agentcore.tool_formats.formats import LoweredSchema

TOOL_NAME = r"^[a-zA-Z0-9_-]{1,64}$"
_RESULT = re.compile(
    r"\A(?:浏览器工具 (?P<zh>[a-zA-Z0-9_-]{1,64}) 执行结果|Browser tool (?P<en>[a-zA-Z0-9_-]{1,64}) result)[:：] ?"
    r"(?P<result>.+)\Z",
    re.DOTALL,
)


class _ClientModel(BaseModel, defer_build=True):
    """A format of others: what is not known is ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class PageElement(_ClientModel):
    """One element of a page, by its id."""

    id: str
    desc: str = ""


class PageInfo(_ClientModel):
    """The page that the person looks at."""

    url: str | None = None
    title: str | None = None
    elements: list[PageElement] = []
    selectedText: str | None = None  # noqa: N815 - the name on the wire


class ClientTool(_ClientModel):
    """A tool that runs in the client."""

    name: Annotated[str, Field(pattern=TOOL_NAME)]
    description: str = ""
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    readOnly: Annotated[  # noqa: N815 - the name on the wire
        StrictBool, Field(description="Whether it changes nothing and sends nothing: `ask_writes` lets it pass.")
    ] = False

    @cached_property
    def schema(self) -> LoweredSchema:  # type: ignore[override]
        """The schema of the parameters, which can be lowered to each provider's dialect."""
        return LoweredSchema(self.parameters)


def _check_tools(tools: list[ClientTool]) -> list[ClientTool]:
    check_schemas((tool.name, tool.parameters) for tool in tools)
    return tools


ClientTools = Annotated[list[ClientTool], Field(max_length=CLIENT_TOOLS), AfterValidator(_check_tools)]


Attachments = Annotated[
    tuple[Annotated[str, Field(max_length=64)], ...],
    Field(max_length=ATTACHMENTS, description="Ids of artifacts, as `POST /api/artifacts` gives them."),
]


class ChatBody(_ClientModel):
    """One message of a client."""

    message: Annotated[str, Field(description="Text; a result of a client tool; or `{toolId, approved}`.")]
    role: Literal["user", "function"] = "user"
    model: Annotated[str | None, Field(max_length=200, description="`provider:model`, or a name of app.json.")] = None
    agent_id: Annotated[str, Field(max_length=64)] = "default"
    session_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    user_id: Annotated[str, Field(max_length=256)] = ""
    toolId: Annotated[  # noqa: N815 - the name on the wire
        str | None, Field(max_length=64, description="The call whose result the message is.")
    ] = None
    current_page_info: PageInfo | None = None
    browser_tools: ClientTools | None = None
    attachments: Attachments = ()


class CallAnswer(_ClientModel):
    """A person's answer to one call."""

    toolId: str  # noqa: N815 - the name on the wire
    approved: StrictBool


class ClientResult(NamedTuple):
    """The result of a tool that a client ran: the tool, and the result, usually JSON text."""

    tool_name: str
    result: str


def read_answer(message: str) -> CallAnswer:
    """Parse a user's answer to a call.

    Raises:
        ToolError: `invalid_message`.
    """
    try:
        return CallAnswer.model_validate_json(message)
    except ValidationError:
        example = '{"toolId": "…", "approved": true}'
        raise ToolError("invalid_message", f"with role function, the message must be {example}") from None


def read_client_result(message: str) -> ClientResult | None:
    """Parse the result of a client tool, in either language's form; None if it is an ordinary message."""
    match = _RESULT.match(message)
    if match is None:
        return None
    return ClientResult(match["zh"] or match["en"], match["result"])
