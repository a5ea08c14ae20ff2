"""Routes for the configuration of the chat: providers and keys, models, agents, and model servers on this machine."""

import asyncio
import re
from typing import Annotated, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from agentcore.chat.model.connections import PROVIDER_NAME, ProviderId, StoredProvider
from agentcore.chat.model.local_servers import LocalServer
from agentcore.chat.model.provider_models import suggest_model
from agentcore.chat.model.providers import DEFAULT_PROVIDER
from agentcore.chat.settings import ModelConfig, ToolCalling
from agentcore.chat.setup import ChatView, ModelSetup
from agentcore.chat.system_message import SystemView
from agentcore.config.config_errors import ConfigError
from agentcore.core.approvals.policy_changes import Proposal
from agentcore.core.policy.authority import find_reach
from agentcore.core.settings.display import to_json_pointer
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.server.body_models import StrictWireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.page.settings_view import not_written, settings_proposal
from agentcore.server.route_table import ServerRoute

_ADDRESS_OR_OWN = r"^(https?://[^\s/?#@]+(/[^\s?#]*)?)?$"
_ADDRESS = r"^https?://[^\s/?#@]+(/[^\s?#]*)?$"
_MODEL_NAME = Annotated[str, Field(min_length=1, max_length=200)]


class ProviderBody(StrictWireModel):
    """A key, or an address, or both; an address alone takes the place of the key as well."""

    key: Annotated[SecretStr | None, Field(min_length=1, max_length=1000)] = None
    base_url: Annotated[
        str | None, Field(pattern=_ADDRESS_OR_OWN, max_length=1000, description="Empty: the provider's own address.")
    ] = None
    service: Annotated[
        str | None, Field(max_length=40, description="What it is, if it is new and its name does not say it.")
    ] = None

    @model_validator(mode="after")
    def _something(self) -> "ProviderBody":
        if self.key is None and self.base_url is None:
            raise ValueError("give a key, a baseUrl, or both")
        return self


class ModelBody(StrictWireModel):
    """A model by the name that people use for it."""

    provider: ProviderId = DEFAULT_PROVIDER
    model: _MODEL_NAME
    base_url: Annotated[str | None, Field(pattern=_ADDRESS, max_length=1000)] = None
    tools: ToolCalling = "native"
    images: bool = True
    context_tokens: Annotated[int | None, Field(ge=1024, le=1_000_000_000)] = None


class LocalServerView(StrictWireModel):
    """A model server that answered."""

    kind: str
    base_url: str
    models: list[str]
    needs_key: Annotated[bool, Field(description="It answers nothing else without a key, and none is known.")]
    provider: Annotated[str | None, Field(description="The provider whose key opened it; null: it needs none.")]

    @classmethod
    def from_server(cls, server: LocalServer) -> Self:
        """Return the view of a server."""
        return cls(**server._asdict())


class LocalServersView(BaseModel, defer_build=True):
    """Model servers on this machine, and where they were looked for."""

    found: list[LocalServerView]
    looked: list[str]


class ProviderModels(BaseModel, defer_build=True):
    """The models that a provider says it has, by its names for them."""

    models: list[str]
    suggested: Annotated[str | None, Field(description="The one to begin with; null: there is none.")]


class TestedProvider(StrictWireModel):
    """A key and an address that work; they are not stored yet."""

    base_url: Annotated[str | None, Field(description="The address to store, corrected if need be; null: its own.")]
    models: list[str]
    suggested: Annotated[str | None, Field(description="The model to start with; null: there is none.")]
    is_only_choice: Annotated[bool, Field(description="True when the suggested model can be used without asking.")]


class ChosenBody(StrictWireModel):
    """A model that can be asked now."""

    model: Annotated[_MODEL_NAME, Field(description="`provider:model`, or a name of app.json.")]


class NewChatQuery(StrictWireModel):
    """With whom a chat would begin."""

    agent_id: Annotated[str, Field(min_length=1, max_length=64)] = "default"
    model: Annotated[str, Field(max_length=200)] = ""


async def show_chat(exchange: Exchange) -> Answer:
    """Send the configuration of the chat; principals that may only chat do not receive the addresses of models."""
    view = _model_setup(exchange).describe_setup()
    if find_reach(exchange.principal, "read") is None:
        view = view.without_addresses()
    return Answer(to_json(view.model_dump(by_alias=True, mode="json")))


async def store_provider(exchange: Exchange) -> Answer:
    """Store a key or an address, once the user confirms it."""
    body: ProviderBody = exchange.body
    setup = _model_setup(exchange)
    connection = setup.find_provider(_provider_name(exchange), body.service)
    given = {"key": body.key, "baseUrl": body.base_url}
    paths = tuple(f"/providers/{connection.name}/{name}" for name, value in given.items() if value is not None)
    after = setup.with_entered(connection, body.key, body.base_url, body.service)
    return await _store_provider(exchange, connection.name, after, paths)


async def delete_provider(exchange: Exchange) -> Answer:
    """Delete a key and an address, once the user confirms it."""
    provider = _model_setup(exchange).find_provider(_provider_name(exchange)).name
    return await _store_provider(exchange, provider, StoredProvider(), (f"/providers/{provider}",))


async def _store_provider(exchange: Exchange, provider: str, after: StoredProvider, paths: tuple[str, ...]) -> Answer:
    setup = _model_setup(exchange)
    before = setup.keys.get_stored_provider(provider)
    if before == after == StoredProvider():
        return Answer(to_json({"ok": True}))
    proposal = Proposal("secret", provider, paths, ((provider, _provider_diff(before, after)),))
    await change_policy(
        exchange.core.policy_changes,
        exchange.principal,
        proposal,
        lambda: setup.store_provider(provider, before, after),
    )
    return Answer(to_json({"ok": True}))


def _provider_diff(before: StoredProvider, after: StoredProvider) -> str:
    """Return the change without the keys, with the address that a key is sent to, even if that stays the same."""
    services = [("-", before), ("+", after)] if before.service != after.service else []
    lines = [f"{sign}service: {entry.service}" for sign, entry in services if entry.service is not None]
    lines += [f"{sign}key: …" for sign, entry in (("-", before), ("+", after)) if entry.key is not None]
    addresses = [(" ", after)] if before.base_url == after.base_url else [("-", before), ("+", after)]
    lines += [f"{sign}baseUrl: {entry.base_url}" for sign, entry in addresses if entry.base_url is not None]
    return "".join(f"{line}\n" for line in lines)


async def ask_provider(exchange: Exchange) -> Answer:
    """Request the list of a provider's models, because the user asked for it."""
    setup = _model_setup(exchange)
    connection = setup.find_provider(_provider_name(exchange))
    models = await setup.list_provider_models(connection.name)
    return Answer(to_json({"models": models, "suggested": suggest_model(connection.protocol.name, models)}))


async def test_entered_provider(exchange: Exchange) -> Answer:
    """Request a provider's models with a key or an address that is not stored."""
    body: ProviderBody = exchange.body
    setup = _model_setup(exchange)
    tested = await setup.test_provider(_provider_name(exchange), body.key, body.base_url, body.service)
    view = TestedProvider(
        base_url=tested.base_url,
        models=tested.models,
        suggested=tested.suggested,
        is_only_choice=tested.is_only_choice,
    )
    return Answer(to_json(view.model_dump(by_alias=True, mode="json")))


async def choose_model(exchange: Exchange) -> Answer:
    """Set the model for chats that name none. Needs no confirmation: its provider can be used already."""
    body: ChosenBody = exchange.body
    await _model_setup(exchange).choose_model(body.model)
    return Answer(to_json({"ok": True}))


async def show_new_system(exchange: Exchange) -> Answer:
    """Send the system message that a new chat would have."""
    query: NewChatQuery = exchange.query
    shown = await exchange.parts.chat.system_messages.describe_for_new_session(query.agent_id, query.model)
    return Answer(to_json(shown.to_json()))


async def put_model(exchange: Exchange) -> Answer:
    """Add a model to app.json, once the user confirms it."""
    body: ModelBody = exchange.body
    name = exchange.path_values["name"]
    setup = _model_setup(exchange)
    config = ModelConfig.model_validate(body.model_dump(exclude_unset=True) | {"provider": body.provider})
    try:
        plan = await setup.plan_model_change(name, config)
    except ConfigError as exc:
        raise not_written(exc) from exc

    async def apply() -> None:
        try:
            await setup.add_model(plan, name, config)
        except ConfigError as exc:
            raise not_written(exc) from exc

    proposal = await asyncio.to_thread(settings_proposal, plan, (to_json_pointer(("models", name)),))
    await change_policy(exchange.core.policy_changes, exchange.principal, proposal, apply)
    return Answer(to_json({"ok": True}))


async def find_local_servers(exchange: Exchange) -> Answer:
    """Search for model servers on this machine, because the user asked for it."""
    setup = _model_setup(exchange)
    view = LocalServersView(
        found=[LocalServerView.from_server(server) for server in await setup.find_local_servers()],
        looked=[place.base_url for place in setup.places],
    )
    return Answer(to_json(view.model_dump(by_alias=True, mode="json")))


def _provider_name(exchange: Exchange) -> str:
    name = exchange.path_values["provider"]
    if not re.fullmatch(PROVIDER_NAME, name):
        message = "the name of a provider is lower case letters, digits, _ and -, and begins with a letter"
        raise ToolError("provider_not_found", message)
    return name


def _model_setup(exchange: Exchange) -> ModelSetup:
    return exchange.parts.chat.setup


_PROVIDER = "/api/chat/providers/{provider}"

ROUTES = (
    ServerRoute(
        "GET",
        "/api/chat",
        show_chat,
        "Providers, models, agents and modes of the chat.",
        action="follow",
        keeps_to_own=True,
        answer=ChatView,
        is_for_extensions=True,
    ),
    ServerRoute(
        "PUT",
        _PROVIDER,
        store_provider,
        "Keep the key or the address of a provider; it is never given back.",
        action="change_settings",
        body=ProviderBody,
    ),
    ServerRoute(
        "POST",
        f"{_PROVIDER}/test",
        test_entered_provider,
        "Ask a provider for its models with a key or an address that is not stored, and store nothing.",
        action="change_settings",
        body=ProviderBody,
        answer=TestedProvider,
    ),
    ServerRoute("DELETE", _PROVIDER, delete_provider, "Forget the key of a provider.", action="change_settings"),
    ServerRoute(
        "POST",
        f"{_PROVIDER}/models",
        ask_provider,
        "Ask a provider which models it has, with the key and the address that are kept.",
        action="call",
        answer=ProviderModels,
    ),
    ServerRoute(
        "PUT",
        "/api/chat/model",
        choose_model,
        "Have a model asked where neither a session nor an agent nor app.json names one; it counts at once.",
        action="call",
        body=ChosenBody,
    ),
    ServerRoute(
        "GET",
        "/api/chat/system",
        show_new_system,
        "What the model of a new chat would be told before the conversation, part by part.",
        action="follow",
        query=NewChatQuery,
        answer=SystemView,
    ),
    ServerRoute(
        "PUT",
        "/api/chat/models/{name}",
        put_model,
        "Add a model to app.json, or change it there; it counts at once.",
        action="change_settings",
        body=ModelBody,
    ),
    ServerRoute(
        "POST",
        "/api/chat/local-servers",
        find_local_servers,
        "Look for model servers at the usual ports of this machine.",
        action="call",
        answer=LocalServersView,
    ),
)
