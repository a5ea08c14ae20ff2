"""Routes for the secrets that settings refer to: listed by name, set and removed by the user, never sent."""

import asyncio
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr

from agentcore.core.approvals.policy_changes import Apply, Proposal
from agentcore.core.core import Core
from agentcore.core.settings.display import to_json_pointer
from agentcore.core.settings.secret_users import users_of_secrets
from agentcore.encoding import to_json
from agentcore.server.body_models import StrictModel, StrictWireModel
from agentcore.server.confirmation import change_policy
from agentcore.server.exchange import Exchange
from agentcore.server.http.response import Answer
from agentcore.server.route_table import ServerRoute
from agentcore.store.credentials.secret_table import (
    check_secret,
    check_secret_exists,
    read_secrets,
    remove_secret,
    save_secret,
)
from agentcore.store.record.call_row import make_notice_row

_BODY_BYTES = 1024 * 1024  # a secret of the largest size, each of its characters as an escape


class SecretBody(StrictModel):
    """The value to keep."""

    value: SecretStr


class SecretView(StrictWireModel):
    """A secret, without its value."""

    name: str
    set_at: Annotated[int, Field(description="When it was set, in milliseconds since 1970.")]
    used_by: Annotated[list[str], Field(description="The modules that are on and name it in their settings.")]


class SecretsView(BaseModel, defer_build=True):
    """The secrets that are kept, and those that are named and missing."""

    secrets: list[SecretView]
    missing: Annotated[dict[str, list[str]], Field(description="Names that settings refer to, with their modules.")]


async def list_secrets(exchange: Exchange) -> Answer:
    """Send the names of secrets, never their values."""
    return Answer(to_json(await asyncio.to_thread(_describe_secrets, exchange.core)))


async def put_secret(exchange: Exchange) -> Answer:
    """Store a secret, once the user confirms it; the confirmation shows only its name."""
    name = exchange.path_values["name"]
    value = exchange.body.value
    check_secret(name, value)
    is_kept = name in await asyncio.to_thread(read_secrets, exchange.core.state.path)
    diff = f"-{name}: …\n+{name}: … (new)\n" if is_kept else f"+{name}: …\n"
    keep = partial(save_secret, exchange.core.state.path, name, value)
    return await _propose_change(exchange, "secret_set", name, diff, lambda: asyncio.to_thread(keep))


async def delete_secret(exchange: Exchange) -> Answer:
    """Delete a secret, once the user confirms it."""
    name = exchange.path_values["name"]
    folder = exchange.core.state.path
    check_secret_exists(await asyncio.to_thread(read_secrets, folder), name)
    forget = partial(remove_secret, folder, name)
    return await _propose_change(exchange, "secret_remove", name, f"-{name}: …\n", lambda: asyncio.to_thread(forget))


async def _propose_change(exchange: Exchange, kind: str, name: str, diff: str, change: Apply) -> Answer:
    core = exchange.core
    principal = exchange.principal

    async def apply() -> None:
        await change()
        row = make_notice_row(kind, name=name)
        core.store.record.append(row._replace(principal_kind=principal.kind, principal_id=principal.id))
        core.events.publish("settings.changed", {"module": None, "paths": [to_json_pointer(("secrets", name))]})

    # only the name: `apply` has the value, which is never shown
    proposal = Proposal(kind, name, (to_json_pointer(("secrets", name)),), (("secrets", diff),))
    await change_policy(core.policy_changes, principal, proposal, apply)
    return Answer(to_json({"ok": True}))


def _describe_secrets(core: Core) -> dict[str, object]:
    kept = read_secrets(core.state.path)
    users = users_of_secrets(core.config, _settings_keys(core))
    shown = [
        {"name": name, "setAt": secret.set_at_ms, "usedBy": users.get(name, [])}
        for name, secret in sorted(kept.items())
    ]
    return {"secrets": shown, "missing": {name: users[name] for name in sorted(users) if name not in kept}}


def _settings_keys(core: Core) -> dict[str, str]:
    records = core.modules.records.values()
    return {record.name: record.manifest.config_key or record.name for record in records}


_SECRET = "/api/secrets/{name}"  # noqa: S105 - an address

_LIST = ServerRoute(
    "GET", "/api/secrets", list_secrets, "The names of secrets, and which modules use them.", answer=SecretsView
)

ROUTES = (
    _LIST,
    ServerRoute(
        "PUT",
        _SECRET,
        put_secret,
        "Keep a secret for `${secret:NAME}` in settings of modules; it is never given back. It waits for a person, in "
        "the approval view: the answer is `confirmation_required`.",
        action="change_settings",
        body=SecretBody,
        limit_bytes=_BODY_BYTES,
    ),
    ServerRoute("DELETE", _SECRET, delete_secret, "Forget a secret; it waits for a person.", action="change_settings"),
)

APPROVAL_ROUTES = (
    _LIST,
    ServerRoute(
        "PUT",
        _SECRET,
        put_secret,
        "Keep a secret that a person has typed in the approval view; it is never given back.",
        action="change_policy",
        body=SecretBody,
        limit_bytes=_BODY_BYTES,
    ),
)
