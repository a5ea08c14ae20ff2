"""`ServerBlock`: the configuration of a server in app.json, in the format that MCP clients share."""

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, ConfigDict, model_validator

from agentcore.api import CREDENTIALS, BaseModel, Effect, Field, SandboxMode, SecretStr

CALL_SECONDS = 120.0
_LONGEST_SECONDS = 3600.0
_OF_OTHER_CLIENTS = (
    "alwaysAllow",
    "autoApprove",
    "description",
    "disabled",
    "enabled",
    "icon",
    "name",
    "timeout",
    "toolTimeout",
    "trust",
)
"""Keys that other clients write into blocks and that agentcore ignores; some of them would loosen approvals."""


def _check_home_entry(entry: str) -> str:
    is_below = entry.startswith("~/") and all(part not in ("", ".", "..") for part in entry[2:].split("/"))
    if entry not in CREDENTIALS and not is_below:
        raise ValueError(f"give one of {', '.join(CREDENTIALS)}, or a path such as `~/.config/tool`")
    return entry


HomeEntry = Annotated[str, AfterValidator(_check_home_entry)]
_OFFERED = ("includeTools", "enabledTools", "enabled_tools", "available_tools")
_HIDDEN = ("excludeTools", "disabledTools", "disabled_tools")
"""Keys by which other clients offer only some tools of a server, or leave some out."""

ServerEffect = Literal["read", "write", "egress", "execute", "dangerous"]


_TRANSPORTS = {"streamablehttp": "streamable-http", "httpstream": "streamable-http", "streaming": "streamable-http"}
"""Spellings of other clients, in lower case and without separators."""


def _read_transport(value: object) -> object:
    """Read the name of a transport in any spelling: `streamableHttp`, `Streamable HTTP`, `STDIO`."""
    if not isinstance(value, str):
        return value
    plain = value.lower().replace("-", "").replace("_", "").replace(" ", "")
    return _TRANSPORTS.get(plain, plain)


class LoginSettings(BaseModel, defer_build=True):
    """How a person logs in at a server; all of it is for servers that want something special there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    client_id: Annotated[
        str | None,
        Field(
            min_length=1,
            description="What agentcore is called there, where you have registered it yourself; an `https` address is "
            "that of a client's metadata. Left out, it registers itself.",
        ),
    ] = None
    client_secret: Annotated[SecretStr | None, Field(description="The secret that belongs to `client_id`.")] = None
    port: Annotated[
        int | None,
        Field(
            ge=1,
            le=65535,
            description="Where the browser comes back to on this machine, if that had to be registered: it is "
            "`http://127.0.0.1:PORT/callback`. Left out, any free port.",
        ),
    ] = None
    hosts: Annotated[
        tuple[str, ...],
        Field(description="Hosts in networks of your own at which one logs in, beside the server's: `sso.corp`."),
    ] = ()

    @property
    def client_metadata_url(self) -> str | None:
        """The URL of the client's metadata if `client_id` is one; None for other ids."""
        is_address = self.client_id is not None and self.client_id.startswith("https://")
        return self.client_id if is_address else None


class AgentcoreOptions(BaseModel, defer_build=True):
    """What agentcore is to make of a server; stands in its block, which stays valid for other clients."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prefix: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9_-]{1,32}$",
            description="What the names of its tools begin with, before `_`; left out, the key of the block.",
        ),
    ] = None
    tools: Annotated[
        tuple[str, ...],
        Field(description="Patterns of the tools that are offered, by the server's own names; `!pattern` leaves out."),
    ] = ("*",)
    effects: Annotated[
        dict[str, tuple[ServerEffect, ...]],
        Field(
            default_factory=dict,
            description="What tools may do, by patterns of the server's own names; the first that fits counts. "
            "Without one it is `execute`.",
        ),
    ]
    trust_annotations: Annotated[
        bool, Field(description="Whether what the server says of its tools' effects is believed.")
    ] = False
    instructions: Annotated[
        bool, Field(description="Whether models are told the server's own instructions, once you have seen them.")
    ] = False
    sampling: Annotated[
        bool,
        Field(
            description="Whether the server may have the chat's model write texts for it; each time you see first what "
            "the model is told."
        ),
    ] = False
    sandbox: Annotated[
        SandboxMode,
        Field(description="Whether a command is confined: `prefer` where bubblewrap works, `require` always."),
    ] = "prefer"
    writable: Annotated[
        tuple[str, ...],
        Field(description="Folders that a command may write besides the workspace, in the sandbox: `~/notes`."),
    ] = ()
    readable: Annotated[
        tuple[str, ...],
        Field(description="Folders and files in `/tmp` and the like that a command sees in the sandbox: `/tmp/db`."),
    ] = ()
    roots: Annotated[
        tuple[str, ...] | None,
        Field(
            description="Folders that a command is told to work on (roots of MCP). Left out, the folders that its "
            "block names, and those of the workspace."
        ),
    ] = None
    home: Annotated[
        tuple[HomeEntry, ...],
        Field(
            description="What a command sees of your home folder in its own, read-only, in the sandbox: the log-ins of "
            "`aws`, `azure`, `docker`, `gcloud`, `gh`, `glab` and `kube`, or a path such as `~/.config/tool`."
        ),
    ] = ()
    login: Annotated[LoginSettings, Field(description="How you log in at a server at an address.")] = LoginSettings()
    timeout_s: Annotated[
        float, Field(gt=0, le=_LONGEST_SECONDS, description="Longest time of one call, in seconds.")
    ] = CALL_SECONDS


class ServerBlock(BaseModel, defer_build=True):
    """One server: a command that is started here, or an address."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    command: Annotated[str | None, Field(min_length=1, description="The program, on PATH or an absolute path.")] = None
    args: Annotated[tuple[str, ...], Field(description="Its arguments.")] = ()
    env: Annotated[
        dict[str, SecretStr],
        Field(
            default_factory=dict,
            validation_alias=AliasChoices("env", "environment"),
            description="Variables that it gets beside the harmless ones of agentcore's own.",
        ),
    ]
    cwd: Annotated[str | None, Field(description="Its working folder; left out, the first workspace root.")] = None
    url: Annotated[
        str | None,
        Field(
            validation_alias=AliasChoices("url", "serverUrl", "httpUrl"), description="Its address, `http` or `https`."
        ),
    ] = None
    headers: Annotated[
        dict[str, SecretStr], Field(default_factory=dict, description="Headers of each request to the address.")
    ]
    type: Annotated[
        Literal["stdio", "http", "streamable-http", "sse", "local", "remote"] | None,
        BeforeValidator(_read_transport),
        Field(
            validation_alias=AliasChoices("type", "transport", "transportType"),
            description="How it is spoken to; left out, `stdio` for a command and `http` for an address.",
        ),
    ] = None
    agentcore: Annotated[AgentcoreOptions, Field(description="What agentcore is to make of it.")] = AgentcoreOptions(
        effects={}
    )

    @model_validator(mode="before")
    @classmethod
    def _without_what_others_write(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        block = {name: value for name, value in given.items() if name not in _OF_OTHER_CLIENTS}
        offered, hidden = (_take_names(block, keys) for keys in (_OFFERED, _HIDDEN))
        ours = block.get("agentcore", {})
        if (offered is not None or hidden) and isinstance(ours, dict) and "tools" not in ours:
            requested = ["*"] if offered is None else offered or ["!*"]
            block["agentcore"] = {**ours, "tools": [*requested, *(f"!{name}" for name in hidden or ())]}
        command = block.get("command")
        if isinstance(command, list) and command:
            # as opencode writes it: the program and its arguments in one list
            block["command"], *arguments = command
            block["args"] = [*arguments, *block.get("args", ())]
        return block

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has either a command, which is started here, or a url")
        if self.url is not None and not _is_address(self.url):
            raise ValueError("url must be a whole address that begins with http:// or https://")
        if self.url is not None and (self.args or self.env or self.cwd):
            raise ValueError("args, env and cwd are for a command; a server with a url takes headers")
        ours = self.agentcore
        if self.url is not None and (ours.writable or ours.readable or ours.roots or ours.home):
            raise ValueError("writable, readable, roots and home are for a command")
        if self.command is not None and self.headers:
            raise ValueError("headers are for a url; a command takes env")
        return self

    def find_effects(self, tool: str) -> tuple[Effect, ...] | None:
        """Return the configured effects of a tool, by the server's own name; None if there are none."""
        return next(
            (effects for pattern, effects in self.agentcore.effects.items() if matches_pattern(pattern, tool)), None
        )

    def offers_tool(self, tool: str) -> bool:
        """Return True if a tool is offered, by the server's own name."""
        patterns = self.agentcore.tools
        left_out = any(matches_pattern(pattern[1:], tool) for pattern in patterns if pattern.startswith("!"))
        requested = [pattern for pattern in patterns if not pattern.startswith("!")]
        return not left_out and (not requested or any(matches_pattern(pattern, tool) for pattern in requested))


def _take_names(block: dict[str, Any], keys: tuple[str, ...]) -> list[str] | None:
    """Remove the lists of names under these keys from a block, and return the first; None if there is none."""
    found = [block.pop(key) for key in keys if isinstance(block.get(key), list)]
    return found[0] if found else None


def _is_address(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def matches_pattern(pattern: str, name: str) -> bool:
    """Return True if a name matches a pattern, in which `*` matches any text."""
    first, *others = pattern.split("*")
    if not others:
        return name == first
    *between, last = others
    if not name.startswith(first) or len(name) < len(first) + len(last) or not name.endswith(last):
        return False
    place = len(first)
    end = len(name) - len(last)
    for part in between:
        found = name.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
