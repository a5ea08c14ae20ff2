"""Settings of models and agents: `models` and `agents` of app.json, and the environment's keys."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError
from pydantic.config import JsonDict

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.chat.chat_limits import PROVIDER_SILENCE_SECONDS, STEPS, TURN_TOKENS
from agentcore.chat.model.connections import (
    Connection,
    ProviderConfig,
    ProviderId,
    StoredProvider,
    find_connections,
    service_named,
)
from agentcore.chat.model.providers import DEFAULT_PROVIDER, PROVIDERS, Provider, ProviderName, provider_and_model
from agentcore.chat.model.services import SERVICES
from agentcore.config.app_json import AppDocument
from agentcore.errors import ToolError
from agentcore.limits import MODEL_CHARS, MODEL_CHARS_MAX, MODEL_CHARS_MIN
from agentcore.tool_formats.dialects import Dialect

ToolCalling = Literal["native", "strict", "prompted"]
"""The way in which a model calls tools."""

Effort = Literal["minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks; each model accepts some of them."""


HostName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""The name of a host."""


SKILLS_PART = "skills"
"""Id of the part of the system message that explains skills; without it, there are none."""

SKILL_PART = "skill:"
"""Beginning of the ids of the parts with the single skills."""


class _Settings(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelConfig(_Settings):
    """One model of app.json's `models`, by the name that people use for it."""

    provider: Annotated[
        ProviderId | None,
        Field(description="Whose it is: a name of `providers` or a service; else by the name before a colon."),
    ] = None
    model: Annotated[str | None, Field(description="The provider's name of it; else the name here.")] = None
    base_url: Annotated[str | None, Field(description="Address of the API; else its provider's.")] = None
    api_key_env: Annotated[str | None, Field(description="The environment variable that holds the key.")] = None
    tools: Annotated[
        ToolCalling,
        Field(description="`prompted`: for a model that knows no tool calling; `strict`: it is held to the schemas."),
    ] = "native"
    images: Annotated[bool, Field(description="Whether it sees images.")] = True
    effort: Annotated[
        Effort | None, Field(description="How much it thinks before it answers; only for models that can be told so.")
    ] = None
    context_tokens: Annotated[
        int | None, Field(ge=1024, le=1_000_000_000, description="Size of its context; else as its provider says.")
    ] = None
    timeout_s: Annotated[float, Field(gt=0, le=3600, description="How long the provider may send nothing.")] = (
        PROVIDER_SILENCE_SECONDS
    )
    max_retries: Annotated[
        int,
        Field(ge=0, le=10, description="How often a refused request is sent again if the provider does not say when."),
    ] = 2


class AgentConfig(_Settings):
    """One agent of app.json's `agents`."""

    instructions: Annotated[str, Field(description="What the model is told first.")] = ""
    system_parts: Annotated[
        tuple[str, ...],
        Field(
            description="Patterns of the parts that its model is told before the conversation: `environment`, "
            "`module:NAME`, `folder:AGENTS.md`, `folder:CLAUDE.md`, `skills`, `skill:NAME`, `agent`, `date`; "
            "`!pattern` leaves some out."
        ),
    ] = ("*",)
    model: Annotated[str | None, Field(description="Its model, unless the request names one.")] = None
    tools: Annotated[
        tuple[str, ...], Field(description="Patterns of the tools it is offered; `!pattern` leaves some out.")
    ] = ("*",)
    mode: Annotated[
        ApprovalMode | None,
        Field(description="What becomes of its calls; else approvals.mode."),
    ] = None
    hosts: Annotated[
        tuple[HostName, ...],
        Field(
            max_length=20,
            description="Hosts on other machines; its calls go to the first that is connected, else to the first.",
        ),
    ] = ()
    result_chars: Annotated[
        int | None,
        Field(
            ge=MODEL_CHARS_MIN,
            le=MODEL_CHARS_MAX,
            description=f"What its model gets of one result, in characters; else {MODEL_CHARS:,}, or as the tool says.",
        ),
    ] = None
    max_steps: Annotated[int, Field(ge=1, le=1000, description="Requests to the model in one turn.")] = STEPS
    max_tokens: Annotated[int, Field(ge=1, description="Tokens of one turn.")] = TURN_TOKENS
    max_minutes: Annotated[
        int | None,
        Field(ge=1, le=10_000, description="Minutes of work in one turn, without those in which a question waits."),
    ] = None

    def offers_tool(self, tool: str) -> bool:
        """True if this agent is offered the tool; a pattern with `!` takes precedence over those without."""
        return _matches_patterns(tool, self.tools)

    def includes_part(self, part_id: str) -> bool:
        """True if the part of the system message is sent to this agent's model."""
        return _matches_patterns(part_id, self.system_parts)

    def uses_skill(self, name: str) -> bool:
        """True if this agent's model gets the skill."""
        return self.includes_part(SKILLS_PART) and self.includes_part(f"{SKILL_PART}{name}")

    def with_skill(self, name: str, *, is_on: bool) -> tuple[str, ...]:
        """Return the patterns of parts with which this agent's model gets a skill, or does not."""
        part = f"{SKILL_PART}{name}"
        kept = tuple(pattern for pattern in self.system_parts if pattern not in {part, f"!{part}"})
        if self.model_copy(update={"system_parts": kept}).includes_part(part) is is_on:
            return kept
        return (*kept, part if is_on else f"!{part}")

    def names_tool(self, tool: str) -> bool:
        """True if a pattern other than `*` matches the tool."""
        return any(fnmatchcase(tool, pattern) for pattern in self.tools if pattern.strip("*"))


def _matches_patterns(name: str, patterns: tuple[str, ...]) -> bool:
    if any(fnmatchcase(name, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    return any(fnmatchcase(name, pattern) for pattern in patterns if not pattern.startswith("!"))


_EMPTY: JsonDict = {"default": {}}
"""Initial value for forms; pydantic leaves it out of the schema if a factory creates the default."""


class ChatDocument(AppDocument):
    """app.json with what the chat knows of its models and agents, which for the core are anything."""

    models: Annotated[
        Mapping[str, ModelConfig],
        Field(
            default_factory=dict,
            json_schema_extra=_EMPTY,
            description="Models by the names that people use for them; the first is the default.",
        ),
    ]
    providers: Annotated[
        Mapping[ProviderId, ProviderConfig],
        Field(
            default_factory=dict,
            json_schema_extra=_EMPTY,
            description="Providers of models by names of your own: services, or servers at an address.",
        ),
    ]
    agents: Annotated[
        Mapping[str, AgentConfig],
        Field(
            default_factory=dict,
            json_schema_extra=_EMPTY,
            description="Agents by id: instructions, tools, model, mode.",
        ),
    ]


class ModelChoice(_Settings):
    """A model that can be asked.

    Args:
        provider: The name of its provider.
        speaks: The provider whose protocol it speaks; None: the one of its provider's name.
        model: The provider's name of it.
        base_url: Address of the API; None: the provider's own.
        api_key: The key; empty where a local server wants none.
        tools: How it calls tools.
        images: Whether it sees images.
        effort: How much it thinks; None: as the provider does by default.
        context_tokens: Size of its context; None: the settings do not say.
        timeout_s: How long the provider may send nothing.
        max_retries: How often a refused request is sent again if the provider does not say when.
    """

    provider: str
    model: str
    speaks: ProviderName | None = None
    base_url: str | None = None
    api_key: SecretStr = SecretStr("")
    tools: ToolCalling = "native"
    images: bool = True
    effort: Effort | None = None
    context_tokens: int | None = None
    timeout_s: float = PROVIDER_SILENCE_SECONDS
    max_retries: int = 2

    @property
    def protocol(self) -> Provider:
        """The protocol that it speaks."""
        return PROVIDERS[self.speaks or service_named(self.provider).protocol]

    @property
    def lacks_key(self) -> bool:
        """True if it has no key, and is at the address of a service that needs one."""
        if self.api_key.get_secret_value():
            return False
        addresses = [service.base_url for service in SERVICES.values() if not service.is_local]
        return self.base_url is None or self.base_url.rstrip("/") in addresses

    @property
    def full_name(self) -> str:
        """The name under which a session knows the model."""
        return f"{self.provider}:{self.model}"

    @property
    def dialect(self) -> Dialect:
        """The dialect of tool schemas that the provider accepts."""
        return self.protocol.dialect_at(self.base_url, is_strict=self.tools == "strict")


_PROVIDERS = TypeAdapter(dict[ProviderId, ProviderConfig], config=ConfigDict(defer_build=True))
_MODELS = TypeAdapter(dict[str, ModelConfig], config=ConfigDict(defer_build=True))
_MODE: TypeAdapter[ApprovalMode] = TypeAdapter(ApprovalMode, config=ConfigDict(defer_build=True))
_AGENTS = TypeAdapter(dict[str, AgentConfig], config=ConfigDict(defer_build=True))


class ChatSettings:
    """Finds agents and models by name.

    Args:
        models: By name, in the order of app.json.
        agents: By id; `default` always exists.
        environ: The environment, with keys and addresses of providers.
        chosen: The `provider:model` that the user chose last; None: none.
        providers: The providers of app.json, by name.
        stored: What was entered for providers, by name.

    Attributes:
        connections: The providers that are set up, by name.
    """

    def __init__(
        self,
        models: Mapping[str, ModelConfig],
        agents: Mapping[str, AgentConfig],
        environ: Mapping[str, str],
        chosen: str | None = None,
        *,
        providers: Mapping[str, ProviderConfig] | None = None,
        stored: Mapping[str, StoredProvider] | None = None,
    ) -> None:
        self.models = dict(models)
        self.agents = {"default": AgentConfig(), **agents}
        self.connections = find_connections(environ, providers or {}, stored or {})
        self._environ = environ
        self._chosen = chosen

    @classmethod
    def from_config(
        cls,
        models: Any,
        agents: Any,
        environ: Mapping[str, str],
        chosen: str | None = None,
        *,
        providers: Any = None,
        stored: Mapping[str, StoredProvider] | None = None,
    ) -> Self:
        """Validate the settings of app.json.

        Raises:
            ToolError: `invalid_settings`, with one entry for each invalid key.
        """
        try:
            return cls(
                _MODELS.validate_python(models or {}),
                _AGENTS.validate_python(agents or {}),
                environ,
                chosen,
                providers=_PROVIDERS.validate_python(providers or {}),
                stored=stored,
            )
        except ValidationError as exc:
            # not chained: pydantic's text quotes the values, and one may be a secret
            errors = [
                {"path": ".".join(map(str, error["loc"])), "message": error["msg"]}
                for error in exc.errors(include_url=False, include_context=False, include_input=False)
            ]
            text = "; ".join(f"{error['path']}: {error['message']}" for error in errors[:3])
            message = f"models, providers or agents of app.json are not as expected: {text}"
            raise ToolError("invalid_settings", message, errors=errors[:20]) from None

    @property
    def is_set_up(self) -> bool:
        """True if a model or a provider is configured."""
        return bool(self.models) or bool(self.usable_connections)

    @property
    def usable_connections(self) -> list[Connection]:
        """The providers that can be asked: with a key, or at an address that may need none."""
        return [connection for connection in self.connections.values() if connection.is_usable]

    def find_connection_at(self, base_url: str) -> Connection | None:
        """Return the provider that has a key for this address; None if there is none."""
        found = (one for one in self.usable_connections if one.base_url == base_url and one.key_origin is not None)
        return next(found, None)

    def split_name(self, name: str) -> tuple[str, str]:
        """Parse a name: its provider, and the provider's name of the model."""
        return provider_and_model(name, {*PROVIDERS, *self.connections})

    def get_agent(self, agent_id: str) -> AgentConfig:
        """Return the agent with this id.

        Raises:
            ToolError: `agent_not_found`.
        """
        agent = self.agents.get(agent_id)
        if agent is None:
            known = sorted(self.agents)
            message = f"there is no agent {agent_id!r}; app.json has: {', '.join(known)}"
            raise ToolError("agent_not_found", message, agents=known)
        return agent

    def mode_for(self, own: str | None, agent_id: str) -> ApprovalMode | None:
        """Return the approval mode of a session: its own, else its agent's; None if neither has one."""
        agent = self.agents.get(agent_id)
        return _MODE.validate_python(own) if own is not None else None if agent is None else agent.mode

    def hosts_for(self, own: str | None, agent_id: str) -> tuple[str, ...]:
        """Return the hosts for a session's calls: its own, else its agent's; empty: the server.

        Args:
            own: As `ChatSessionRow.host`.
        """
        if own is not None:
            return (own,) if own else ()
        agent = self.agents.get(agent_id)
        return () if agent is None else agent.hosts

    @property
    def default_name(self) -> str | None:
        """The model that is used if none is named.

        The first of `models`; else the one that the user chose, while its provider is set up; else the usual model
        of the only provider with a protocol of its own that has a key.
        """
        if self.models:
            return next(iter(self.models))
        if self._chosen is not None and self._is_usable(self.split_name(self._chosen)[0]):
            return self._chosen
        own = [connection for connection in self.usable_connections if connection.name in PROVIDERS]
        # which models exist at another address than the provider's own is unknown
        if len(own) != 1 or own[0].base_url is not None:
            return None
        return f"{own[0].name}:{own[0].protocol.usual_model}"

    def choose_model(self, wanted: str | None, agent: AgentConfig) -> ModelChoice:
        """Return the model to use: the requested one, else the agent's, else `default_name`.

        Raises:
            ToolError: `model_not_found` with the existing names; `model_not_configured`: there is no model at all, or
                its provider is not set up.
        """
        name = wanted or agent.model or self.default_name
        if name is None:
            raise self._no_model_error()
        config = self.models.get(name)
        if config is not None:
            # with an address of its own, what is before a colon is part of the model's name, as in `mistral:7b`
            provider, model = provider_and_model(name) if config.base_url else self.split_name(name)
            return self._build_choice(config.provider or provider, config.model or model, config)
        provider, model = self.split_name(name)
        if not self._is_usable(provider):
            raise self._unknown_model_error(name) if self.is_set_up else self._no_model_error()
        return self._build_choice(provider, model, ModelConfig())

    def find_model(self, wanted: str | None, agent: AgentConfig) -> ModelChoice | None:
        """Return the model to use; None if it is not available."""
        try:
            return self.choose_model(wanted, agent)
        except ToolError:
            return None

    def _build_choice(self, provider: str, model: str, config: ModelConfig) -> ModelChoice:
        connection = self.connections.get(provider)
        if connection is None and provider not in SERVICES:
            known = sorted({*SERVICES, *self.connections})
            message = f"the model {model!r} is of the provider {provider!r}, which is not set up"
            raise ToolError("model_not_configured", message, provider=provider, providers=known)
        service = connection.service if connection is not None else SERVICES[provider]
        protocol = PROVIDERS[service.protocol]
        if config.tools == "strict" and protocol.strict_dialect is None:
            message = f"the model {model!r} has tools 'strict', which {provider} does not know; take 'native'"
            raise ToolError("invalid_settings", message, model=model)
        return ModelChoice(
            provider=provider,
            model=model,
            speaks=service.protocol,
            base_url=config.base_url or (service.default_base_url if connection is None else connection.base_url),
            api_key=self._find_key(connection, config, protocol),
            tools=config.tools,
            images=config.images,
            effort=config.effort,
            context_tokens=config.context_tokens,
            timeout_s=config.timeout_s,
            max_retries=config.max_retries,
        )

    def _find_key(self, connection: Connection | None, config: ModelConfig, protocol: Provider) -> SecretStr:
        """Return the key of a model: the one whose variable its settings name, else its provider's, for its address."""
        if config.api_key_env is not None:
            named = (one for one in self.connections.values() if one.service.key_variable == config.api_key_env)
            stored = next((one.key for one in named if one.name in PROVIDERS), SecretStr(""))
            return SecretStr(self._environ.get(config.api_key_env) or stored.get_secret_value())
        if config.base_url is not None:
            return SecretStr("")
        if connection is None:
            return SecretStr(self._environ.get(protocol.key_variable, "") if protocol.is_alternative else "")
        return connection.key

    def _is_usable(self, provider: str) -> bool:
        return provider in self.connections and self.connections[provider].is_usable

    def _unknown_model_error(self, name: str) -> ToolError:
        known = list(self.models)
        said = ", ".join(known) or "none in app.json; write provider:model"
        return ToolError("model_not_found", f"there is no model {name!r}; there are: {said}", models=known)

    def _no_model_error(self) -> ToolError:
        providers = [connection.name for connection in self.usable_connections]
        if providers:
            message = f"no model was named; name one as {providers[0]}:MODEL, or list one under models in app.json"
        else:
            keys = " or ".join(dict.fromkeys(provider.key_variable for provider in PROVIDERS.values()))
            address = PROVIDERS[DEFAULT_PROVIDER].base_url_variable
            message = (
                f"no model is set up: set {keys}, or {address} for a local server, or list one under models in app.json"
            )
        return ToolError("model_not_configured", message, providers=providers)
