"""Setup of the chat by the user: providers with their keys, models, agents, modes."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, SecretStr

from agentcore.approval_rules import APPROVAL_MODES, ApprovalMode
from agentcore.chat.model.chosen_model import ChosenModel
from agentcore.chat.model.local_servers import PLACES, LocalServer, find_local_servers
from agentcore.chat.model.provider_check import ProviderCheck, check_provider
from agentcore.chat.model.provider_keys import KeyOrigin, ProviderKeys, StoredProvider
from agentcore.chat.model.provider_models import ask_for_models, is_chat_model, sort_chat_models_first
from agentcore.chat.model.providers import PROVIDERS, ProviderName, provider_and_model
from agentcore.chat.model_status import ModelStatus, find_model_status
from agentcore.chat.session.session_view import View
from agentcore.chat.settings import SKILLS_PART, ChatSettings, ModelConfig, ToolCalling
from agentcore.core.core import Core
from agentcore.core.settings import SettingChange, SettingsPlan, SettingsSubject, plan_changes
from agentcore.errors import ToolError

_OWN = ("models", "agents")
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
    provider: ProviderName
    model: str
    base_url: str | None
    tools: ToolCalling
    images: bool
    context_tokens: int | None
    is_usable: bool
    hint: Annotated[str | None, Field(description="What is missing, where it cannot be used.")] = None


class ProviderView(View):
    """One provider; keys are never given back."""

    provider: ProviderName
    label: Annotated[Mapping[str, str], Field(description="Its name for people, by language.")]
    own_base_url: Annotated[str, Field(description="What is asked where no other address is set.")]
    base_url: str | None
    has_key: bool
    key_origin: KeyOrigin | None
    is_fixed: Annotated[bool, Field(description="The environment sets it: what is entered has no effect.")]
    addresses: Annotated[Mapping[str, str], Field(description="Base URLs of other services like it, by name.")]
    key_prefix: Annotated[str, Field(description="How its own keys begin; empty: there is no such rule.")]


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
        return ChatSettings.from_config(self._models, self._agents, self.keys.merge_environ(), self._chosen.name)

    @property
    def is_set_up(self) -> bool:
        """True if a provider is configured, or app.json has `models`, valid or not."""
        return bool(self._models) or ChatSettings({}, {}, self.keys.merge_environ()).is_set_up

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
            providers=[self._describe_provider(provider) for provider in PROVIDERS],
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
        provider = self.keys.find_provider_at(server.base_url)
        if provider is None:
            return server
        try:
            names = await self.list_provider_models(provider)
        except ToolError:
            return server  # it refused this key, or has ended
        return server._replace(models=list(filter(is_chat_model, names)), needs_key=False, provider=provider)

    async def find_status(self) -> ModelStatus:
        """Find out which model a new chat uses, or what is missing. Queries only this machine.

        Raises:
            ToolError: `invalid_settings`.
        """
        return await find_model_status(self.settings, self.keys, self.places)

    async def list_provider_models(self, provider: ProviderName) -> list[str]:
        """Return the models that a provider lists, requested with its key at its address; chat models first.

        Raises:
            ToolError: `model_not_configured`: it has neither; and as `ask_for_models`.
        """
        environ = self.keys.merge_environ()
        key = environ.get(PROVIDERS[provider].key_variable, "")
        base_url = self.keys.base_url(provider)
        if not key and base_url is None:
            message = f"no key of {provider}: enter one, or set it in the environment"
            raise ToolError("model_not_configured", message, provider=provider)
        return sort_chat_models_first(await ask_for_models(provider, base_url, SecretStr(key)))

    async def test_provider(self, provider: ProviderName, key: SecretStr | None, base_url: str | None) -> ProviderCheck:
        """Test a key and an address of a provider as they would be stored; nothing is stored.

        Raises:
            ToolError: As `check_provider`; `provider_set_by_environment`: entered values would have no effect.
        """
        if self.keys.is_fixed(provider):
            names = f"{PROVIDERS[provider].key_variable} or {PROVIDERS[provider].base_url_variable}"
            message = f"The environment of the server sets this provider ({names}). Change it there."
            raise ToolError("provider_set_by_environment", message, provider=provider)
        entered = self.keys.with_entered(provider, key, base_url)
        return await check_provider(provider, entered.base_url, entered.key or SecretStr(""))

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
        ChatSettings.from_config(models, agents, {})
        self._models = models
        self._agents = agents

    def is_current_value(self, key: str, value: Any) -> bool:
        """True if this is the current value of `models` or `agents`."""
        return key in _OWN and (value or {}) == ((self._models if key == "models" else self._agents) or {})

    async def store_provider(self, provider: ProviderName, before: StoredProvider, after: StoredProvider) -> None:
        """Replace a provider's stored key and address; takes effect at once.

        Raises:
            ToolError: `config_changed`: the stored ones are no longer `before`.
        """
        await self.keys.replace_stored_provider(provider, before, after)
        if self._chosen.name is not None and provider_and_model(self._chosen.name)[0] == provider:
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
        choice = settings.choose_model(name, settings.get_agent("default"))
        is_usable = bool(choice.base_url or choice.api_key.get_secret_value())
        hint = None if is_usable else f"no key of {choice.provider}: enter one, or set it in the environment"
        return ModelView(
            name=name,
            provider=choice.provider,
            model=choice.model,
            base_url=choice.base_url,
            tools=choice.tools,
            images=choice.images,
            context_tokens=config.context_tokens,
            is_usable=is_usable,
            hint=hint,
        )

    def _describe_provider(self, provider: ProviderName) -> ProviderView:
        origin = self.keys.find_key_origin(provider)
        return ProviderView(
            provider=provider,
            label=PROVIDERS[provider].label,
            own_base_url=PROVIDERS[provider].base_url,
            base_url=self.keys.base_url(provider),
            has_key=origin is not None,
            key_origin=origin,
            is_fixed=self.keys.is_fixed(provider),
            addresses=PROVIDERS[provider].addresses,
            key_prefix=PROVIDERS[provider].key_prefix,
        )


async def list_models_at(name: str, own: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """List the models at the address of a model of app.json, requested with its key.

    Args:
        name: The model's name in app.json.
        own: Its settings in app.json.
        environ: Environment with its key.
    Raises:
        ToolError: `invalid_settings`; and as `ask_for_models`.
    """
    settings = ChatSettings.from_config({name: own}, None, environ)
    choice = settings.choose_model(name, settings.get_agent("default"))
    return await ask_for_models(choice.provider, choice.base_url, choice.api_key)
