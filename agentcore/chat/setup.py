"""Setup of the chat by the user: providers with their keys, models, agents, modes."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, SecretStr

from agentcore.approval_rules.decisions import APPROVAL_MODES, ApprovalMode
from agentcore.chat.model.chosen_model import ChosenModel
from agentcore.chat.model.connections import Connection, KeyOrigin, StoredProvider, service_named
from agentcore.chat.model.local_servers import PLACES, LocalServer, find_local_servers
from agentcore.chat.model.provider_check import ProviderCheck, check_provider
from agentcore.chat.model.provider_keys import ProviderKeys
from agentcore.chat.model.provider_models import ask_for_models, is_chat_model
from agentcore.chat.model.providers import PROVIDERS
from agentcore.chat.model.services import SERVICES, Service
from agentcore.chat.model_status import ModelStatus, find_model_status
from agentcore.chat.session.session_view import View
from agentcore.chat.settings import SKILLS_PART, ChatSettings, ModelChoice, ModelConfig, ToolCalling
from agentcore.core.core import Core
from agentcore.core.settings.settings_change import SettingChange, SettingsPlan, plan_changes
from agentcore.core.settings.settings_document import SettingsSubject
from agentcore.errors import ToolError

_OWN = ("models", "providers", "agents")
"""Keys of app.json whose changes take effect in the chat at once."""


class AgentView(View):
    """One agent."""

    id: str
    model: str | None
    mode: ApprovalMode
    instructions: str
    hosts: list[str]


class ModelView(View):
    """One model of app.json."""

    name: str
    provider: str
    model: str
    base_url: str | None
    tools: ToolCalling
    images: bool
    context_tokens: int | None
    is_usable: bool
    hint: Annotated[str | None, Field(description="What is missing, where it cannot be used.")] = None


class ProviderView(View):
    """One provider; keys are never given back."""

    provider: Annotated[str, Field(description="Its name; `NAME:MODEL` names one of its models.")]
    service: Annotated[str, Field(description="What it is.")]
    label: Annotated[Mapping[str, str], Field(description="Its name for people, by language.")]
    own_base_url: Annotated[str, Field(description="What is asked where no other address is set.")]
    base_url: str | None
    has_key: bool
    key_origin: KeyOrigin | None
    is_fixed: Annotated[bool, Field(description="The environment sets it: what is entered has no effect.")]
    addresses: Annotated[Mapping[str, str], Field(description="Base URLs of other services like it, by name.")]
    key_prefix: Annotated[str, Field(description="How its own keys begin; empty: there is no such rule.")]
    is_set_up: Annotated[bool, Field(description="It can be asked: it has a key, or an address that may need none.")]
    is_named: Annotated[bool, Field(description="app.json names it, and its address is changed there.")]


class ServiceView(View):
    """A service, or a kind of server, of which providers can be set up."""

    service: str
    label: Annotated[Mapping[str, str], Field(description="Its name for people, by language.")]
    own_base_url: Annotated[str, Field(description="Its address; empty: each account has one of its own.")]
    example_url: Annotated[str, Field(description="The form of its addresses, where each account has its own.")]
    key_prefix: Annotated[str, Field(description="How its keys begin; empty: there is no such rule.")]
    is_local: Annotated[bool, Field(description="It runs on this machine, and needs a key only if started with one.")]


class KnownServerView(View):
    """Where a kind of model server on this machine is looked for."""

    kind: str
    label: str
    base_url: str


class ChatView(View):
    """What the chat has to work with."""

    is_set_up: bool
    hint: str | None
    default_model: str | None
    agents: list[AgentView]
    models: list[ModelView]
    providers: list[ProviderView]
    services: list[ServiceView]
    local_servers: list[KnownServerView]
    modes: list[ApprovalMode]
    folders: Annotated[list[str], Field(description="The workspace folders that tools work in.")]

    def without_addresses(self) -> "ChatView":
        """Return a copy for clients that only chat: addresses and folders may name private hosts and users."""
        models = [model.model_copy(update={"base_url": None}) for model in self.models]
        providers = [provider.model_copy(update={"base_url": None}) for provider in self.providers]
        return self.model_copy(update={"models": models, "providers": providers, "folders": []})


class ModelSetup:
    """The current models and agents, and the ways to change them.

    Args:
        core: Provides app.json.
        environ: The environment.

    Attributes:
        keys: Keys and addresses of providers.
        places: Addresses at which to look for model servers.
    """

    def __init__(self, core: Core, environ: Mapping[str, str]) -> None:
        self._core = core
        self._models: Any = core.config.models
        self._providers: Any = core.config.providers
        self._agents: Any = core.config.agents
        self.keys = ProviderKeys(core.state.path, environ)
        self._chosen = ChosenModel(core.state.path)
        self.places = PLACES

    @property
    def settings(self) -> ChatSettings:
        """The current models and agents.

        Raises:
            ToolError: `invalid_settings`.
        """
        return ChatSettings.from_config(
            self._models,
            self._agents,
            self.keys.environ,
            self._chosen.name,
            providers=self._providers,
            stored=self.keys.stored,
        )

    @property
    def is_set_up(self) -> bool:
        """True if a provider is configured, or app.json has `models`, valid or not."""
        if self._models:
            return True
        try:
            return self.settings.is_set_up
        except ToolError:
            return bool(self._providers)

    def describe_setup(self) -> ChatView:
        """Return the models, agents, providers and modes.

        Raises:
            ToolError: `invalid_settings`.
        """
        settings = self.settings
        try:
            settings.choose_model(None, settings.get_agent("default"))
            hint = None
        except ToolError as exc:
            hint = exc.message
        default = settings.get_agent("default").model or settings.default_name
        fallback = self._core.policy.mode
        return ChatView(
            is_set_up=settings.is_set_up,
            hint=hint,
            default_model=default,
            agents=[
                AgentView(
                    id=name,
                    model=agent.model,
                    mode=agent.mode or fallback,
                    instructions=agent.instructions,
                    hosts=list(agent.hosts),
                )
                for name, agent in settings.agents.items()
            ],
            models=[self._describe_model(name, settings) for name in settings.models],
            providers=self._describe_providers(settings),
            services=[_describe_service(service) for service in SERVICES.values()],
            local_servers=[
                KnownServerView(kind=place.kind, label=place.label or place.kind, base_url=place.base_url)
                for place in self.places
            ],
            modes=list(APPROVAL_MODES),
            folders=[str(root) for root in self._core.workspace.roots],
        )

    async def find_local_servers(self) -> list[LocalServer]:
        """Find model servers on this machine; one whose key was entered is asked for its models with it."""
        found = await find_local_servers(self.places)
        return [await self._open_with_key(server) if server.needs_key else server for server in found]

    async def _open_with_key(self, server: LocalServer) -> LocalServer:
        connection = self.settings.find_connection_at(server.base_url)
        if connection is None:
            return server
        try:
            names = await _list_models_of(connection)
        except ToolError:
            return server  # it refused this key, or has ended
        return server._replace(models=names, needs_key=False, provider=connection.name)

    async def find_status(self) -> ModelStatus:
        """Find out which model a new chat uses, or what is missing. Queries only this machine.

        Raises:
            ToolError: `invalid_settings`.
        """
        return await find_model_status(self.settings, self.places)

    async def list_provider_models(self, name: str) -> list[str]:
        """Return the chat models that a provider lists, requested with its key at its address.

        Raises:
            ToolError: `model_not_configured`: it has neither; and as `ask_for_models`.
        """
        connection = self.settings.connections.get(name)
        if connection is None or not connection.is_usable:
            message = f"no key of {name}: enter one, or set it in the environment"
            raise ToolError("model_not_configured", message, provider=name)
        return await _list_models_of(connection)

    def find_provider(self, name: str, service: str | None = None) -> Connection:
        """Return a provider that is set up, or that a user can set up under this name.

        Args:
            name: Its name.
            service: What it is, if it is not set up yet and its name does not say it.
        Raises:
            ToolError: `provider_not_found`.
        """
        known = self.settings.connections.get(name)
        if known is not None:
            return known
        if (service or name) not in SERVICES:
            names = ", ".join({**self.settings.connections, **SERVICES})
            raise ToolError("provider_not_found", f"there is no provider {name!r}; there are: {names}")
        new = service_named(name, service)
        return Connection(name, new, new.default_base_url)

    def with_entered(
        self, connection: Connection, key: SecretStr | None, base_url: str | None, service: str | None
    ) -> StoredProvider:
        """Return what would be stored if a key, an address, or both were entered for a provider."""
        if connection.is_named:
            base_url = connection.base_url  # the key is for the address of app.json, and for no other
        return self.keys.with_entered(connection.name, key, base_url, service)

    async def test_provider(
        self, name: str, key: SecretStr | None, base_url: str | None, service: str | None = None
    ) -> ProviderCheck:
        """Test a key and an address of a provider as they would be stored; nothing is stored.

        Raises:
            ToolError: As `check_provider`; `provider_set_by_environment`: entered values would have no effect;
                `provider_not_found`.
        """
        connection = self.find_provider(name, service)
        protocol = connection.protocol
        if connection.is_fixed:
            names = f"{connection.service.key_variable} or {protocol.base_url_variable}"
            message = f"The environment of the server sets this provider ({names}). Change it there."
            raise ToolError("provider_set_by_environment", message, provider=name)
        entered = self.with_entered(connection, key, base_url, service)
        default = connection.base_url if connection.is_named else connection.service.default_base_url
        address = entered.base_url or default
        if address is None and not connection.service.base_url:
            message = f"{connection.service.label['en']} has an address for each account. Enter yours."
            raise ToolError("models_not_listed", message, base_url="", address="")
        check = await check_provider(protocol.name, address, entered.key or SecretStr(""))
        is_own = entered.base_url is None and check.base_url == default
        return replace(check, base_url=None) if is_own else check

    async def plan_model_change(self, name: str, model: ModelConfig) -> SettingsPlan:
        """Plan the change of app.json that adds or changes a model.

        Raises:
            ToolError: It cannot be written.
            ConfigError: app.json cannot be read.
        """
        value = model.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        change = SettingChange(("models", name), value)
        subject = SettingsSubject.of_app(self._core.config, blocks=self._core.modules.block_models())
        document = await asyncio.to_thread(subject.read_document)
        return await asyncio.to_thread(plan_changes, document, [change])

    async def add_model(self, plan: SettingsPlan, name: str, model: ModelConfig) -> None:
        """Write exactly what was planned for a model; takes effect at once.

        Raises:
            ConfigError: app.json cannot be written, or another program changed it meanwhile.
        """
        await asyncio.to_thread(plan.write)
        self._models = {**(self._models or {}), name: model.model_dump(exclude_unset=True)}
        self.publish_change(("/models/" + name,))

    async def plan_agent_skill(self, agent_id: str, skill: str, *, is_on: bool) -> SettingsPlan:
        """Plan the change of app.json that gives an agent's model a skill, or no longer.

        Raises:
            ToolError: `agent_not_found`; `skills_off`: the agent has no skills at all; or it cannot be written.
            ConfigError: app.json cannot be read.
        """
        agent = self.settings.get_agent(agent_id)
        if is_on and not agent.includes_part(SKILLS_PART):
            message = (
                f"agent {agent_id!r} gets no skills, because its system_parts leave out `skills`; change that first"
            )
            raise ToolError("skills_off", message, agent_id=agent_id)
        parts = agent.with_skill(skill, is_on=is_on)
        change = SettingChange(("agents", agent_id, "system_parts"), list(parts))
        subject = SettingsSubject.of_app(self._core.config, blocks=self._core.modules.block_models())
        document = await asyncio.to_thread(subject.read_document)
        return await asyncio.to_thread(plan_changes, document, [change])

    async def change_agent_skill(self, plan: SettingsPlan, agent_id: str, skill: str, *, is_on: bool) -> None:
        """Write exactly what was planned for an agent; takes effect at once.

        Raises:
            ConfigError: app.json cannot be written, or another program changed it meanwhile.
        """
        parts = self.settings.get_agent(agent_id).with_skill(skill, is_on=is_on)
        await asyncio.to_thread(plan.write)
        agents = dict(self._agents or {})
        agents[agent_id] = {**agents.get(agent_id, {}), "system_parts": list(parts)}
        self._agents = agents
        self.publish_change((f"/agents/{agent_id}",))

    def apply_saved_config(self, saved: Mapping[str, Any]) -> None:
        """Use the models and agents of a saved app.json; takes effect at once.

        Raises:
            ToolError: `invalid_settings`; the previous ones stay in effect.
        """
        models = saved.get("models")
        agents = saved.get("agents")
        providers = saved.get("providers")
        ChatSettings.from_config(models, agents, {}, providers=providers)
        self._models = models
        self._agents = agents
        self._providers = providers

    def is_current_value(self, key: str, value: Any) -> bool:
        """True if this is the current value of `models`, `providers` or `agents`."""
        current = {"models": self._models, "providers": self._providers, "agents": self._agents}
        return key in _OWN and (value or {}) == (current[key] or {})

    async def store_provider(self, provider: str, before: StoredProvider, after: StoredProvider) -> None:
        """Replace a provider's stored key and address; takes effect at once.

        Raises:
            ToolError: `config_changed`: the stored ones are no longer `before`.
        """
        chosen = None if self._chosen.name is None else self.settings.split_name(self._chosen.name)[0]
        await self.keys.replace_stored_provider(provider, before, after)
        if chosen == provider:
            await self._chosen.store_name(None)  # another address, or another key, may not have this model
        self.publish_change(())

    async def choose_model(self, name: str) -> None:
        """Set the model to use if none is named and app.json has no `models`; takes effect at once.

        Raises:
            ToolError: `model_not_found`, `model_not_configured`: it is not available.
        """
        settings = self.settings
        settings.choose_model(name, settings.get_agent("default"))
        await self._chosen.store_name(name)
        self.publish_change(())

    def publish_change(self, paths: tuple[str, ...]) -> None:
        """Notify open pages that settings changed, without their values."""
        self._core.events.publish("settings.changed", {"module": None, "paths": list(paths)})

    def _describe_model(self, name: str, settings: ChatSettings) -> ModelView:
        config = settings.models[name]
        try:
            choice = settings.choose_model(name, settings.get_agent("default"))
        except ToolError as exc:
            if exc.type != "model_not_configured":
                raise
            choice, hint = ModelChoice(provider=config.provider or "", model=config.model or name), exc.message
        else:
            hint = f"no key of {choice.provider}: enter one, or set it in the environment" if choice.lacks_key else ""
        return ModelView(
            name=name,
            provider=choice.provider,
            model=choice.model,
            base_url=choice.base_url,
            tools=choice.tools,
            images=choice.images,
            context_tokens=config.context_tokens,
            is_usable=not hint,
            hint=hint or None,
        )

    def _describe_providers(self, settings: ChatSettings) -> list[ProviderView]:
        """Describe the providers with a protocol of their own, and the others that are set up."""
        own = [name for name, protocol in PROVIDERS.items() if not protocol.is_alternative]
        names = list(dict.fromkeys([*own, *settings.connections]))
        return [_describe_provider(self.find_provider(name)) for name in names]


async def _list_models_of(connection: Connection) -> list[str]:
    names = await ask_for_models(connection.protocol.name, connection.base_url, connection.key)
    return [name for name in names if is_chat_model(name)]


def _describe_provider(connection: Connection) -> ProviderView:
    service = connection.service
    default = service.default_base_url
    others = (one for one in SERVICES.values() if one.protocol == service.name and one.base_url and not one.is_local)
    return ProviderView(
        provider=connection.name,
        service=service.name,
        label=service.label if connection.name == service.name else dict.fromkeys(service.label, connection.name),
        own_base_url=service.base_url,
        base_url=None if connection.base_url == default else connection.base_url,
        has_key=connection.key_origin is not None,
        key_origin=connection.key_origin,
        is_fixed=connection.is_fixed,
        addresses={one.label["en"]: one.base_url for one in others if one.name != service.name},
        key_prefix=service.key_prefix,
        is_set_up=connection.is_usable,
        is_named=connection.is_named,
    )


def _describe_service(service: Service) -> ServiceView:
    return ServiceView(
        service=service.name,
        label=service.label,
        own_base_url=service.base_url,
        example_url=service.example_url,
        key_prefix=service.key_prefix,
        is_local=service.is_local,
    )


async def list_models_at(
    name: str, own: Mapping[str, Any], environ: Mapping[str, str], providers: Any = None
) -> list[str]:
    """List the models at the address of a model of app.json, requested with its key.

    Args:
        name: The model's name in app.json.
        own: Its settings in app.json.
        environ: Environment with its key.
        providers: The providers of app.json.
    Raises:
        ToolError: `invalid_settings`; and as `ask_for_models`.
    """
    settings = ChatSettings.from_config({name: own}, None, environ, providers=providers)
    choice = settings.choose_model(name, settings.get_agent("default"))
    return await ask_for_models(choice.protocol.name, choice.base_url, choice.api_key)
