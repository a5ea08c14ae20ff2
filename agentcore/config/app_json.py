"""Typed models of app.json. Reading it, and the origins of values, are in `loading.py`."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, Strict, StringConstraints, create_model, field_validator
from pydantic.config import JsonDict

from agentcore.api.config_model import ConfigModel, ModuleNames
from agentcore.approval_rules.criteria import KINDS
from agentcore.approval_rules.decisions import ApprovalMode, DecisionKind
from agentcore.config.host_config import HostConfig, check_claims
from agentcore.files.path_text import PathText
from agentcore.limits import (
    CALL_SECONDS,
    CALLS_IN_FLIGHT,
    CLIENT_CALLS_IN_FLIGHT,
    CLIENT_TOOLS_LISTED,
    LOOP_BLOCKED_END_SECONDS,
    MCP_TOOLS_WAIT_SECONDS,
    RECORD_BYTES,
    RECORD_DAYS,
    RESULT_BYTES,
    STOP_GRACE_SECONDS,
)

HARMLESS: JsonDict = {"x-harmless": True}
"""Marks a setting, in `json_schema_extra`, as harmless; changes of any other setting are policy and need confirmation.

Modules mark their own settings the same way; `SettingsSchema` says what the mark relies on.
"""

SERVER_PORT = 8765
"""The page's port unless app.json says otherwise."""

OWN_EXTENSION = "nknedgckhghbjmpccimgigjfcgccdocj"
"""The id of agentcore's browser extension, derived from the public key in its manifest."""


HostName = Annotated[str, StringConstraints(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$")]
PlaceName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
ClientName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$")]
ExtensionId = Annotated[str, StringConstraints(pattern=r"^[a-p]{32}$")]
Port = Annotated[int, Field(ge=0, le=65_535)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
HostNames = Annotated[tuple[HostName, ...], Strict(False)]
ExtensionIds = Annotated[tuple[ExtensionId, ...], Strict(False)]
PathTexts = Annotated[tuple[PathText, ...], Strict(False)]
Texts = Annotated[tuple[str, ...], Strict(False)]
ListedTools = Literal["all"] | Annotated[int, Field(ge=1, le=1000)] | Texts


class WorkspaceConfig(ConfigModel):
    """The folders that tools may touch."""

    roots: Annotated[
        PathTexts,
        Field(
            json_schema_extra={"minItems": 1},
            description="Folders that tools may touch; relative to app.json's folder, `~` is the home folder. The "
            "first is where relative paths begin. The default is made when it is missing, others must exist.",
        ),
    ] = ("workspace",)
    protected: Annotated[
        Texts,
        Field(
            description="Further files inside the roots whose change always needs a person, as patterns like those of "
            ".gitignore.",
        ),
    ] = ()

    @field_validator("roots")
    @classmethod
    def _at_least_one(cls, roots: tuple[str, ...]) -> tuple[str, ...]:
        if not roots:
            raise ValueError("expected at least one folder; without the key it is `workspace/`")
        return roots


class ServerConfig(ConfigModel):
    """Where the server listens."""

    host: Annotated[
        str,
        StringConstraints(pattern=r"^[0-9A-Za-z.:_-]+$"),
        Field(description="Address to bind. Other than loopback needs --allow-remote."),
    ] = "127.0.0.1"
    port: Annotated[Port, Field(description="Port of the page and the API; 0: any that is free.")] = SERVER_PORT
    approval_port: Annotated[
        Port | None,
        Field(
            description="Port of the approval view's own origin; null: any that is free, the same one as last time "
            "where it still is."
        ),
    ] = None
    apps_port: Annotated[
        Port | None,
        Field(
            description="Port of the origin of tools' views; null: any that is free, the same one as last time where "
            "it still is."
        ),
    ] = None
    hosts: Annotated[
        HostNames,
        Field(
            description="Further values of the Host header to accept, `name` or `name:port`, as behind a proxy.",
        ),
    ] = ()
    approval_hosts: Annotated[
        HostNames,
        Field(
            description="The same for the approval view, in the order of `hosts`: what a proxy calls its origin.",
        ),
    ] = ()
    apps_hosts: Annotated[
        HostNames,
        Field(
            description="The same for tools' views, in the order of `hosts`; no name may be one of the page's.",
        ),
    ] = ()
    extensions: Annotated[
        ExtensionIds,
        Field(
            description="Ids of browser extensions that may ask, each with the key that a person paired it with, on "
            "the routes of chats and approvals. The default is agentcore's own; `[]`: none.",
        ),
    ] = (OWN_EXTENSION,)


def _with_criteria(model: type[ConfigModel]) -> type[ConfigModel]:
    """Return the model with an additional field for each kind of criterion."""
    fields: dict[str, Any] = {
        kind.key: (Annotated[kind.field, Field(description=kind.description)], kind.absent) for kind in KINDS
    }
    return create_model(model.__name__, __base__=model, __module__=__name__, __doc__=model.__doc__, **fields)


@_with_criteria
class ApprovalRule(ConfigModel):
    """What becomes of calls that it means; all that it says of a call has to be so."""

    decision: Annotated[
        DecisionKind,
        Field(description="What becomes of the call: deny beats ask, ask beats allow."),
    ]
    reason: Annotated[str, Field(max_length=500, description="Told to whoever is asked or refused.")] = ""

    @property
    def criteria(self) -> dict[str, Any]:
        """The rule's criteria: patterns by the key of their kind."""
        return {kind.key: said for kind in KINDS if (said := getattr(self, kind.key)) != kind.absent}


class ApprovalsConfig(ConfigModel):
    """Which calls a person is asked about."""

    mode: Annotated[
        ApprovalMode,
        Field(
            description="`ask`: every call of a model; `ask_writes`: all but those that only read; "
            "`accept_edits`: all but those that only read or change files of the workspace; `plan`: reading runs, "
            "reading from the network is asked about, everything else is refused; `allow`: none but "
            "those that touch protected files; `deny`: every call of a model is refused."
        ),
    ] = "ask"
    rules: Annotated[
        Annotated[tuple[ApprovalRule, ...], Strict(False)],
        Field(description="Rules by tool and argument; deny beats ask beats allow."),
    ] = ()
    api_token: Annotated[
        bool,
        Field(
            description="Let the API token approve calls, for scripts and tests. Tools that execute then run only in "
            "the sandbox."
        ),
    ] = False


class ClientConfig(ConfigModel):
    """What one client that calls tools over MCP may do."""

    tools: Annotated[
        Texts, Field(description="Patterns of the tools that it may call; `!pattern` leaves some out.")
    ] = ("*",)
    mode: Annotated[
        ApprovalMode | None, Field(description="What becomes of its calls that no rule means; else approvals.mode.")
    ] = None
    calls_in_flight: Annotated[
        int, Field(ge=1, le=CALLS_IN_FLIGHT, description="Calls of it that run or wait at one time.")
    ] = CLIENT_CALLS_IN_FLIGHT
    listed: Annotated[
        ListedTools,
        Field(
            description="Which of these tools are listed: `all`, a number, or patterns; the others are found by "
            "`find_tools`."
        ),
    ] = CLIENT_TOOLS_LISTED
    tools_wait_s: Annotated[
        float,
        Field(
            ge=0,
            le=60,
            description="How long its list of tools waits for modules that are starting; clients that notice later "
            "changes of the list need no wait.",
        ),
    ] = MCP_TOOLS_WAIT_SECONDS


class LimitsConfig(ConfigModel):
    """Bounds of the host; times in seconds."""

    init_timeout: Annotated[Seconds, Field(description="For a module to get ready.")] = 30.0
    shutdown_timeout: Annotated[Seconds, Field(description="For a module to release everything.")] = 10.0
    stop_grace: Annotated[
        Seconds, Field(description="For running calls to end when their module or the server stops.")
    ] = STOP_GRACE_SECONDS
    call_timeout_max: Annotated[Seconds, Field(description="The longest time limit that a caller may ask for.")] = (
        CALL_SECONDS
    )
    loop_blocked_max: Annotated[
        float,
        Field(
            ge=1,
            le=3600,
            description="How long code of a module may hold the whole server, before the server is ended.",
        ),
    ] = LOOP_BLOCKED_END_SECONDS
    calls_in_flight: Annotated[int, Field(ge=1, le=4096, description="Calls that run or wait at one time.")] = (
        CALLS_IN_FLIGHT
    )
    result_bytes: Annotated[
        int, Field(ge=1024, le=1 << 28, description="Text or structured data of one result; more becomes an artifact.")
    ] = RESULT_BYTES
    record_bytes: Annotated[
        int,
        Field(ge=1 << 26, le=1 << 44, description="Size of the record of calls; its oldest rows are deleted."),
    ] = RECORD_BYTES
    record_days: Annotated[
        int, Field(ge=1, le=36_500, description="Age in days after which rows of the record are deleted.")
    ] = RECORD_DAYS


class AppDocument(ConfigModel):
    """The whole of app.json."""

    schema_: Annotated[
        str | None, Field(alias="$schema", description="JSON Schema of this file, for editors; see `config schema`.")
    ] = None
    modules: Annotated[
        ModuleNames, Field(description="Modules that are on, in this order; the first with a tool's name keeps it.")
    ] = ()
    modules_dir: Annotated[
        PathText,
        Field(
            description="Folder of local modules, NAME.py or NAME/; relative to app.json's folder.",
        ),
    ] = "modules"
    config: Annotated[
        dict[str, Any],
        Field(repr=False, description="Settings by module; those of modules that are not listed are ignored."),
    ] = {}
    workspace: Annotated[WorkspaceConfig, Field(description="The folders that tools may touch.")] = WorkspaceConfig()
    server: Annotated[ServerConfig, Field(description="Where the server listens.")] = ServerConfig()
    models: Annotated[Any, Field(repr=False, description="Models: names, endpoints, abilities.")] = {}
    providers: Annotated[Any, Field(repr=False, description="Providers of models: services, addresses, keys.")] = {}
    agents: Annotated[Any, Field(repr=False, description="Agents: instructions, tools, model.")] = {}
    approvals: Annotated[ApprovalsConfig, Field(description="Which calls a person is asked about.")] = ApprovalsConfig()
    clients: Annotated[
        dict[ClientName, ClientConfig],
        Field(description="Clients that call tools over MCP, by the names that they were connected with."),
    ] = {}
    hosts: Annotated[
        dict[PlaceName, HostConfig],
        Field(description="Where modules run that do not run in the server, by names of your own."),
    ] = {}
    limits: Annotated[LimitsConfig, Field(description="Bounds of the host.")] = LimitsConfig()
    locale: Annotated[
        Literal["en", "zh"],
        Field(json_schema_extra=HARMLESS, description="Language of what people read, and of prompts."),
    ] = "en"

    @field_validator("modules")
    @classmethod
    def _each_module_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(map(repr, twice))} listed more than once")
        return names

    @field_validator("hosts")
    @classmethod
    def _each_module_in_one_place(cls, hosts: dict[str, HostConfig]) -> dict[str, HostConfig]:
        check_claims(hosts)
        return hosts


def resolve_config_path(folder: Path, text: str) -> Path:
    """Resolve a path of app.json: relative to its folder, with `~` for a home folder."""
    return folder / Path(text).expanduser()
