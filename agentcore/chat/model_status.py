"""Determines whether a chat can start: the model in use, or what is missing and the next step, in plain sentences."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from agentcore.chat.model.connections import service_named
from agentcore.chat.model.local_servers import LOOK_SECONDS, PLACES, KnownServer, LocalServer, find_local_servers
from agentcore.chat.model.provider_models import ask_for_models
from agentcore.chat.settings import ChatSettings, ModelChoice
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.net.loopback import is_loopback_name

_NAMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The state of a user's model setup.

    Args:
        is_ready: True if a new chat can send a message to a model.
        summary: The model that is used, or what is missing.
        next_step: What the user should do next, as an imperative sentence; empty if there is nothing to do.
    """

    is_ready: bool
    summary: str
    next_step: str = ""


async def find_model_status(settings: ChatSettings, places: Sequence[KnownServer] = PLACES) -> ModelStatus:
    """Find out which model a new chat uses. Queries only local servers, never a provider.

    Args:
        settings: Models and agents.
        places: Addresses at which to look for local model servers.
    """
    try:
        choice = settings.choose_model(None, settings.get_agent("default"))
    except ToolError:
        found = await find_local_servers(places)
        return _without_model(settings, [server for server in found if not _has_key(server, settings)])
    if choice.lacks_key:
        variable = service_named(choice.provider).key_variable
        return ModelStatus(False, f"{choice.model} needs a key.", f"Enter it on the page, or set {variable}.")
    if choice.base_url is not None and await _is_down(choice):
        summary = f"{choice.model} is set up, but its server at {choice.base_url} does not answer."
        return ModelStatus(False, summary, "Start that server, or choose another model on the page.")
    return ModelStatus(True, f"{choice.model} ({_describe_origin(choice, settings)})")


def _has_key(server: LocalServer, settings: ChatSettings) -> bool:
    return server.needs_key and settings.find_connection_at(server.base_url) is not None


async def _is_down(choice: ModelChoice) -> bool:
    """True if the model's server is one on this machine and does not answer."""
    if not is_loopback_name(urlsplit(choice.base_url or "").hostname or ""):
        return False
    try:
        await ask_for_models(choice.protocol.name, choice.base_url, choice.api_key, LOOK_SECONDS)
    except ToolError as exc:
        return exc.type in ("provider_unreachable", "provider_timeout")
    return False


def _describe_origin(choice: ModelChoice, settings: ChatSettings) -> str:
    connection = settings.connections.get(choice.provider)
    is_its_own = connection is not None and connection.base_url == choice.base_url
    if connection is None or not is_its_own or connection.has_own_address:
        return choice.base_url or choice.protocol.base_url
    label = connection.service.label["en"]
    if connection.key_origin == "stored":
        return f"{label}, with the key that you entered"
    return f"{label}, with the key in {connection.service.key_variable}"


def _without_model(settings: ChatSettings, servers: Sequence[LocalServer]) -> ModelStatus:
    for server in servers:
        if server.models and not server.needs_key:
            return ModelStatus(
                False,
                f"{server.label} runs on this machine with {_format_model_count(server.models)}; none is chosen yet.",
                "Choose one on the page.",
            )
    locked = next((server for server in servers if server.needs_key), None)
    if locked is not None:
        summary = f"{locked.label} runs on this machine at {locked.base_url}, and needs a key."
        return ModelStatus(False, summary, "Enter its key on the page.")
    if servers:
        return ModelStatus(
            False,
            f"{servers[0].label} runs on this machine, but it has no model.",
            "Load a model there, then choose it on the page.",
        )
    if settings.is_set_up:
        return ModelStatus(False, "A provider is set up, but no model is chosen yet.", "Choose one on the page.")
    return ModelStatus(
        False,
        "A key is needed: no model server was found on this machine, and no key is set.",
        "Enter a key on the page, or start a model server such as Ollama.",
    )


def _format_model_count(models: Sequence[str]) -> str:
    if len(models) == 1:
        return f"1 model ({models[0]})"
    more = ", …" if len(models) > _NAMES_SHOWN else ""
    return f"{len(models)} models ({', '.join(models[:_NAMES_SHOWN])}{more})"
