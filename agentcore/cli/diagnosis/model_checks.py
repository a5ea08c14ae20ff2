"""Checks what a chat can use: libraries, keys, models and local model servers, and which model is the default."""

import asyncio
import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from agentcore.cli.backend.backend import Backend
from agentcore.cli.diagnosis.finding import Finding
from agentcore.cli.terminal.exit_codes import CliError
from agentcore.config.loading import AppConfig
from agentcore.errors import AgentcoreError
from agentcore.installing import pip_command

Asked = list[str] | Finding
"""The models that a provider lists, or a finding with the error."""

_LIBRARIES = ("pydantic_ai", "openai", "anthropic", "prompt_toolkit")
"""Import names of the packages in the extra `chat`."""

_KEYS = {"environment": "the environment has its key", "stored": "its key was entered, and is in the state folder"}
_NAMES_SHOWN = 5
_ENTER_KEY = "agentcore serve --open, and enter the key of that server on the page"


def check_models(backend: Backend, config: AppConfig, *, is_online: bool) -> Iterator[Finding]:
    """Check libraries, providers, models and local servers; keys are never shown.

    Args:
        backend: The running server, whose environment is then used, or a core in this process.
        config: The app.json.
        is_online: True to request the models of providers with their keys; else only this machine is checked.
    """
    libraries = _check_libraries()
    yield libraries
    try:
        chat = backend.get_chat_setup()
    except (AgentcoreError, CliError) as exc:
        yield Finding("problem", "models", str(exc), "correct models and agents in app.json")
        return
    offered: dict[str, list[str]] = {}
    for provider in chat["providers"]:
        name = provider["provider"]
        subject = f"provider {provider['provider']}"
        if not provider["isSetUp"]:
            yield Finding("ok", subject, "no key")
            continue
        yield Finding("ok", subject, _describe_provider(provider))
        if is_online:
            answer = _request_models(subject, partial(backend.list_models, name))
            yield _report_models(subject, answer, offered, name)
    for model in chat["models"]:
        yield _check_model(model)
    if is_online:
        for base_url, (name, own) in _own_addresses(config).items():
            subject = f"models at {base_url}"
            answer = _request_models(subject, partial(_list_models_at, name, own, config.providers))
            yield _report_models(subject, answer, offered, name)
    servers = backend.find_local_servers()
    yield from _check_local_servers(servers)
    yield _check_default_model(chat, servers, offered, is_installed=libraries.level == "ok")


def _check_libraries() -> Finding:
    missing = [name for name in _LIBRARIES if importlib.util.find_spec(name) is None]
    if not missing:
        return Finding("ok", "libraries of the chat", "installed")
    said = f"not installed: {', '.join(missing)}"
    return Finding("note", "libraries of the chat", said, pip_command("agentcore-runtime[chat]"))


def _describe_provider(provider: Mapping[str, Any]) -> str:
    key = _KEYS.get(provider["keyOrigin"], "no key")
    return f"{key}; it is asked at {provider['baseUrl'] or provider['ownBaseUrl']}"


def _check_model(model: Mapping[str, Any]) -> Finding:
    address = f" at {model['baseUrl']}" if model["baseUrl"] else ""
    said = f"{model['provider']}:{model['model']}{address}"
    if model["isUsable"]:
        return Finding("ok", f"model {model['name']}", said)
    return Finding("note", f"model {model['name']}", said, model["hint"] or "")


def _own_addresses(config: AppConfig) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the base URLs of models in app.json, each with the first model that has it."""
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, own in dict(config.models or {}).items():
        if own.get("base_url"):
            found.setdefault(own["base_url"], (name, own))
    return found


def _list_models_at(name: str, own: Mapping[str, Any], providers: Any) -> list[str]:
    from agentcore.chat.setup import list_models_at

    return asyncio.run(list_models_at(name, own, os.environ, providers))


def _request_models(subject: str, ask: Callable[[], list[str]]) -> Asked:
    try:
        return ask()
    except (AgentcoreError, CliError) as exc:
        return Finding("problem", subject, f"asked for its models: {exc}", getattr(exc, "hint", ""))


def _report_models(subject: str, answer: Asked, offered: dict[str, list[str]], name: str) -> Finding:
    if isinstance(answer, Finding):
        return answer
    offered[name] = answer
    return Finding("ok", subject, f"asked for its models: {_format_names(answer)}")


def _format_names(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_SHOWN
    shown = ", ".join(names[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
    return f"{len(names)} model{'' if len(names) == 1 else 's'}" + (f" ({shown})" if names else "")


def _check_local_servers(servers: Mapping[str, Any]) -> Iterator[Finding]:
    for server in servers["found"]:
        subject = f"local server {server['kind']}"
        if server["needsKey"]:
            yield Finding("note", subject, f"needs a key, at {server['baseUrl']}", _ENTER_KEY)
        else:
            yield Finding("ok", subject, f"{_format_names(server['models'])} at {server['baseUrl']}")
    if not servers["found"]:
        yield Finding("ok", "local servers", f"none at {', '.join(servers['looked'])}")


def _check_default_model(
    chat: Mapping[str, Any], servers: Mapping[str, Any], offered: Mapping[str, list[str]], *, is_installed: bool
) -> Finding:
    """Report which model a new chat would use, or how to set one up."""
    name = chat["defaultModel"]
    if name is None or chat["hint"]:
        return Finding("note", "chat", chat["hint"] or "no model was named", _suggest_model(chat, servers))
    own = next((model for model in chat["models"] if model["name"] == name), None)
    if own is not None and not own["isUsable"]:
        return Finding(
            "note", "chat", f"a chat would use {name}, and cannot: {own['hint']}", _suggest_model(chat, servers)
        )
    provider, _, asked = name.partition(":")
    listed = offered.get(provider, []) if own is None else []
    if listed and asked not in listed:
        said = f"a chat would use {name}, which its provider does not list"
        return Finding("note", "chat", said, _model_advice(f"{provider}:{listed[0]}"))
    if not is_installed:
        return Finding("note", "chat", f"a chat would use {name}, once its libraries are installed")
    return Finding("ok", "chat", f"a chat would use {name}")


def _suggest_model(chat: Mapping[str, Any], servers: Mapping[str, Any]) -> str:
    """Suggest the shortest way to a model: a local server, an existing key, or else a new key."""
    for server in servers["found"]:
        if server["models"] and not server["needsKey"] and server["provider"] is None:
            return f"{server['kind']} runs here; put into app.json: " + _model_entry(
                server["models"][0], server["baseUrl"]
            )
    if any(provider["hasKey"] for provider in chat["providers"]):
        return _model_advice("PROVIDER:MODEL")
    if any(server["needsKey"] for server in servers["found"]):
        return _ENTER_KEY
    return "agentcore serve --open, and enter a key on the page; or set one in the environment"


def _model_entry(model: str, base_url: str) -> str:
    return json.dumps({"models": {model: {"base_url": base_url, "model": model}}}, ensure_ascii=False)


def _model_advice(name: str) -> str:
    return f'name another: agentcore chat --model {name}, or "agents": {{"default": {{"model": "{name}"}}}} in app.json'
